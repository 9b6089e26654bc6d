//! Calls whose operands have only a few values: one or two bool tensors, or one of integers that the formula does not
//! tell apart. The kernel computes a lookup table of every value's result, and the output is filled from the table.
//!
//! ```text
//! a: [0 1]   or   a: [0 0 1 1]   or   a: [0]      the domain, a row for each tensor
//!                 b: [0 1 0 1]
//!        │ kernel, once                          table[…] = results as the output holds them
//!        ▼
//! out[i] = table[2 · a[i] + b[i]]                by the driver, with a kernel that looks up (`lookup_kernel.rs`)
//! ```
//!
//! So digamma of 65536 bools is computed twice, not 65536 times (decision 0024). The results are the kernel's own, bit
//! for bit. Refuses everything else.

use super::driver::Driver;
use super::kernel_fn::Traversal;
use super::kernel_spec::KernelSpec;
use super::lookup_kernel::{LookupParams, MAX_ELEMENT_BYTES, MAX_ENTRIES, MAX_TENSORS, lookup_kernel};
use super::operand_base::{MAX_OPERANDS, bases};
use super::row_layout::RowMode;
use crate::cast::{Bits, moved};
use crate::staging::{StageBlock, StageBuffer, Stager};
use crate::tile_copy::{Tile, TileCopier};
use monomorph_core::DType;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_iter::{GRAIN, TensorIter};
use smallvec::SmallVec;

/// The fewest elements that are looked up. Below, building the table costs about as much as it saves; no measurement of
/// the bound itself is recorded (decision 0024 has those of large calls).
const MIN_ELEMENTS: usize = 64;

/// The domain of one tensor of bool, and of two: for each, its value in every entry. Integers that are alike have one
/// entry, 0.
static DOMAIN: [[[u8; MAX_ELEMENT_BYTES]; MAX_TENSORS]; MAX_TENSORS] = {
    const fn row(values: [u8; MAX_ENTRIES]) -> [u8; MAX_ELEMENT_BYTES] {
        let [a, b, c, d] = values;
        [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }
    [[row([0, 1, 0, 0]), [0; MAX_ELEMENT_BYTES]], [row([0, 0, 1, 1]), row([0, 1, 0, 1])]]
};

/// Such a call, bound to memory.
///
/// Invariants:
/// * SD1: the kernel of `spec` was chosen for this host. `lookup` is a driver of [`lookup_kernel`] over the operands of
///   the iteration that the call was made for; `tensors` are those operands that are tensors, and have at most
///   `entries` values together.
/// * SD2: the iteration need not be serial, and its output is not lazily conjugated or negated.
pub(super) struct SmallDomainTable {
    spec: KernelSpec,
    lookup: Driver,
    tensors: Tensors,
    entries: usize,
}

/// Which operands are tensors, in order.
type Tensors = SmallVec<[usize; MAX_TENSORS]>;

impl SmallDomainTable {
    /// The call, if it is such a call. `integers_alike` says that the formula does not tell integers apart.
    ///
    /// # Safety
    ///
    /// As for [`DenseCall::new`](super::dense_call::DenseCall::new), of a formula without faults: a value that does not
    /// occur must not be an error.
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        spec: &KernelSpec,
        integers_alike: bool,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<SmallDomainTable> {
        let is_bool = |&k: &usize| iter.dtype(k) == DType::Bool;
        let tensors = (1..).zip(inputs).filter(|(_, input)| matches!(input, Operand::Tensor(_))).map(|(k, _)| k);
        let first = tensors.clone().next()?;
        let entries = match tensors.clone().count() {
            count @ ..=MAX_TENSORS if tensors.clone().all(|k| is_bool(&k)) => 1 << count,
            1 if integers_alike && iter.dtype(first).is_integral(false) => 1,
            _ => return None,
        };
        // A kernel that computes on bool is as fast as a lookup; with one tensor, at least if its rows are dense runs.
        let is_dense = || iter.strides(first).first().is_none_or(|&stride| stride == 1);
        let kernel_is_as_fast = spec.compute == DType::Bool && (entries == MAX_ENTRIES || is_dense());
        let plain = !kernel_is_as_fast
            && iter.numel() >= MIN_ELEMENTS
            && !iter.must_be_serial()
            && !iter.is_conj(0)
            && !iter.is_neg(0);
        if !plain || iter.noperands() != inputs.len() + 1 {
            return None;
        }
        // SAFETY: the caller promises E1, E2 and the kernel of a formula without faults; the tensors are of bool, or
        // one of integers.
        Some(unsafe { SmallDomainTable::bind(iter, spec, tensors.collect(), entries, inputs, outputs) })
    }

    /// # Safety
    ///
    /// As for [`new`](SmallDomainTable::new), and it is such a call.
    #[inline(never)]
    unsafe fn bind(
        iter: &TensorIter,
        spec: &KernelSpec,
        tensors: Tensors,
        entries: usize,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> SmallDomainTable {
        // SAFETY: the storages stay borrowed until the call is dropped (E2 of `Executes`).
        let bases = unsafe { bases(inputs, outputs) };
        let unconverted = |dtype| Stager::input(dtype, dtype, Bits::default(), spec.level);
        let stager = |k: usize| unconverted(if k == 0 { iter.dtype(0) } else { DType::Bool });
        let stagers: SmallVec<[Stager; 4]> = (0..iter.noperands()).map(stager).collect();
        let kernel = lookup_kernel(iter.dtype(0).size(), tensors.len(), spec.level);
        // SAFETY:
        // * D1: the bases are those of the operands that `iter` is the plan of (E1);
        // * D2: the kernel was chosen for this host; it writes outputs as they are, and reads one byte of each tensor's
        //   element. Other inputs it does not read, and one byte of each is staged.
        let lookup = unsafe { Driver::with_stagers(iter, kernel, (true, RowMode::Single), tensors[0], stagers, bases) };
        SmallDomainTable { spec: *spec, lookup, tensors, entries }
    }

    /// Computes every element. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// K4 for `params`; the operands are borrowed: nobody else writes inputs, or uses the output; `iter` is the
    /// iteration that the call was made for.
    pub(super) unsafe fn run(&self, iter: &TensorIter, params: *const ()) -> bool {
        let mut lookup = LookupParams { inputs: [0; MAX_TENSORS], table: StageBuffer::NEW };
        for (input, k) in lookup.inputs.iter_mut().zip(&self.tensors) {
            *input = k - 1;
        }
        let table = lookup.table.data();
        // SAFETY: the caller promises the same; the table has room for `MAX_ENTRIES` elements of any size.
        if !unsafe { self.build(iter, params, table) } {
            return false;
        }
        let size = iter.dtype(0).size();
        // SAFETY: `build` stored `entries` elements of `size` bytes at `table`, which nobody writes while the slice
        // lives.
        let results = unsafe { std::slice::from_raw_parts(table, self.entries * size) };
        if results.chunks_exact(size).all(|result| result == &results[..size]) {
            // SAFETY: the caller promises the same; the table begins with an element of the output's dtype.
            unsafe { self.fill(iter, table) };
            return true;
        }
        // SAFETY: K4: the kernel of the driver is a lookup, whose parameters these are (SD1), and nobody writes them;
        // the caller promises that the operands are borrowed and `iter` is the driver's.
        unsafe { self.lookup.run(iter, std::ptr::from_ref(&lookup).cast()) }
    }

    /// Builds the table: calls the kernel with every value of the domain. False if one has no result.
    ///
    /// # Safety
    ///
    /// As for [`run`](SmallDomainTable::run), and `table` has room for `entries` elements of the output.
    unsafe fn build(&self, iter: &TensorIter, params: *const (), table: *mut u8) -> bool {
        let mut blocks = [const { StageBlock::NEW }; MAX_OPERANDS];
        let mut scratch = StageBlock::NEW;
        let scratch = scratch.data();
        let mut ins = [std::ptr::null::<u8>(); MAX_OPERANDS];
        let mut domain = DOMAIN[self.tensors.len() - 1].iter();
        let tile = |inner: usize| Tile { cols: self.entries, rows: 1, inner: inner as isize, outer: 0 };
        for k in 1..iter.noperands() {
            let values = if self.tensors.contains(&k) { domain.next() } else { None };
            let from = values.map_or(self.lookup.base(k).cast_const(), |values| values.as_ptr());
            let block = blocks[k].data();
            // SAFETY:
            // * L1: a row of the domain has `entries` bools, or one integer 0 of up to 16 bytes; a number is one
            //   element, for which the stride is 0;
            // * L2: a block holds `entries <= 4` elements of any dtype; `scratch` is another one;
            // * L3: the domain is a constant, and nobody writes a number.
            unsafe { self.spec.stager(iter, k).load(from, tile(usize::from(values.is_some())), block, scratch) };
            ins[k - 1] = block;
        }
        let out = blocks[0].data();
        // SAFETY:
        // * K1 by SD1; K4: the caller promises it;
        // * K2: the blocks hold `entries` elements of the dtypes that the kernel takes;
        // * K3: they are different locals.
        if !unsafe { (self.spec.kernel)(out, ins.as_ptr(), self.entries, params, Traversal::Dense) } {
            return false;
        }
        let tile = tile(iter.dtype(0).size());
        // SAFETY:
        // * L1: the table has room for `entries` elements of the output; nobody else uses it;
        // * L2: a block holds `entries <= 4` elements of any dtype; `scratch` is another one, and the kernel filled
        //   `out`.
        unsafe { self.spec.stager(iter, 0).store(out, table, tile, scratch) };
        true
    }

    /// Fills the output with one value; the inputs are not read.
    ///
    /// # Safety
    ///
    /// As for [`run`](SmallDomainTable::run); `value` points to one element of the output's dtype.
    unsafe fn fill(&self, iter: &TensorIter, value: *const u8) {
        let bases: SmallVec<[*mut u8; 4]> = (0..iter.noperands()).map(|k| self.lookup.base(k)).collect();
        let (size, copier) = (iter.dtype(0).size(), TileCopier::at(self.spec.level));
        let value = SharedElement(value);
        let plane = |at: &[*mut u8], strides: &[isize], cols: usize, rows: usize| {
            let value = &value;
            let (inner, outer) = (strides[0], strides[at.len()]);
            if (Tile { cols, rows, inner, outer }).is_dense(size) {
                let all = Tile { cols: cols * rows, rows: 1, inner: 0, outer: 0 };
                // SAFETY: V1: the value is one element (strides are 0), and the output is a dense run of `cols * rows`
                // elements in bounds (W1); V2: the value is no element of the output, which nobody else uses (W2).
                return unsafe { copier.gather(value.0, &all, at[0], size) };
            }
            for row in 0..rows {
                let to = at[0].wrapping_offset(row as isize * outer);
                // SAFETY: R1: the value is one element (stride 0), and a row of the output has `cols` elements in
                // bounds (W1); R2: the value is no element of the output, which nobody else uses (W2).
                unsafe { moved(value.0, 0, to, inner, size, cols) };
            }
        };
        // SAFETY: W1: the bases are those of the operands that `iter` was planned for (SD1, D1 of the driver); W2: the
        // caller promises that nobody else writes inputs or uses the output.
        unsafe { iter.for_each(&bases, GRAIN, plane) };
    }
}

/// An element that several threads read.
struct SharedElement(*const u8);

// SAFETY: nobody writes what it points to as long as `fill` runs.
unsafe impl Sync for SharedElement {}
