//! How the operands of a reduction lie: every layout that the loops, or the choice of blocks, tell apart. Owns the
//! layouts.

use super::super::jobs::row_major;
use monomorph_cuda::InputLayout;

/// How operands lie, and which dims are reduced.
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) sizes: Vec<i64>,
    pub(super) dims: Vec<i64>,
    /// Strides and offset of the input.
    pub(super) input: (Vec<i64>, i64),
    /// Results have every other element of their storage.
    pub(super) is_stepped: bool,
    /// Which kernel must be chosen, where the layout leaves no choice.
    pub(super) kernel: Option<InputLayout>,
    /// How many launches there must be, at least, where kernels count to this.
    pub(super) limit: Option<(u64, usize)>,
    /// Blocks share an output.
    pub(super) is_shared: bool,
}

fn dense(name: &'static str, sizes: &[i64], dims: &[i64]) -> Layout {
    Layout {
        name,
        sizes: sizes.to_vec(),
        dims: dims.to_vec(),
        input: (row_major(sizes), 0),
        is_stepped: false,
        kernel: None,
        limit: None,
        is_shared: false,
    }
}

/// The layouts for words of so many elements.
pub(super) fn layouts(each: i64) -> Vec<Layout> {
    let shared = 128 * 16 * 3 * each + each.min(3) - 1;
    let every_other: Vec<i64> = (0..10).map(|d| 1 << ((d * 3) % 10)).collect();
    let padded = (5 * each + 16) / 16 * 16 + 16;
    vec![
        Layout {
            kernel: Some(InputLayout::Dense),
            is_shared: true,
            ..dense("blocks share a dense run", &[shared], &[0])
        },
        Layout {
            kernel: Some(InputLayout::Dense),
            ..dense("a block's dense run", &[130 * each + each.min(2) - 1], &[0])
        },
        Layout { kernel: (each > 1).then_some(InputLayout::Dense), ..dense("one word", &[each], &[0]) },
        Layout {
            kernel: (each > 1).then_some(InputLayout::Strided),
            ..dense("less than a word", &[(each - 1).max(1)], &[0])
        },
        Layout {
            kernel: Some(InputLayout::Dense),
            input: (vec![padded, 1], 0),
            ..dense("dense rows with gaps", &[37, 5 * each + each.min(3) - 1], &[1])
        },
        Layout { is_stepped: true, ..dense("rows", &[7, 45], &[1]) },
        Layout {
            kernel: (each > 1).then_some(InputLayout::Strided),
            input: (vec![1], 1),
            ..dense("not aligned to words", &[300], &[0])
        },
        Layout {
            kernel: Some(InputLayout::Strided),
            is_shared: true,
            ..dense("blocks share few columns", &[3001, 3], &[0])
        },
        Layout { kernel: Some(InputLayout::Strided), is_stepped: true, ..dense("columns", &[9, 300], &[0]) },
        Layout { kernel: Some(InputLayout::Strided), ..dense("a dim in the middle", &[5, 6, 7], &[1]) },
        Layout { kernel: Some(InputLayout::Strided), ..dense("dims around another", &[5, 6, 7], &[0, 2]) },
        Layout { input: (vec![1, 19], 0), ..dense("all, transposed", &[19, 13], &[0, 1]) },
        Layout {
            kernel: Some(InputLayout::Strided),
            input: (vec![2], 1),
            ..dense("every other element", &[700], &[0])
        },
        Layout {
            kernel: Some(InputLayout::Strided),
            input: (vec![0, 1], 0),
            ..dense("repeated elements", &[40, 3], &[0])
        },
        Layout { input: (vec![0, 1], 0), ..dense("repeated outputs", &[5, 33], &[1]) },
        Layout { input: (vec![60, 1, 15, 3], 0), ..dense("channels last", &[2, 3, 4, 5], &[2, 3]) },
        Layout { input: (vec![60, 1, 15, 3], 0), ..dense("channels, the last of memory", &[2, 3, 4, 5], &[1]) },
        Layout { input: (every_other, 0), ..dense("ten dimensions", &[2; 10], &[0, 3, 4, 7, 9]) },
        Layout { ..dense("one element", &[], &[]) },
        Layout { ..dense("nothing", &[3, 0], &[1]) },
        Layout { ..dense("no output", &[0, 3], &[1]) },
        Layout { ..dense("runs of one element", &[4, 1], &[1]) },
        Layout { limit: Some((64 * each as u64, 4)), is_shared: true, ..dense("halved runs", &[300 * each], &[0]) },
        Layout {
            limit: Some((1 << 10, 2)),
            is_shared: true,
            kernel: Some(InputLayout::Strided),
            ..dense("halved columns", &[400, 3], &[0])
        },
        Layout { limit: Some((1 << 10, 2)), ..dense("halved outputs", &[400, 3], &[1]) },
        Layout { limit: Some((1 << 9, 9)), is_shared: true, ..dense("halved outputs and runs", &[100, 300], &[0]) },
    ]
}
