//! Names near a misspelt one, for error messages. Knows no names itself.

/// How many suggestions a message carries.
const MOST: usize = 3;

/// Names longer than this, in bytes, get no suggestions: the longest of PyTorch's has about sixty.
const LONGEST: usize = 128;

/// The candidates nearest to `name`: at most three, the nearest first, equally near ones in alphabetical order.
///
/// Near is an edit distance (insert, delete, replace, swap neighbours; in bytes, ASCII case ignored) of at most a
/// third of the name's length, and of at least one. The cost is bounded by 128² steps per candidate, and a candidate
/// of a hopeless length costs nothing.
///
/// ```
/// use monomorph_schema::near::near_names;
///
/// assert_eq!(near_names("argmxa", ["add", "argmin", "argmax", "amax"]), ["argmax", "argmin"]);
/// ```
pub fn near_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (name.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = Vec::with_capacity(MOST + 1);
    if name.is_empty() || name.len() > LONGEST {
        return Vec::new();
    }
    for candidate in candidates {
        // The worst of a full list is the bar for whoever comes later.
        let bar = if near.len() == MOST { near[MOST - 1].0 } else { limit };
        let Some(distance) = distance_within(name.as_bytes(), candidate.as_bytes(), bar) else { continue };
        let entry = (distance, candidate);
        if let Err(i) = near.binary_search(&entry) {
            near.insert(i, entry);
            near.truncate(MOST);
        }
    }
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The optimal-string-alignment distance (Damerau, CACM 7(3), 1964, restricted to edits that do not overlap), if it
/// is at most `limit`. Three rows of the table are alive at a time.
fn distance_within(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len() > LONGEST || b.len() > LONGEST || a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before = [0; LONGEST + 1];
    let mut last: [usize; LONGEST + 1] = std::array::from_fn(|j| j);
    for (i, &x) in a.iter().enumerate() {
        let mut row = [0; LONGEST + 1];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(!x.eq_ignore_ascii_case(&y));
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x.eq_ignore_ascii_case(&b[j - 1]) && a[i - 1].eq_ignore_ascii_case(&y) {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        // Rows never shrink below their least entry, so nothing nearer can follow.
        if row[..=b.len()].iter().all(|&d| d > limit) && last[..=b.len()].iter().all(|&d| d > limit) {
            return None;
        }
        (before, last) = (last, row);
    }
    Some(last[b.len()]).filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance = |a: &str, b: &str| distance_within(a.as_bytes(), b.as_bytes(), 10);
        assert_eq!(distance("", ""), Some(0));
        assert_eq!(distance("abc", ""), Some(3));
        assert_eq!(distance("kitten", "sitting"), Some(3));
        assert_eq!(distance("argmxa", "argmax"), Some(1));
        assert_eq!(distance("ca", "abc"), Some(3), "edits do not overlap");
        assert_eq!(distance_within(b"kitten", b"sitting", 2), None);
    }

    #[test]
    fn nearest_first_and_at_most_three() {
        let names = ["sub", "sum", "sun", "sums", "mul", "sum"];
        assert_eq!(near_names("sum", names), ["sum", "sub", "sums"]);
        assert_eq!(near_names("Add", ["add"]), ["add"]);
        assert_eq!(near_names("", names), [""; 0]);
        assert_eq!(near_names("upsample", names), [""; 0]);
    }

    #[test]
    fn long_and_foreign_names_cost_little() {
        let long = "x".repeat(1 << 20);
        assert_eq!(near_names(&long, [long.as_str()]), [""; 0]);
        assert_eq!(near_names("add", [long.as_str(), "ädd"]), [""; 0]);
        assert_eq!(near_names("größe_add", ["grösse_add"]), ["grösse_add"]);
    }
}
