//! What resampling is tried on, and what the CPU makes of it. Runs no kernel.

use super::super::jobs::BEFORE;
use crate::layout::tensor;
use monomorph::crates::ops::upsample::UpsamplePlan;
use monomorph::{
    Cpu, DType, Geometry, Scalar, Tensor,
    ops::{options::UpsampleNearest1d, upsample_nearest1d_out_with},
};
use monomorph_cuda::{Nearest, NearestLaunch};

/// The launches of a call, and what they should leave in the output's storage.
pub(super) struct Job {
    /// What is special about it.
    pub(super) layout: &'static str,
    pub(super) launches: Vec<NearestLaunch>,
    /// The storage of the output, filled with what is there before, then that of the input.
    pub(super) storages: [Vec<u8>; 2],
    pub(super) want: Vec<u8>,
}

/// How a side lies: strides and offset.
type Side = ([i64; 3], i64);

/// A call.
struct Layout {
    name: &'static str,
    /// Batches, channels, and elements of a row of the input and of the output.
    sizes: [i64; 4],
    input: Side,
    output: Side,
    scale: Option<f64>,
    /// Memory of the input, and of the output, holds the negatives.
    neg: [bool; 2],
    /// What the kernel is said to count to, and the launches that this takes.
    limit: Option<(u64, usize)>,
}

/// A call of dense operands.
fn dense(name: &'static str, sizes: [i64; 4]) -> Layout {
    let [_, c, from, to] = sizes;
    let lie = |n: i64| ([c * n, n, 1], 0);
    Layout { name, sizes, input: lie(from), output: lie(to), scale: None, neg: [false; 2], limit: None }
}

fn layouts() -> Vec<Layout> {
    vec![
        dense("larger, with a ragged end", [2, 3, 50, 117]),
        dense("smaller", [2, 3, 117, 50]),
        dense("as large", [1, 2, 300, 300]),
        dense("one element", [1, 1, 1, 1]),
        dense("one element for all", [1, 3, 1, 700]),
        dense("no batch", [0, 3, 4, 8]),
        dense("three times as large", [1, 1, 1000, 3000]),
        // One place is another element in float32 than in float64.
        dense("a place that rounds", [1, 1, 54, 38]),
        dense("seven tenths", [1, 1, 2999, 2099]),
        Layout { scale: Some(1.0), ..dense("a scale that ends beyond the row", [2, 2, 5, 9]) },
        Layout { scale: Some(2.5), ..dense("a scale", [1, 2, 40, 100]) },
        Layout { scale: Some(1e-30), ..dense("a scale that ends beyond what is counted", [1, 1, 6, 7]) },
        Layout { scale: Some(-1.0), ..dense("a scale that counts as none", [1, 1, 6, 7]) },
        Layout { input: ([150, 1, 3], 0), output: ([351, 1, 3], 0), ..dense("channels last", [2, 3, 50, 117]) },
        Layout { input: ([1, 2, 6], 0), ..dense("transposed", [2, 3, 50, 117]) },
        Layout {
            input: ([320, 105, 2], 3),
            output: ([800, 250, 2], 1),
            ..dense("every other element, rows with gaps", [2, 3, 50, 117])
        },
        Layout { input: ([0, 1, 0], 2), ..dense("repeated", [2, 3, 50, 117]) },
        Layout { neg: [true, false], ..dense("negatives", [2, 2, 9, 20]) },
        Layout { neg: [true, true], ..dense("negatives on both sides", [2, 2, 9, 20]) },
        Layout { limit: Some((1000, 4)), ..dense("split along a row", [1, 1, 900, 2500]) },
        Layout {
            input: ([1, 20, 100], 1),
            limit: Some((100, 8)),
            ..dense("split along batches and channels", [20, 5, 3, 4])
        },
    ]
}

/// Every job of a kernel.
///
/// # Errors
/// What the CPU says of operands that it should take.
pub(super) fn jobs(kernel: Nearest) -> Result<Vec<Job>, String> {
    layouts().iter().map(|layout| job(kernel, layout).map_err(|why| format!("{}: {why}", layout.name))).collect()
}

fn geometry(dtype: DType, sizes: [i64; 3], side: &Side, neg: bool) -> Result<Geometry, String> {
    let plain = Geometry::new(dtype, &sizes, &side.0, side.1).map_err(|error| error.to_string())?;
    Ok(plain.with_neg(neg && dtype != DType::U8))
}

fn job(kernel: Nearest, layout: &Layout) -> Result<Job, String> {
    let words = |error: monomorph::Error| error.to_string();
    let (dtype, [n, c, from, to]) = (kernel.dtype(), layout.sizes);
    let input = geometry(dtype, [n, c, from], &layout.input, layout.neg[0])?;
    let output = geometry(dtype, [n, c, to], &layout.output, layout.neg[1])?;
    let values: Vec<Scalar> = (0..241).map(|i| Scalar::Int((i * 7 + i / 5) % 251)).collect();
    let x = tensor(input.clone().with_neg(false), &values).with_geometry(input.clone()).map_err(words)?;
    let before = vec![BEFORE; output.bytes_needed().map_err(words)?];
    let options = UpsampleNearest1d { scales: layout.scale, ..Default::default() };
    let mut out = Tensor::<Cpu>::from_storage(&before, output.clone()).map_err(words)?;
    upsample_nearest1d_out_with(&x, to, options, &mut out).map_err(words)?;
    let plan = UpsamplePlan::new(dtype, from, to, layout.scale, false);
    let at = |g: &Geometry| g.offset() as u64 * dtype.size() as u64;
    let sides = [(&output, at(&output)), (&input, at(&input))];
    let launches = Nearest::launches(&plan, sides[0], sides[1], layout.limit.map(|(limit, _)| limit));
    if layout.limit.is_some_and(|(_, least)| launches.len() < least) {
        return Err(format!("{} launches", launches.len()));
    }
    let storages = [before, x.storage_to_vec().map_err(words)?];
    Ok(Job { layout: layout.name, launches, storages, want: out.storage_to_vec().map_err(words)? })
}
