//! Running extremes on the CPU: tiles of lines side by side, as in scans, each line with the extreme so far and its
//! index. Owns the loops; tiles are staged as in every staged call, which follows strides and resolves negation bits.

use crate::cast::Bits;
use crate::device::Cpu;
use crate::element::{CpuElement, load, store};
use crate::index::placed::product;
use crate::isa::Portable;
use crate::scalar::Lane;
use crate::staging::{StageBuffer, Stager, Tile};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, Strided, bf16, f16, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::algebra::{Equal, Ordered, Value};
use monomorph_ops::running::{Running, RunningFn, RunningInputs, RunningPlan};

/// Lines side by side, and elements of a tile.
const LANES: usize = 64;
const BLOCK: usize = 1024;

/// A tile of elements of any dtype.
type Block = StageBuffer<{ BLOCK * 16 }>;

/// A loop over a tile: elements become extremes, and `indices` theirs.
type Loop = unsafe fn(Pass);

/// Rows of a tile.
///
/// Invariants of whoever calls a loop:
/// * P1: `block` has `rows * lanes` initialised elements of the loop's dtype, dense, and `indices` room for as many
///   int64.
/// * P2: `values` and `at` have room for `lanes` elements of the dtype and int64, and hold the last row's extremes
///   unless this tile is the `first`; nobody else uses any of the four.
struct Pass {
    block: *mut u8,
    indices: *mut i64,
    rows: usize,
    lanes: usize,
    values: *mut u8,
    at: *mut i64,
    /// The index of the first row.
    start: usize,
}

/// An element with its index.
type Found<C> = (Lane<C, Portable>, i64);

/// The extreme of what was found so far and a later element, which wins where both are equal or it is NaN.
#[inline(always)]
fn later<C: CpuElement, const IS_LARGEST: bool>((so_far, index_so_far): Found<C>, (x, index): Found<C>) -> Found<C>
where
    Lane<C, Portable>: Ordered<Mask = Lane<bool, Portable>>,
{
    let beats = if IS_LARGEST { x.ge(so_far) } else { x.le(so_far) };
    let takes = x.ne(x) | (beats & !so_far.ne(so_far));
    (Value::select(takes, x, so_far), if takes.get() { index } else { index_so_far })
}

/// # Safety
///
/// P1, P2.
unsafe fn pass<C: CpuElement, const IS_LARGEST: bool>(pass: Pass)
where
    Lane<C, Portable>: Ordered<Mask = Lane<bool, Portable>>,
{
    let Pass { block, indices, rows, lanes, values, at, start } = pass;
    for r in 0..rows {
        let row = block.wrapping_add(r * lanes * size_of::<C::Stored>());
        let index = (start + r) as i64;
        for j in 0..lanes {
            // SAFETY: row `r < rows` has an initialised element `j < lanes` (P1).
            let x = Lane::<C, Portable>::new(unsafe { load::<C>(row, j) });
            let place = at.wrapping_add(j);
            let mut best = (x, index);
            if index > 0 {
                // SAFETY: lane `j < lanes` holds the extreme of the row before (P2): there is one.
                let so_far = Lane::<C, Portable>::new(unsafe { load::<C>(values, j) });
                // SAFETY: as the value (P2).
                best = later::<C, IS_LARGEST>((so_far, unsafe { place.read() }), best);
            }
            // SAFETY: lane `j < lanes` has room for a value (P2).
            unsafe { store::<C>(values, j, best.0.get()) };
            // SAFETY: lane `j < lanes` has room for an index (P2).
            unsafe { place.write(best.1) };
            // SAFETY: the element that was just read (P1).
            unsafe { store::<C>(row, j, best.0.get()) };
            // SAFETY: there is room for `rows * lanes` indices (P1).
            unsafe { indices.wrapping_add(r * lanes + j).write(best.1) };
        }
    }
}

/// Lines whose elements lie side by side in the input and in both outputs.
///
/// Invariants of whoever calls a loop:
/// * D1: from each of `memory`, `lines` lines of `size` elements, one or more, begin `bytes` apart, of the loop's dtype
///   or of int64; those of the input are initialised.
/// * D2: nobody else uses the lines of the outputs, but that those of values may be those of the input.
#[derive(Clone, Copy)]
struct Lines {
    memory: [*mut u8; 3],
    bytes: [isize; 3],
    lines: usize,
    size: usize,
}

/// Lines at a time: a step of one does not wait for that of another.
const ABREAST: usize = 4;

/// # Safety
///
/// D1, D2.
unsafe fn dense<C: CpuElement, const IS_LARGEST: bool>(lines: Lines)
where
    Lane<C, Portable>: Ordered<Mask = Lane<bool, Portable>>,
{
    let mut line = 0;
    while line + ABREAST <= lines.lines {
        // SAFETY: D1, D2 for these lines.
        unsafe { abreast::<C, IS_LARGEST, ABREAST>(lines, line) };
        line += ABREAST;
    }
    for line in line..lines.lines {
        // SAFETY: D1, D2 for this line.
        unsafe { abreast::<C, IS_LARGEST, 1>(lines, line) };
    }
}

/// # Safety
///
/// D1, D2 for `N` lines from `first` on.
#[inline(always)]
unsafe fn abreast<C: CpuElement, const IS_LARGEST: bool, const N: usize>(lines: Lines, first: usize)
where
    Lane<C, Portable>: Ordered<Mask = Lane<bool, Portable>>,
{
    let at = |k: usize, l: usize| lines.memory[k].wrapping_offset(((first + l) as isize).wrapping_mul(lines.bytes[k]));
    // The first element is its own extreme.
    let mut best: [Found<C>; N] = std::array::from_fn(|l| {
        // SAFETY: D1: the line has an initialised element, since `size` is not 0.
        (Lane::new(unsafe { load::<C>(at(0, l), 0) }), 0)
    });
    for i in 0..lines.size {
        for (l, best) in best.iter_mut().enumerate() {
            // SAFETY: D1: the line has an initialised element `i < size`.
            let x = Lane::new(unsafe { load::<C>(at(0, l), i) });
            *best = later::<C, IS_LARGEST>(*best, (x, i as i64));
            // SAFETY: D1, D2: the line of values has room for an element `i < size`.
            unsafe { store::<C>(at(1, l), i, best.0.get()) };
            // SAFETY: D1, D2: and that of indices for an int64.
            unsafe { store::<i64>(at(2, l), i, best.1) };
        }
    }
}

/// The loops of a dtype.
struct Loops {
    tile: Loop,
    lines: unsafe fn(Lines),
}

/// The loops of a dtype with an order.
fn looped(dtype: DType, is_largest: bool) -> Option<Loops> {
    fn of<C: CpuElement, const IS_LARGEST: bool>() -> Loops
    where
        Lane<C, Portable>: Ordered<Mask = Lane<bool, Portable>>,
    {
        Loops { tile: pass::<C, IS_LARGEST>, lines: dense::<C, IS_LARGEST> }
    }
    macro_rules! loops {
        ($($dtype:ident $element:ty),*) => {
            match dtype {
                $(DType::$dtype if is_largest => Some(of::<$element, true>()),
                DType::$dtype => Some(of::<$element, false>()),)*
                _ => None,
            }
        };
    }
    loops!(Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

/// A dimension: its size, and bytes from one element to the next in the input and in both outputs.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    bytes: [isize; 3],
}

const ONE: Axis = Axis { size: 1, bytes: [0; 3] };

/// The same element of the input and of both outputs.
#[derive(Clone, Copy)]
struct Place([*mut u8; 3]);

// SAFETY: threads read the input, which nobody writes but place for place, and write lines of their own (C2).
unsafe impl Sync for Place {}

impl Place {
    /// So many elements on along an axis.
    fn along(self, axis: &Axis, n: usize) -> Place {
        let moved = |k: usize| self.0[k].wrapping_offset((n as isize).wrapping_mul(axis.bytes[k]));
        Place([moved(0), moved(1), moved(2)])
    }
}

/// A call bound to memory.
///
/// Invariants:
/// * C1: `first` is the first element of tensors of these sizes, with these strides, of the dtypes of the stagers.
/// * C2: lines of the outputs lie apart from each other, or `serial` is set; values share elements with the input only
///   place for place.
pub struct Ready {
    /// None for a tensor without dimensions, which is its own extreme.
    kernel: Option<Loops>,
    first: Place,
    stagers: [Stager; 3],
    line: Axis,
    side: Axis,
    others: Vec<Axis>,
    serial: bool,
    /// The copy of an input that an output would overwrite, or the bytes of a number.
    _own: Vec<u128>,
}

// SAFETY: as for `Place`: a call is only read while it runs.
unsafe impl Sync for Ready {}

// SAFETY: every element of the input is read, and every one of the outputs written, within their geometries: the axes
// are their dimensions (C1).
unsafe impl<F: RunningFn> Executes<Running<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &RunningPlan, inputs: &RunningInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2 are the caller's promise.
        unsafe { bind(F::IS_LARGEST, plan, inputs.operand(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, _: &RunningPlan) -> Result<()> {
        // SAFETY: E2 keeps the memory of C1 and C2 borrowed.
        unsafe { ready.run() };
        Ok(())
    }
}

/// # Safety
///
/// E1, E2 of [`Executes`].
unsafe fn bind(is_largest: bool, plan: &RunningPlan, operand: &Operand<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
    let level = crate::level()?;
    let (values, indices) = (outputs.geometry(0), outputs.geometry(1));
    let dtype = values.dtype();
    let mut own: Vec<u128> = Vec::new();
    let (data, bits, strides) = match operand {
        Operand::Tensor(tensor) => {
            let g = tensor.geometry();
            // SAFETY: E2: the storage is borrowed as long as the result lives.
            (unsafe { tensor.data() }.cast_const(), Bits::of(dtype, g.is_conj(), g.is_neg()), g.strides().to_vec())
        }
        Operand::Number(number) => {
            own.push(u128::from_ne_bytes(number.bytes()));
            (own.as_ptr().cast(), Bits::default(), Vec::new())
        }
        Operand::Absent => (std::ptr::null(), Bits::default(), Vec::new()),
    };
    let (mut input, mut input_bits, mut input_strides) = (data, bits, strides);
    if plan.copies && values.numel() > 0 {
        let words = values.numel().saturating_mul(dtype.size()).div_ceil(size_of::<u128>());
        let mut copy = list::with_capacity(words)?;
        copy.resize(words, 0_u128);
        let dense = monomorph_core::strides::contiguous_strides(values.sizes());
        let to = Strided { data: copy.as_mut_ptr().cast(), strides: &dense, dtype, conj: false, neg: false };
        let Bits { conj, neg } = input_bits;
        let from = Strided { data: input.cast_mut(), strides: &input_strides, dtype, conj, neg };
        // SAFETY: C1 and C2 of `Device::copy`: the input has the sizes of the values, is in bounds, initialised and
        // borrowed (E1, E2), and the target is memory of our own with room for all elements.
        unsafe { crate::copy::copy(values.sizes(), to, from) }?;
        own = copy;
        (input, input_bits, input_strides) = (own.as_ptr().cast(), Bits::default(), dense.to_vec());
    }
    let bytes = |stride: i64, dtype: DType| (stride as isize).wrapping_mul(dtype.size() as isize);
    let axis = |d: usize| Axis {
        size: values.sizes()[d] as usize,
        bytes: [
            bytes(input_strides.get(d).copied().unwrap_or(0), dtype),
            bytes(values.strides()[d], dtype),
            bytes(indices.strides()[d], DType::I64),
        ],
    };
    let line = plan.dim.map_or(ONE, axis);
    let mut others: Vec<Axis> = (0..values.ndim()).filter(|d| Some(*d) != plan.dim).map(axis).collect();
    let closest = |i: &usize| (others[*i].size < LANES / 4, others[*i].bytes[1].unsigned_abs());
    let side = (0..others.len()).filter(|&i| others[i].size > 1).min_by_key(closest);
    let side = side.map_or(ONE, |i| others.swap_remove(i));
    let output =
        |g: &Geometry| Stager::output(g.dtype(), g.dtype(), Bits::of(g.dtype(), g.is_conj(), g.is_neg()), level);
    Ok(Ready {
        kernel: plan.dim.and_then(|_| looped(dtype, is_largest)),
        first: Place([input.cast_mut(), outputs.data(0), outputs.data(1)]),
        stagers: [Stager::input(dtype, dtype, input_bits, level), output(values), output(indices)],
        line: if values.numel() == 0 { Axis { size: 0, ..line } } else { line },
        side,
        others,
        serial: plan.serial,
        _own: own,
    })
}

impl Ready {
    /// # Safety
    ///
    /// C1, C2.
    unsafe fn run(&self) {
        if self.line.size == 0 || self.side.size == 0 {
            return;
        }
        let groups = product(self.others.iter().map(|axis| axis.size));
        let per_group = self.side.size.div_ceil(LANES);
        let tasks = groups * per_group;
        let work = self.line.size * self.side.size.min(LANES);
        let together = match self.serial || !is_parallel(groups * self.side.size * self.line.size, GRAIN) {
            true => tasks,
            false => (GRAIN / work).max(1),
        };
        share(tasks.div_ceil(together), |piece| {
            for i in piece * together..((piece + 1) * together).min(tasks) {
                let side = i % per_group * LANES;
                let mut at = self.first.along(&self.side, side);
                let mut group = i / per_group;
                for axis in self.others.iter().rev() {
                    at = at.along(axis, group % axis.size);
                    group /= axis.size;
                }
                // SAFETY: C1, C2 for lines that no other piece has.
                unsafe { self.lines(at, LANES.min(self.side.size - side)) };
            }
        });
    }

    /// Whether elements of a line lie side by side, as they are: then lines need no tiles.
    fn is_dense(&self) -> bool {
        let direct = |(stager, &bytes): (&Stager, &isize)| stager.is_direct() && bytes == stager.size() as isize;
        self.stagers.iter().zip(&self.line.bytes).all(direct)
    }

    /// Runs along `lanes` lines side by side.
    ///
    /// # Safety
    ///
    /// C1, C2 for these lines, which nobody else writes.
    unsafe fn lines(&self, at: Place, lanes: usize) {
        if let Some(kernel) = self.kernel.as_ref().filter(|_| self.is_dense()) {
            let lines = Lines { memory: at.0, bytes: self.side.bytes, lines: lanes, size: self.line.size };
            // SAFETY: D1 by C1: stagers that are direct neither convert nor negate, and lines have elements; D2 by C2.
            return unsafe { (kernel.lines)(lines) };
        }
        let (mut values, mut block, mut scratch) = (StageBuffer::<{ LANES * 16 }>::NEW, Block::NEW, Block::NEW);
        let (mut index_block, mut best) = (Block::NEW, [0_i64; LANES]);
        let (block, scratch, index_block) = (block.data(), scratch.data(), index_block.data());
        let [load, store_values, store_indices] = &self.stagers;
        let most = BLOCK / lanes;
        for start in (0..self.line.size).step_by(most) {
            let rows = most.min(self.line.size - start);
            let Place(memory) = at.along(&self.line, start);
            let tile = |k: usize| Tile { cols: lanes, rows, inner: self.side.bytes[k], outer: self.line.bytes[k] };
            // SAFETY: L1, L3 by C1 and C2; L2: a block has room for BLOCK elements of any dtype, and a tile has no
            // more.
            unsafe { load.load(memory[0], tile(0), block, scratch) };
            match self.kernel {
                Some(Loops { tile: kernel, .. }) => {
                    let (values, indices, at) = (values.data(), index_block.cast(), best.as_mut_ptr());
                    // SAFETY: P1: the tile was loaded, and a block has room for BLOCK int64; P2: both have room for
                    // LANES lanes, and hold the row before this tile unless it is the first; all are ours.
                    unsafe { kernel(Pass { block, indices, rows, lanes, values, at, start }) };
                }
                // SAFETY: a tensor without dimensions has one element, whose index is 0; the block has room for it.
                None => unsafe { index_block.cast::<i64>().write(0) },
            }
            // SAFETY: L1 by C1; L2: the block is filled, has room for BLOCK elements, and nobody else uses the tile
            // (C2).
            unsafe { store_values.store(block, memory[1], tile(1), scratch) };
            // SAFETY: L1 by C1; L2: the block is filled, has room for BLOCK elements, and nobody else uses the tile
            // (C2).
            unsafe { store_indices.store(index_block, memory[2], tile(2), scratch) };
        }
    }
}
