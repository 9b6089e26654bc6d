//! What is timed: every cell with its call and its bar. Owns the list; the calls are the engines', which may lack one.

use super::figures;
use std::fmt::Write as _;

/// A set of cells with a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// The figures that the library is held to.
    Figures,
    /// More operators, which are held to no bar.
    More,
    /// Every layout of a few operators at small and medium sizes: looked at for its worst cell.
    Grid,
    /// Every pointwise operator, by name.
    Every,
    /// Every other one.
    Other,
}

impl Group {
    pub(crate) const ALL: [Group; 5] = [Group::Figures, Group::More, Group::Grid, Group::Every, Group::Other];

    /// Whether it has thousands of cells, of which each gets less time and is told of only where it is slow.
    pub(crate) const fn is_sweep(self) -> bool {
        matches!(self, Group::Every | Group::Other)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Group::Figures => "figures",
            Group::More => "more",
            Group::Grid => "grid",
            Group::Every => "every",
            Group::Other => "every/other",
        }
    }
}

/// One thing to time on both sides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) group: Group,
    pub(crate) op: String,
    pub(crate) dtype: &'static str,
    pub(crate) layout: &'static str,
    pub(crate) sizes: Vec<i64>,
    pub(crate) form: String,
    pub(crate) threads: usize,
    /// The ratio (theirs / ours) that is asked for at the best level, and at AVX2 where it differs or is stated.
    pub(crate) bar: Option<f64>,
    pub(crate) bar_avx2: Option<f64>,
}

impl Cell {
    /// `op/dtype/layout/size/form`, and the threads if they are more than one. An overload is of one form.
    pub(crate) fn name(&self) -> String {
        let mut name = format!("{}/{}/{}/{}", self.op, self.dtype, self.layout, self.size());
        if self.group != Group::Every {
            write!(name, "/{}", self.form).expect("text takes text");
        }
        if self.threads > 1 {
            write!(name, "/{} threads", self.threads).expect("text takes text");
        }
        name
    }

    /// One dimension as a count of elements, more as their sizes.
    fn size(&self) -> String {
        let short = |n: i64| match n {
            n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{}Mi", n >> 20),
            n if n >= 1 << 10 && n % (1 << 10) == 0 && self.sizes.len() == 1 => format!("{}Ki", n >> 10),
            n => n.to_string(),
        };
        if matches!(self.group, Group::Grid | Group::Every) {
            return format!("{}Ki", self.sizes.iter().product::<i64>() >> 10);
        }
        self.sizes.iter().map(|n| short(*n)).collect::<Vec<_>>().join("x")
    }

    /// What engines are asked to prepare.
    pub(crate) fn request(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(i64::to_string).collect();
        format!("prepare {} {} {} {} {}", self.op, self.dtype, self.layout, sizes.join("x"), self.form)
    }

    /// Whether a filter, a part of `group/name`, lets the cell through.
    pub(crate) fn passes(&self, filter: &str) -> bool {
        format!("{}/{}", self.group.name(), self.name()).contains(filter)
    }
}

const TINY: &[i64] = &[16];
const MEDIUM: &[i64] = &[1 << 16];
const LARGE: &[i64] = &[1 << 24];
const SQUARE: &[i64] = &[4096, 4096];

/// Calls that every tensor library has, without a bar.
const PLAIN: &[(&str, &str, &[i64], &str)] = &[
    ("add", "contiguous", TINY, "functional"),
    ("add", "contiguous", MEDIUM, "functional"),
    ("add", "contiguous", MEDIUM, "out"),
    ("add", "contiguous", MEDIUM, "inplace"),
    ("add", "contiguous", LARGE, "functional"),
    ("mul", "contiguous", MEDIUM, "functional"),
    ("exp", "contiguous", MEDIUM, "functional"),
    ("add", "transposed", SQUARE, "functional"),
    ("add", "row-broadcast", SQUARE, "functional"),
    ("sum", "contiguous", LARGE, "all"),
    ("sum", "contiguous", SQUARE, "dim0"),
    ("sum", "contiguous", SQUARE, "dim1"),
    ("sum", "transposed", SQUARE, "dim1"),
];

/// Small calls that are not one dense run.
const SMALL: &[(&str, &str, &[i64], &str)] = &[
    ("add", "row-broadcast", &[4, 4], "functional"),
    ("add", "column-broadcast", &[4, 4], "functional"),
    ("add", "row-broadcast", &[4, 4], "out"),
    ("add", "stepped", &[4, 4], "out"),
    ("where", "contiguous", &[4, 4], "out"),
    ("sum", "contiguous", &[1024, 4], "dim1"),
    ("sum", "contiguous", &[1024, 16], "dim1"),
    ("sum", "contiguous", &[1024, 64], "dim1"),
];

/// The operators that no figure names.
const MORE: &[(&str, &[i64], &str)] = &[
    ("mul", MEDIUM, "out"),
    ("maximum", MEDIUM, "out"),
    ("minimum", MEDIUM, "out"),
    ("relu", MEDIUM, "out"),
    ("sqrt", MEDIUM, "out"),
    ("rsqrt", MEDIUM, "out"),
    ("sigmoid", MEDIUM, "out"),
    ("sin", MEDIUM, "out"),
    ("cos", MEDIUM, "out"),
    ("expm1", MEDIUM, "out"),
    ("log1p", MEDIUM, "out"),
    ("mean", LARGE, "all"),
    ("amax", SQUARE, "dim1"),
    ("amin", SQUARE, "dim0"),
];

const GRID_OPS: [&str; 5] = ["add", "mul", "eq", "where", "exp"];
const GRID_DTYPES: [&str; 8] = ["float32", "float64", "bfloat16", "float16", "int32", "int64", "uint8", "bool"];
const GRID_LAYOUTS: [&str; 5] = ["contiguous", "row-broadcast", "column-broadcast", "transposed", "stepped"];
const GRID_SIDES: [i64; 2] = [32, 256];
const GRID_BAR: f64 = 0.9;
/// Every row of one matrix with every row of another, as for distances between points: planes of few elements.
const PAIRWISE: &[i64] = &[1024, 16, 16];
const PAIRWISE_OPS: [&str; 2] = ["add", "mul"];

/// A cell of float32 that is held to no bar.
fn unbarred(op: &'static str, layout: &'static str, sizes: &[i64], form: &'static str) -> Cell {
    let (dtype, sizes) = ("float32", sizes.to_vec());
    let (op, form) = (op.to_owned(), form.to_owned());
    Cell { group: Group::More, op, dtype, layout, sizes, form, threads: 1, bar: None, bar_avx2: None }
}

/// The cells for rivals that have a part of the forms.
pub(crate) fn plain() -> Vec<Cell> {
    PLAIN.iter().map(|&(op, layout, sizes, form)| unbarred(op, layout, sizes, form)).collect()
}

/// The cells against PyTorch that are listed here, in the order in which they are timed.
pub(crate) fn all() -> Vec<Cell> {
    let mut cells = figures::all();
    cells.extend(SMALL.iter().map(|&(op, layout, sizes, form)| unbarred(op, layout, sizes, form)));
    cells.extend(MORE.iter().map(|&(op, sizes, form)| unbarred(op, "contiguous", sizes, form)));
    let grid = |op: &str, dtype, layout, sizes: &[i64]| Cell {
        group: Group::Grid,
        op: op.to_owned(),
        dtype,
        layout,
        sizes: sizes.to_vec(),
        form: "out".to_owned(),
        threads: 1,
        bar: Some(GRID_BAR),
        bar_avx2: Some(GRID_BAR),
    };
    for op in GRID_OPS {
        for dtype in GRID_DTYPES {
            for layout in GRID_LAYOUTS {
                cells.extend(GRID_SIDES.map(|side| grid(op, dtype, layout, &[side, side])));
            }
        }
    }
    for op in PAIRWISE_OPS {
        cells.extend(GRID_DTYPES.map(|dtype| grid(op, dtype, "pairwise", PAIRWISE)));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_short() {
        let cells = all();
        let mut names: Vec<String> =
            cells.iter().map(|cell| format!("{}/{}", cell.group.name(), cell.name())).collect();
        assert_eq!(names[0], "figures/add/float32/contiguous/16/functional");
        assert!(names.contains(&"figures/add/float32/contiguous/16Mi/out/2 threads".to_owned()));
        assert!(names.contains(&"figures/add/float32/transposed/4096x4096/out".to_owned()));
        assert!(names.contains(&"grid/where/bool/stepped/64Ki/out".to_owned()));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cells.len());
    }

    #[test]
    fn a_filter_is_a_part_of_group_and_name() {
        let count = |filter: &str| all().iter().filter(|cell| cell.passes(filter)).count();
        assert_eq!(count("grid/"), 416);
        assert_eq!(count("figures/"), figures::all().len());
        assert_eq!(count("figures/exp/"), 3);
        assert_eq!(count("figures/add/") + count("figures/exp/"), 21);
        assert_eq!(count("nothing"), 0);
    }

    #[test]
    fn requests_name_every_size() {
        let cell = all().into_iter().find(|cell| cell.layout == "transposed").expect("there is one");
        assert_eq!(cell.request(), "prepare add float32 transposed 4096x4096 out");
    }
}
