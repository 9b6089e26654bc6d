//! Recorded cases in which the library differs from PyTorch for a reason that is written down. Owns the list; whether a
//! run is clean is decided in `report`.

/// Ids of cases, a line each, under comments that say why.
const LIST: &str = include_str!("../../known_differences.txt");

/// The cases that are listed.
fn listed() -> impl Iterator<Item = &'static str> {
    LIST.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// True of a case that is listed.
pub(super) fn is_known(case: &str) -> bool {
    listed().any(|known| known == case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_is_listed_once_and_below_a_reason() {
        let all: Vec<_> = listed().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for paragraph in LIST.trim().split("\n\n") {
            assert!(paragraph.starts_with("# "), "{paragraph}");
        }
        assert!(all.iter().all(|case| case.split_once('#').is_some_and(|(_, hash)| hash.len() == 16)));
        assert!(is_known(all[0]) && !is_known("add.Tensor#0000000000000000"));
    }
}
