//! The group `every/other`: operators that are not pointwise, such as reductions, scans, sorts, indexing,
//! rearrangements, products, convolutions, windows, rows, losses and recurrent cells. Owns the sizes, layouts and
//! dtypes of their operands; what is called stands in `listed.txt`. Random draws, which the engines do not share, are
//! not there.

use super::cells::{Cell, Group};

/// No operator may be much slower than PyTorch's.
const BAR: f64 = 0.9;

const CALLS: &str = include_str!("listed.txt");

/// Sizes of operands by their name in the list: about a thousand elements and 64 times as many.
fn operands(name: &str) -> &'static [(&'static str, &'static [i64])] {
    match name {
        "line" => &[("contiguous", &[1 << 10]), ("contiguous", &[1 << 16])],
        "square" => &[("contiguous", &[32, 32]), ("contiguous", &[256, 256]), ("transposed", &[256, 256])],
        "batch" => &[("contiguous", &[2, 16, 32]), ("contiguous", &[4, 64, 256])],
        "image" => &[("contiguous", &[2, 8, 8, 8]), ("contiguous", &[4, 16, 32, 32])],
        "volume" => &[("contiguous", &[1, 4, 4, 8, 8]), ("contiguous", &[2, 8, 16, 16, 16])],
        _ => &[],
    }
}

fn dtypes(name: &str) -> &'static [&'static str] {
    match name {
        "all" => &["float32", "int64", "bfloat16"],
        "floats" => &["float32", "bfloat16"],
        "float32" => &["float32"],
        "int64" => &["int64"],
        "bool" => &["bool"],
        _ => &[],
    }
}

/// A cell for each call, dtype and size.
pub(crate) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for line in CALLS.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let &[sizes, kinds, op, arguments] = &words[..] else { continue };
        for dtype in dtypes(kinds) {
            cells.extend(operands(sizes).iter().map(|&(layout, sizes)| cell(op, dtype, layout, sizes, arguments)));
        }
    }
    cells
}

fn cell(op: &str, dtype: &'static str, layout: &'static str, sizes: &[i64], arguments: &str) -> Cell {
    let mut form = format!("named:{arguments}");
    for (i, size) in sizes.iter().enumerate() {
        form = form.replace(&format!("${i}"), &size.to_string());
    }
    let (op, sizes) = (op.to_owned(), sizes.to_vec());
    Cell { group: Group::Other, op, dtype, layout, sizes, form, threads: 1, bar: Some(BAR), bar_avx2: Some(BAR) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monomorph::dispatcher;
    use monomorph_benches::named;
    use monomorph_benches::serve::Work;

    #[test]
    fn every_line_is_a_call_that_its_operator_takes() {
        let calls = CALLS.lines().filter(|line| !line.starts_with('#')).count();
        let cells = cells();
        let mut called = std::collections::BTreeSet::new();
        let mut refused = Vec::new();
        for cell in &cells {
            let request = cell.request();
            let work = Work::parse(request.trim_start_matches("prepare ")).expect("well formed");
            let mut stack = named::arguments(&work, cell.form.trim_start_matches("named:")).expect("well formed");
            let called_one = dispatcher().find(&cell.op).and_then(|op| op.call(&mut stack));
            refused.extend(called_one.err().map(|error| format!("{request}: {error}")));
            called.insert((&cell.op, &cell.form));
        }
        let names: std::collections::BTreeSet<String> = cells.iter().map(Cell::name).collect();
        assert_eq!(names.len(), cells.len(), "names are unique");
        assert_eq!(refused, [] as [String; 0]);
        assert!(calls > 250 && called.len() >= calls, "{calls} lines, {} calls", called.len());
    }
}
