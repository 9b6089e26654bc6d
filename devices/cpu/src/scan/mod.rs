//! Scans on the CPU: tiles of lines side by side, each line an accumulator of its own.
//!
//! ```text
//!          lanes (lines) ─►                      a single long line is cut into segments, which are the lanes:
//!   dim   x00 x01 x02 ···        row by row:       1. the total of each segment
//!    │    x10 x11 x12 ···        acc ← acc · x     2. the prefix of the totals, segment by segment
//!    ▼    x20 x21 x22 ···        x   ← acc         3. each segment, from its prefix on
//! ```
//!
//! A tile is staged as in every staged call, which converts it and transposes it where lines lie along memory, so one
//! loop, which vectorises across lanes, serves every layout and dtype. A line that several threads share is cut into
//! chunks of a fixed number of segments, and serial calls regroup in the same way: results do not depend on the
//! number of threads.

mod kernels;
mod long_line;

pub use kernels::{Kernels, ScanKernels};

use crate::cast::Bits;
use crate::device::Cpu;
use crate::index::placed::product;
use crate::isa::Level;
use crate::left_out::no_kernel;
use crate::staging::{StageBuffer, Stager, Tile};
use kernels::{ACCUMULATOR, Pass};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, Strided, list};
use monomorph_iter::{GRAIN, is_parallel, share};
use monomorph_ops::scan::{Scan, ScanInputs, ScanPlan};

/// Lines that accumulate side by side: of float64, eight registers of AVX-512.
const LANES: usize = 64;

/// The same for lines that lie along memory: of each, a tile has a few cache lines then, and prefetchers follow so many
/// lines.
const LANES_ALONG_MEMORY: usize = 16;

/// Elements of a segment of a long line. With [`LANES`] it fills a block of any dtype.
const SEGMENT: usize = 16;

/// Segments' elements in a block.
const BLOCK: usize = LANES * SEGMENT;

/// Shorter lines are scanned element by element, by an accumulator in a register.
const LONG_LINE: usize = 2 * BLOCK;

/// Fewer lines than these are scanned one by one if they are long: less than half of the lanes would be used.
const FEW_LINES: usize = LANES / 2;

/// A tile of elements of any dtype.
type Block = StageBuffer<{ BLOCK * 16 }>;

/// The accumulators of a tile, opaque to the driver.
type LaneAccumulators = StageBuffer<{ LANES * ACCUMULATOR }>;

/// A call bound to memory.
///
/// Invariants:
/// * C1: `input` and `output` are the first elements of tensors of these sizes, with these strides in bytes, of the
///   dtypes of the stagers.
/// * C2: lines of the output lie apart from each other, or `serial` is set; it shares elements with the input only
///   place for place.
pub struct Ready {
    kernels: Option<ScanKernels>,
    input: *const u8,
    output: *mut u8,
    load: Stager,
    store: Stager,
    /// Steps along a line: how many, and bytes of one in input and output.
    line: Axis,
    /// Lines side by side.
    side: Axis,
    /// What is left.
    others: Vec<Axis>,
    serial: bool,
    /// Integers are the same however they are grouped.
    is_exact: bool,
    /// The copy of an input that the output would overwrite, or the bytes of a number.
    _own: Vec<u128>,
}

// SAFETY: threads that share a call read its input, which nobody writes but place for place, and write lines or
// chunks of their own (C2).
unsafe impl Sync for Ready {}

/// A dimension: its size, and bytes from one element to the next in input and output.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    input: isize,
    output: isize,
}

const ONE: Axis = Axis { size: 1, input: 0, output: 0 };

// SAFETY: every element of the input is read, and every one of the output written, within their geometries: the axes
// are their dimensions (C1). Kernels are those of `F` at a level that the host has, by `Kernels`.
unsafe impl<F: Kernels<W>, W: 'static> Executes<Scan<F, W>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ScanPlan, inputs: &ScanInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        let level = crate::level()?;
        let out = outputs.geometry(0);
        let kernels = match plan.dim {
            // Meta has made sure of the domain.
            Some(_) => Some(F::lookup(out.dtype(), level).ok_or_else(|| no_kernel(out.dtype(), "others"))?),
            None => None,
        };
        let mut own: Vec<u128> = Vec::new();
        let (data, dtype, bits, strides) = match inputs.operand() {
            Operand::Tensor(tensor) => {
                let g = tensor.geometry();
                // SAFETY: E2: the storage is borrowed as long as the result lives.
                let data = unsafe { tensor.data() };
                (data.cast_const(), g.dtype(), Bits::of(g.dtype(), g.is_conj(), g.is_neg()), g.strides())
            }
            Operand::Number(number) => {
                own.push(u128::from_ne_bytes(number.bytes()));
                (own.as_ptr().cast(), number.dtype(), Bits::default(), &[][..])
            }
            Operand::Absent => (std::ptr::null(), out.dtype(), Bits::default(), &[][..]),
        };
        let mut input = Input { data, dtype, bits, strides: strides.into() };
        if plan.copies && out.numel() > 0 {
            // SAFETY: E1, E2: the input has the sizes of the output, and lies there as long as the call runs.
            own = unsafe { input.copied(out) }?;
        }
        Ok(Ready::new(kernels, plan, &input, out, outputs.data(0), level, own))
    }

    unsafe fn run(ready: &mut Ready, _: &ScanPlan) -> Result<()> {
        // SAFETY: E2 keeps the memory of C1 and C2 borrowed.
        unsafe { ready.run() }
    }
}

/// What is read.
struct Input {
    data: *const u8,
    dtype: DType,
    bits: Bits,
    strides: Vec<i64>,
}

impl Input {
    /// Copies what is read to memory of its own, dense and in the dtype of the output, which the result owns.
    ///
    /// # Safety
    ///
    /// The input has the sizes of `out`, is initialised, and nobody writes it meanwhile.
    unsafe fn copied(&mut self, out: &Geometry) -> Result<Vec<u128>> {
        let words = (out.numel() * out.dtype().size()).div_ceil(size_of::<u128>());
        let mut own = list::with_capacity(words)?;
        own.resize(words, 0_u128);
        let strides = monomorph_core::strides::contiguous_strides(out.sizes());
        let to =
            Strided { data: own.as_mut_ptr().cast(), strides: &strides, dtype: out.dtype(), conj: false, neg: false };
        let Bits { conj, neg } = self.bits;
        let from = Strided { data: self.data.cast_mut(), strides: &self.strides, dtype: self.dtype, conj, neg };
        // SAFETY: C1 and C2 of `Device::copy`: the input is in bounds and initialised (the caller's promise), and the
        // target is memory of our own with room for all elements.
        unsafe { crate::copy::copy(out.sizes(), to, from) }?;
        *self =
            Input { data: own.as_ptr().cast(), dtype: out.dtype(), bits: Bits::default(), strides: strides.to_vec() };
        Ok(own)
    }
}

impl Ready {
    fn new(
        kernels: Option<ScanKernels>,
        plan: &ScanPlan,
        input: &Input,
        out: &Geometry,
        output: *mut u8,
        level: Level,
        own: Vec<u128>,
    ) -> Ready {
        let dtype = out.dtype();
        // Modulo 2^64: exact in a dimension of two elements or more, and of one element nothing is multiplied by it
        // but 0.
        let bytes = |stride: i64, dtype: DType| (stride as isize).wrapping_mul(dtype.size() as isize);
        let axis = |d: usize| Axis {
            size: out.sizes()[d] as usize,
            input: bytes(input.strides.get(d).copied().unwrap_or(0), input.dtype),
            output: bytes(out.strides()[d], dtype),
        };
        let dim = plan.dim;
        let line = dim.map_or(ONE, axis);
        let mut others: Vec<Axis> = (0..out.ndim()).filter(|d| Some(*d) != dim).map(axis).collect();
        // Side by side go the lines that lie closest; of few lines, most of the lanes would stay empty.
        let closest = |i: &usize| (others[*i].size < LANES / 4, others[*i].output.unsigned_abs());
        let side = (0..others.len()).filter(|&i| others[i].size > 1).min_by_key(closest);
        let side = side.map_or(ONE, |i| others.swap_remove(i));
        Ready {
            kernels,
            input: input.data,
            output,
            load: Stager::input(input.dtype, dtype, input.bits, level),
            store: Stager::output(dtype, dtype, Bits::of(dtype, out.is_conj(), out.is_neg()), level),
            line: if out.numel() == 0 { Axis { size: 0, ..line } } else { line },
            side,
            others,
            serial: plan.serial,
            is_exact: dtype.is_integral(true),
            _own: own,
        }
    }

    /// # Safety
    ///
    /// C1, C2.
    unsafe fn run(&self) -> Result<()> {
        if self.line.size == 0 || self.side.size == 0 {
            return Ok(());
        }
        let groups = product(self.others.iter().map(|axis| axis.size));
        let lines = groups.saturating_mul(self.side.size);
        if lines < FEW_LINES && self.line.size >= LONG_LINE && self.kernels.is_some() {
            // Segments take a second pass and a transposition, which cost more than a sum of integers waits for the one
            // before it: 17 µs for 64Ki int64, and 33 in segments; products, which wait longer, take 47 and 35.
            let in_turn = self.is_exact && (self.serial || !is_parallel(self.line.size, GRAIN));
            for line in 0..lines {
                let at = self.at(line / self.side.size, line % self.side.size);
                match in_turn {
                    // SAFETY: C1, C2 for a line of the call.
                    true => unsafe { self.lines(at, 1) },
                    // SAFETY: C1, C2 for a line of the call.
                    false => unsafe { self.long_line(at) }?,
                }
            }
            return Ok(());
        }
        let is_along = self.line.output.unsigned_abs() < self.side.output.unsigned_abs();
        let lanes = if is_along { LANES_ALONG_MEMORY } else { LANES };
        let per_group = self.side.size.div_ceil(lanes);
        let work = self.line.size * self.side.size.min(lanes);
        let together = if self.serial || !is_parallel(lines * self.line.size, GRAIN) {
            groups * per_group
        } else {
            (GRAIN / work).max(1)
        };
        share((groups * per_group).div_ceil(together), |piece| {
            for i in piece * together..((piece + 1) * together).min(groups * per_group) {
                let first = i % per_group * lanes;
                let at = self.at(i / per_group, first);
                // SAFETY: C1, C2 for lines that no other piece has.
                unsafe { self.lines(at, lanes.min(self.side.size - first)) };
            }
        });
        Ok(())
    }

    /// The first elements of line `side` of a group.
    fn at(&self, mut group: usize, side: usize) -> Place {
        let mut place = Place { input: self.input, output: self.output }.along(&self.side, side);
        for axis in self.others.iter().rev() {
            place = place.along(axis, group % axis.size);
            group /= axis.size;
        }
        place
    }

    /// Scans `lanes` lines side by side.
    ///
    /// # Safety
    ///
    /// C1, C2 for these lines, which nobody else writes.
    unsafe fn lines(&self, at: Place, lanes: usize) {
        let mut accumulators = LaneAccumulators::NEW;
        let accumulators = accumulators.data();
        if let Some(kernels) = &self.kernels {
            // SAFETY: there is room for LANES accumulators; `lookup` gave kernels of a level that the host has.
            unsafe { (kernels.begin)(accumulators, lanes) };
        }
        let is_direct = self.load.is_direct() && self.store.is_direct();
        let size = self.store.size() as isize;
        if let (Some(kernels), true, 1) = (&self.kernels, is_direct, lanes)
            && (self.line.input, self.line.output) == (size, size)
        {
            let pass = Pass { from: at.input, block: at.output, rows: self.line.size, lanes, accumulators };
            // SAFETY: L1: one dense line, of the dtype that the loops take (C1), which lies apart from that of the
            // output or is the same (C2); L2: `begin` wrote the lane, and both are ours.
            return unsafe { (kernels.scan)(pass) };
        }
        let most = BLOCK / lanes;
        for start in (0..self.line.size).step_by(most) {
            let tile = Rows { rows: most.min(self.line.size - start), lanes, row: self.line, lane: self.side };
            let scan = |block: *mut u8| {
                if let Some(kernels) = &self.kernels {
                    let pass = Pass { from: block, block, rows: tile.rows, lanes, accumulators };
                    // SAFETY: L1: the tile was loaded; L2: `begin` wrote the lanes, and both are ours.
                    unsafe { (kernels.scan)(pass) };
                }
            };
            // SAFETY: C1, C2 for a part of these lines, of at most `BLOCK / lanes` rows.
            unsafe { self.tile(at.along(&self.line, start), &tile, scan, true) };
        }
    }

    /// Loads a tile, calls `f` with it, and stores it if it is `written`.
    ///
    /// # Safety
    ///
    /// The tile is part of the call (C1), has at most BLOCK elements, and nobody else writes it (C2).
    unsafe fn tile(&self, at: Place, tile: &Rows, f: impl FnOnce(*mut u8), written: bool) {
        let (mut block, mut scratch) = (Block::NEW, Block::NEW);
        let (block, scratch) = (block.data(), scratch.data());
        // A single lane is a row of its own.
        let (cols, rows, inner, outer) = match tile.lanes {
            1 => (tile.rows, 1, tile.row, tile.lane),
            lanes => (lanes, tile.rows, tile.lane, tile.row),
        };
        let input = Tile { cols, rows, inner: inner.input, outer: outer.input };
        // SAFETY: L1, L3 by C1 and C2; L2: a block has room for BLOCK elements of any dtype, and a tile has no more.
        unsafe { self.load.load(at.input, input, block, scratch) };
        f(block);
        if written {
            let output = Tile { inner: inner.output, outer: outer.output, ..input };
            // SAFETY: L1 by C1; L2: a block has room for BLOCK elements of any dtype, and a tile has no more; the block
            // is filled, and nobody else uses the tile (C2).
            unsafe { self.store.store(block, at.output, output, scratch) };
        }
    }
}

/// An element of input and output.
#[derive(Clone, Copy)]
struct Place {
    input: *const u8,
    output: *mut u8,
}

// SAFETY: threads read the input, which nobody writes but place for place, and write lines or chunks of their own (C2).
unsafe impl Sync for Place {}

impl Place {
    /// So many elements on along an axis.
    fn along(self, axis: &Axis, n: usize) -> Place {
        let n = n as isize;
        Place {
            input: self.input.wrapping_offset(n.wrapping_mul(axis.input)),
            output: self.output.wrapping_offset(n.wrapping_mul(axis.output)),
        }
    }
}

/// A tile: rows along the lines, lanes side by side.
#[derive(Clone, Copy)]
struct Rows {
    rows: usize,
    lanes: usize,
    row: Axis,
    lane: Axis,
}
