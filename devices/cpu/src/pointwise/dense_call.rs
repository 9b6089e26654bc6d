//! The shortest way to a kernel: a call whose operands are all dense runs of what the kernel takes becomes one call of
//! it, on one thread, with nothing staged but a number. Small calls are mostly this one, and its cost is what they are
//! measured by (decision 0009). Refuses every other call, which `driver.rs` handles; the results are the same.

use super::kernel_fn::{KernelFn, Traversal};
use super::kernel_spec::KernelSpec;
use super::non_temporal;
use super::operand_base::NumberBytes;
use crate::cast::{self, moved};
use crate::isa::Level;
use crate::staging::StageBlock;
use monomorph_core::DType;
use monomorph_core::structured::{Operand, Outputs};
use monomorph_iter::{GRAIN, TensorIter, Uniform, is_parallel};

/// The most inputs that a call by one call of the kernel has.
pub(super) const MAX_INPUTS: usize = 3;

/// The most elements for which a number is copied into a dense run beforehand: a staging block holds as many of any
/// dtype.
const MAX_NUMBER_SPREAD: usize = 128;

/// The most elements that one call of a kernel computes. Handing out parts took 180 ns, a sixth of a call on 64Ki bools
/// (decision 0010), so it is left out as long as no other thread would help; larger outputs may need non-temporal
/// stores, which only `planes.rs` asks for.
const SINGLE_CALL_MAX: usize = 1 << 20;

/// Whether so many elements are computed by one call of a kernel: no other thread would help, so there is nothing to
/// hand out.
#[inline(always)]
pub(super) fn fits_single_call(numel: usize) -> bool {
    const { assert!(SINGLE_CALL_MAX * DType::C128.size() <= non_temporal::NON_TEMPORAL_MIN) };
    numel <= GRAIN || numel <= SINGLE_CALL_MAX && !is_parallel(numel, GRAIN)
}

/// A call of a kernel, bound to memory.
///
/// Invariants:
/// * DC1: `out` and the tensors among `ins` are dense runs of `n` elements of the dtypes that the kernel takes, each
///   input is `out` or does not overlap it, and the kernel was chosen for this host.
/// * DC2: `number`, if there is one, is an input, and holds an element of the dtype that the kernel takes for it; `n`
///   is at most `MAX_NUMBER_SPREAD`.
pub(super) struct DenseCall {
    kernel: KernelFn,
    out: *mut u8,
    ins: [*const u8; MAX_INPUTS],
    n: usize,
    number: Option<NumberInput>,
}

/// An input that is a number: which one, and its element as the kernel takes it.
struct NumberInput {
    input: u8,
    size: u8,
    value: NumberBytes,
}

impl NumberInput {
    /// A number as input `input`, converted to dtype `want`.
    fn new(number: &monomorph_core::structured::Number, input: usize, want: DType, level: Level) -> NumberInput {
        let mut value = NumberBytes(number.bytes());
        if let Some(cast) = cast::cast(number.dtype(), want, level) {
            let from = value;
            // SAFETY: R1: each is 16 bytes, which hold an element of any dtype, and `from` is initialised; R2: they are
            // two locals.
            unsafe { cast.run(from.0.as_ptr(), value.0.as_mut_ptr(), 1) };
        }
        NumberInput { input: input as u8, size: want.size() as u8, value }
    }
}

impl DenseCall {
    /// The call of these inputs, none of them a number.
    #[inline(always)]
    pub(super) fn of(kernel: KernelFn, outputs: &Outputs<'_>, n: usize, ins: [*const u8; MAX_INPUTS]) -> DenseCall {
        DenseCall { kernel, out: outputs.data(0), ins, n, number: None }
    }

    /// Its kernel.
    pub(super) fn kernel(&self) -> KernelFn {
        self.kernel
    }

    /// The address of an operand, output first, of a call none of whose inputs is a number.
    pub(super) fn operand(&self, k: usize) -> Option<*mut u8> {
        match (k, &self.number) {
            (_, Some(_)) => None,
            (0, None) => Some(self.out),
            (k, None) => self.ins.get(k - 1).map(|at| at.cast_mut()),
        }
    }

    /// Whether a call whose tensors all have one dtype and one dense layout may be such a call: that dtype is the one
    /// the kernel computes in, so nothing is converted or rounded in between.
    #[inline(always)]
    pub(super) fn suits(uniform: &Uniform, spec: &KernelSpec, inputs: &[Operand<'_>]) -> bool {
        let is_direct = uniform.dtype() == spec.compute && uniform.output_dtype() == spec.dtype(0) && spec.masks == 0;
        is_direct && fits_single_call(uniform.numel()) && inputs.len() <= MAX_INPUTS
    }

    /// The inputs of such a call if all are tensors, for [`of`](DenseCall::of). The caller builds the call where it
    /// stays: a struct that was stored field by field and is then moved is copied by wide loads, which fail store
    /// forwarding and stall (decision 0009).
    ///
    /// # Safety
    ///
    /// As for [`new`](DenseCall::new).
    #[inline(always)]
    pub(super) unsafe fn tensor_inputs(
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<[*const u8; MAX_INPUTS]> {
        let out = outputs.data(0);
        let pointer = |k: usize| match inputs.get(k) {
            None => Some(std::ptr::null()),
            Some(Operand::Tensor(tensor)) => {
                // SAFETY: the storage stays borrowed until the call is dropped (E2 of `Executes`).
                let at = unsafe { tensor.data() }.cast_const();
                // A kernel looks for its output in one input only; as another input it would run element by element.
                (k == 0 || !std::ptr::eq(at, out)).then_some(at)
            }
            Some(_) => None,
        };
        Some([pointer(0)?, pointer(1)?, pointer(2)?])
    }

    /// A call that [`suits`](DenseCall::suits), of which an input may be a number.
    ///
    /// # Safety
    ///
    /// As for [`new`](DenseCall::new).
    #[inline(always)]
    pub(super) unsafe fn with_number(
        n: usize,
        spec: &KernelSpec,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<DenseCall> {
        let mut call = DenseCall::of(spec.kernel, outputs, n, [std::ptr::null(); MAX_INPUTS]);
        for (i, (input, place)) in inputs.iter().zip(&mut call.ins).enumerate() {
            match input {
                // SAFETY: the storage stays borrowed until the call is dropped (E2 of `Executes`).
                Operand::Tensor(tensor) => *place = unsafe { tensor.data() },
                Operand::Number(number) if call.number.is_none() && n <= MAX_NUMBER_SPREAD => {
                    call.number = Some(NumberInput::new(number, i, spec.compute, spec.level));
                }
                _ => return None,
            }
            if i != 0 && std::ptr::eq(*place, call.out) {
                return None;
            }
        }
        Some(call)
    }

    /// The call, if it is such a call.
    ///
    /// # Safety
    ///
    /// E1 and E2 of `Executes` for inputs and outputs, of which `iter` is the plan; `spec` has a kernel of the
    /// operator's formula, for the dtype that it computes in.
    #[inline]
    pub(super) unsafe fn new(
        iter: &TensorIter,
        spec: &KernelSpec,
        inputs: &[Operand<'_>],
        outputs: &Outputs<'_>,
    ) -> Option<DenseCall> {
        if !iter.is_flat()
            || !fits_single_call(iter.numel())
            || iter.must_be_serial()
            || inputs.len() > MAX_INPUTS
            || !spec.takes_common_dtype()
        {
            return None;
        }
        let want = |k: usize| spec.dtype(k);
        let mut dtypes = iter.dtypes();
        if dtypes.next() != Some(want(0)) {
            return None;
        }
        let mut call = DenseCall::of(spec.kernel, outputs, iter.numel(), [std::ptr::null(); MAX_INPUTS]);
        for ((i, input), dtype) in inputs.iter().enumerate().zip(dtypes) {
            match input {
                Operand::Tensor(tensor) => {
                    // SAFETY: the storage stays borrowed until the call is dropped (E2 of `Executes`).
                    let data = unsafe { tensor.data() };
                    // A kernel looks for its output in one input only; as another input it would run element by
                    // element.
                    let is_broadcast = iter.ndim() > 0 && iter.strides(i + 1)[0] == 0;
                    if is_broadcast
                        || dtype != want(i + 1)
                        || (i + 1 != spec.first_value() && std::ptr::eq(data, call.out))
                    {
                        return None;
                    }
                    call.ins[i] = data;
                }
                Operand::Number(number) if call.number.is_none() && call.n <= MAX_NUMBER_SPREAD => {
                    call.number = Some(NumberInput::new(number, i, want(i + 1), spec.level));
                }
                _ => return None,
            }
        }
        Some(call)
    }

    /// Computes every element. False if some operands have no result.
    ///
    /// # Safety
    ///
    /// K4 for `params`, and the operands are borrowed: nobody else writes inputs, or uses the output.
    #[inline]
    pub(super) unsafe fn run(&self, params: *const ()) -> bool {
        match &self.number {
            _ if self.n == 0 => true,
            // SAFETY: K1 to K3: all operands are tensors, so `out` and `ins` are dense runs as DC1 says; K4: the caller
            // promises it.
            None => unsafe { (self.kernel)(self.out, self.ins.as_ptr(), self.n, params, Traversal::Dense) },
            // SAFETY: the caller promises K4 and that the operands are borrowed.
            Some(number) => unsafe { self.run_with_number(number, params) },
        }
    }

    /// Computes every element where an input is a number, which is copied into a dense run first.
    ///
    /// # Safety
    ///
    /// As for [`run`](DenseCall::run).
    #[inline(never)]
    unsafe fn run_with_number(&self, number: &NumberInput, params: *const ()) -> bool {
        let mut block = StageBlock::NEW;
        let (data, size) = (block.data(), usize::from(number.size));
        // SAFETY: R1: the number is one element, read again and again (stride 0), and a block holds `n` of them (DC2);
        // R2: the block is a local.
        unsafe { moved(number.value.0.as_ptr(), 0, data, size as isize, size, self.n) };
        let mut ins = self.ins;
        ins[usize::from(number.input)] = data;
        // SAFETY: K1 to K3: tensors are dense runs as DC1 says, and the block, a local, was just filled with `n`
        // elements of the dtype that the kernel takes (DC2); K4: the caller promises it.
        unsafe { (self.kernel)(self.out, ins.as_ptr(), self.n, params, Traversal::Dense) }
    }
}
