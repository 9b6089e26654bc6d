//! Elements where a mask holds, packed or written: `masked_select`, `masked_scatter`. The mask becomes the places of
//! its true elements, which `take` reads and `put` writes.

use super::nonzero::places;
use super::scatter::PutFn;
use super::select::TakeFn;
use super::{IndexInputs, Indexed};
use crate::copies::{clone_tensor, reshape};
use crate::functions::{narrow, new_zeros};
use crate::kernels::AllKernels;
use crate::order::check_overlap;
use crate::table::native;
use crate::view::expand;
use monomorph_core::overlap::{self, Place, Shared};
use monomorph_core::strides::broadcast_sizes;
use monomorph_core::structured::{Functional, Operand, Out, OutputSink, SinkState, StructuredOp, call, in_place};
use monomorph_core::{DType, DeviceId, Error, ErrorKind, MemoryFormat, Options, Result, Tensor, observe};

fn check_mask<D: AllKernels>(mask: &Tensor<D>) -> Result<()> {
    match mask.dtype() {
        DType::Bool => Ok(()),
        got => Err(ErrorKind::DTypeNotSupported { what: "argument mask has dtype", got, accepted: "bool" }.into()),
    }
}

/// The same, and an error for elements of another dtype.
fn check_source<D: AllKernels>(this: &Tensor<D>, mask: &Tensor<D>, source: &Tensor<D>) -> Result<()> {
    check_mask(mask)?;
    match (source.dtype(), this.dtype()) {
        (got, want) if got == want => Ok(()),
        (got, want) => Err(ErrorKind::DTypeMismatch { arg: "source", got, want }.into()),
    }
}

fn expanded<D: AllKernels>(t: &Tensor<D>, sizes: &[i64]) -> Result<Tensor<D>> {
    t.with_geometry(expand(t.geometry(), sizes, false)?)
}

/// Reads the elements at which the mask holds, after both are broadcast.
fn selected<D: AllKernels, R>(
    this: &Tensor<D>,
    mask: &Tensor<D>,
    read: impl FnOnce(&Tensor<D>, &Tensor<D>) -> Result<R>,
) -> Result<R> {
    check_mask(mask)?;
    let sizes = broadcast_sizes(this.sizes(), mask.sizes())?;
    read(&expanded(this, &sizes)?, &places(&expanded(mask, &sizes)?)?)
}

fn taken<'a, D: AllKernels, S: OutputSink<'a, D>>(
    this: &'a Tensor<D>,
    at: &'a Tensor<D>,
    sink: S,
) -> Result<S::Output<Indexed<TakeFn>>> {
    call::<Indexed<TakeFn>, D, S>(&IndexInputs::of([Operand::from(this), Operand::from(at)]), sink)
}

fn place<D: AllKernels>(t: &Tensor<D>) -> Place<'_> {
    Place::of(t.as_operand(), t.geometry())
}

/// `masked_select`.
pub fn masked_select<D: AllKernels>(this: &Tensor<D>, mask: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("masked_select", [this.geometry(), mask.geometry()]);
    let make = || {
        selected(this, mask, |this, at| {
            let [result] = taken(this, at, Functional::default())?;
            Ok(result)
        })
    };
    make().map_err(|e: Error| e.called("masked_select"))
}

/// `masked_select.out`.
pub fn masked_select_out<'a, D: AllKernels>(
    this: &Tensor<D>,
    mask: &Tensor<D>,
    out: &'a mut Tensor<D>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("masked_select", [this.geometry(), mask.geometry(), out.geometry()]);
    let mut make = || {
        super::overlap::check_single(out.geometry())?;
        if matches!(overlap::shared(&place(out), &place(mask)), Shared::Partial | Shared::Full) {
            return Err(ErrorKind::Overlap { output: 0, other: "argument mask".into() }.into());
        }
        selected(this, mask, |this, at| taken(this, at, Out([&mut *out])).map(drop))
    };
    make().map_err(|e: Error| e.called("masked_select"))?;
    Ok(out)
}

/// `masked_scatter_`: the elements of `source`, in their order, where the mask holds.
pub fn masked_scatter_<'a, D: AllKernels>(
    this: &'a mut Tensor<D>,
    mask: &Tensor<D>,
    source: &Tensor<D>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator("masked_scatter_", [this.geometry(), mask.geometry(), source.geometry()]);
    let mut make = || {
        check_source(this, mask, source)?;
        super::overlap::check_single(this.geometry())?;
        let at = places(&expanded(mask, this.sizes())?)?;
        if at.numel() > source.numel() {
            return Err(ErrorKind::ListLength { arg: "source", got: source.numel(), want: at.numel() }.into());
        }
        // What is read is what the source was before.
        let is_shared = source.storage_id() == this.storage_id();
        let source = if is_shared { clone_tensor(source, Some(MemoryFormat::Contiguous))? } else { source.clone() };
        let values = narrow(&reshape(&source, &[-1])?, 0, 0, at.numel() as i64)?;
        in_place(this, |input, sink, _| {
            let inputs = IndexInputs::of([Operand::from(input), Operand::from(&at), Operand::from(&values)]);
            call::<Indexed<PutFn>, D, _>(&inputs, sink)
        })?;
        Ok(())
    };
    make().map_err(|e: Error| e.called("masked_scatter_"))?;
    Ok(this)
}

/// A tensor in which the elements of another stand, in their order, where a mask holds.
pub struct MaskedScatter;

/// The inputs of a call.
///
/// Invariant: the tensor and the mask, which is bool, have the same sizes, and the source has the tensor's dtype.
pub struct MaskedScatterInputs<'t>([Operand<'t>; 3]);

impl<'t> MaskedScatterInputs<'t> {
    /// The tensor, the mask, and the source.
    pub fn operands(&self) -> &[Operand<'t>; 3] {
        &self.0
    }
}

/// What a device needs besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MaskedScatterPlan {
    /// The output may overwrite an operand, so those are to be copied first.
    pub copies: bool,
}

impl StructuredOp for MaskedScatter {
    const NAME: &'static str = "masked_scatter";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = MaskedScatterInputs<'t>;
    type Plan = MaskedScatterPlan;
    type Home = Self;

    fn operands<'a, 't>(inputs: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &inputs.0
    }

    fn meta(inputs: &Self::Inputs<'_>, sink: &mut SinkState<'_>, plan: &mut Self::Plan) -> Result<()> {
        let this = &inputs.0[0];
        let device = this.tensor().map_or(DeviceId::CPU, |t| t.device());
        let options = Options::new(this.dtype().unwrap_or(DType::F32), device);
        sink.set_output_contiguous(0, this.sizes(), options, None)?;
        let (_, copies) = check_overlap(&inputs.0, sink, false)?;
        *plan = MaskedScatterPlan { copies };
        Ok(())
    }
}

/// `masked_scatter`: of a contiguous copy, broadcast with the mask.
pub fn masked_scatter<D: AllKernels>(this: &Tensor<D>, mask: &Tensor<D>, source: &Tensor<D>) -> Result<Tensor<D>> {
    let _span = observe::operator("masked_scatter", [this.geometry(), mask.geometry(), source.geometry()]);
    let make = || {
        let sizes = broadcast_sizes(this.sizes(), mask.sizes())?;
        check_source(this, mask, source)?;
        let (this, mask) = (expanded(this, &sizes)?, expanded(mask, &sizes)?);
        let inputs = MaskedScatterInputs([(&this).into(), (&mask).into(), source.into()]);
        let [result] = call::<MaskedScatter, D, _>(&inputs, Functional::<D, 1>::default())?;
        Ok(result)
    };
    make().map_err(|e: Error| e.called("masked_scatter"))
}

/// `masked_scatter_backward`: the gradient of the source, zero behind the elements that were read.
pub fn masked_scatter_backward<D: AllKernels>(
    grad_output: &Tensor<D>,
    mask: &Tensor<D>,
    sizes: &[i64],
) -> Result<Tensor<D>> {
    let _span = observe::operator("masked_scatter_backward", [grad_output.geometry(), mask.geometry()]);
    let make = || {
        let read = masked_select(grad_output, mask)?;
        let (n, all) = (read.numel() as i64, monomorph_core::strides::numel(sizes)? as i64);
        if n >= all {
            return read.with_geometry(crate::view::view(read.geometry(), sizes)?);
        }
        let grad = new_zeros(&read, sizes)?;
        narrow(&reshape(&grad, &[-1])?, 0, 0, n)?.copy_from(&read)?;
        Ok(grad)
    };
    make().map_err(|e: Error| e.called("masked_scatter_backward"))
}

native! {
    family: Masked, functions: crate::kernels::AllKernels;

    structured: MaskedScatter;

    /// The elements at which the mask holds, in row-major order, as one dimension.
    ///
    /// Tensor and mask, which is bool, are broadcast. How many elements there are depends on the data, so a meta
    /// tensor is an error.
    ///
    /// ```
    /// let x = tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.masked_select(&x.gt(1)?)?.to_vec::<i32>()?, [2, 3, 4]);
    /// ```
    func: masked_select(Tensor self, Tensor mask) -> Tensor, variants: function, method, kernel: masked_select;

    func: masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!),
    variants: function, kernel: masked_select_out;

    /// A contiguous copy, broadcast with the mask, in which the elements of `source`, in their order, stand where the
    /// mask holds.
    ///
    /// `source` has the tensor's dtype and as many elements as the mask has true ones, or more.
    ///
    /// ```
    /// let x = tensor![1, 2, 3];
    /// let mask = tensor![true, false, true];
    /// assert_eq!(x.masked_scatter(&mask, &tensor![7, 8])?.to_vec::<i32>()?, [7, 2, 8]);
    /// ```
    func: masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor,
    autogen: masked_scatter.out, variants: function, method, kernel: masked_scatter;

    /// Writes the elements of `source`, in their order, where the mask holds, which broadcasts to the tensor.
    ///
    /// ```
    /// let mut x = tensor![1, 2, 3];
    /// x.masked_scatter_(&tensor![true, false, true], &tensor![7, 8])?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 2, 8]);
    /// ```
    func: masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!),
    variants: function, method, kernel: masked_scatter_;

    func: masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor,
    kernel: masked_scatter_backward;
}
