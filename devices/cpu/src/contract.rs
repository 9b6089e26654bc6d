//! Contractions on the CPU: a plan's dimensions become layouts of matrices, and the products are those of `matrix`.
//!
//! The product is computed where the output lies. What is added is copied there first, so that the product accumulates
//! onto it. Where the output shares memory with an input, or its elements are not the values (a conjugate view), the
//! product is computed in memory of the call's own, and copied to the output in the end.

use crate::cast::Bits;
use crate::device::Cpu;
use crate::index::placed::product;
use crate::left_out::no_kernel;
use crate::matrix::{Layout, Matrices, Product};
use monomorph_core::strides::{DimVec, contiguous_strides};
use monomorph_core::structured::{Executes, Operand, Outputs};
use monomorph_core::{DType, Geometry, Result, Scalar, Strided, list, scalar_bytes};
use monomorph_ops::contract::{Contract, ContractFn, ContractInputs, ContractPlan, Dims};

/// A call bound to memory.
///
/// Invariants:
/// * P1: `a`, `b` and `addend` are inputs of the call, `output` is its output.
/// * P2: `c` is the output itself, or memory of its own with room for as many elements, in row-major order.
#[derive(Debug)]
pub struct Ready {
    /// `None` for an output without elements.
    product: Option<Product>,
    batch: usize,
    a: Input,
    b: Input,
    /// `None` where nothing is added, or where it is the output, which is there already.
    addend: Option<Input>,
    output: Input,
    c: *mut u8,
    c_strides: DimVec,
    /// The products of a batch are summed.
    sums: bool,
    /// Elements from one member of the batch to the next, of a, b and c.
    steps: [isize; 3],
    staged: Vec<u128>,
    /// B is frozen, and the only one, so that it is packed for all runs.
    packs: bool,
    packed: Option<Vec<u128>>,
}

// SAFETY: threads that share a call read its inputs, which nobody writes; its output and its own memory are written by
// who has the only reference.
unsafe impl Send for Ready {}

// SAFETY: every element of the inputs that is read lies in their geometries, whose dimensions the plan names; every
// element of the output is written by the product or by the copy of it. `ContractFn` is sealed, so plans are those of
// its meta function.
unsafe impl<F: ContractFn> Executes<Contract<F>> for Cpu {
    type Ready = Ready;

    unsafe fn ready(plan: &ContractPlan, inputs: &ContractInputs<'_>, outputs: &Outputs<'_>) -> Result<Ready> {
        // SAFETY: E1, E2.
        unsafe { Ready::new(plan, inputs.operands(), outputs) }
    }

    unsafe fn run(ready: &mut Ready, _: &ContractPlan) -> Result<()> {
        // SAFETY: E2.
        unsafe { ready.run() }
    }
}

/// A tensor as memory, or a copy of it that each run makes anew.
#[derive(Debug)]
struct Input {
    data: *mut u8,
    dtype: DType,
    sizes: DimVec,
    strides: DimVec,
    bits: Bits,
    /// The copy, in row-major order and without bits.
    own: Vec<u128>,
}

impl Input {
    fn new(data: *mut u8, g: &Geometry) -> Input {
        let bits = Bits::of(g.dtype(), g.is_conj(), g.is_neg());
        Input { data, dtype: g.dtype(), sizes: g.sizes().into(), strides: g.strides().into(), bits, own: Vec::new() }
    }

    /// An operand.
    ///
    /// # Safety
    ///
    /// Its storage stays borrowed as long as the result lives.
    unsafe fn of(operand: &Operand<'_>, dtype: DType) -> Input {
        match operand {
            // SAFETY: the caller's promise.
            Operand::Tensor(tensor) => Input::new(unsafe { tensor.data() }, tensor.geometry()),
            number => {
                let bytes = number.number().map_or([0; 16], |number| scalar_bytes(number, dtype));
                let mut own = vec![u128::from_ne_bytes(bytes)];
                let (data, bits) = (own.as_mut_ptr().cast(), Bits::default());
                Input { data, dtype, sizes: DimVec::new(), strides: DimVec::new(), bits, own }
            }
        }
    }

    /// Whether its elements lie where their type may be read.
    fn is_aligned(&self) -> bool {
        self.data.addr().is_multiple_of(self.dtype.to_real().size())
    }

    fn numel(&self) -> usize {
        product(self.sizes.iter().map(|&size| size as usize))
    }

    /// Makes room for a copy, if elements are not where a kernel may read them.
    fn stage_unaligned(&mut self) -> Result<()> {
        if !self.is_aligned() {
            self.own = room(self.numel(), self.dtype)?;
        }
        Ok(())
    }

    /// Where its elements are: bits of the copy are none.
    fn place(&self) -> (*mut u8, DimVec, Bits) {
        match self.own.is_empty() {
            true => (self.data, self.strides.clone(), self.bits),
            false => (self.own.as_ptr().cast_mut().cast(), contiguous_strides(&self.sizes), Bits::default()),
        }
    }

    /// What the kernel is to read: the elements, copied if there is room for that.
    ///
    /// # Safety
    ///
    /// The tensor is initialised, and nobody writes it meanwhile.
    unsafe fn refresh(&mut self) -> Result<*const u8> {
        let (place, strides, _) = self.place();
        if !std::ptr::eq(place, self.data) {
            let to = Strided { data: place, strides: &strides, dtype: self.dtype, conj: false, neg: false };
            // SAFETY: C1, C2 of `Device::copy`: the tensor is initialised (the caller's promise), and the target is
            // memory of our own with room for all elements.
            unsafe { crate::copy::copy(&self.sizes, to, self.strided(&self.strides)) }?;
        }
        Ok(place)
    }

    /// Its elements with these strides.
    fn strided<'a>(&self, strides: &'a [i64]) -> Strided<'a> {
        let Bits { conj, neg } = self.bits;
        Strided { data: self.data, strides, dtype: self.dtype, conj, neg }
    }
}

/// Memory for so many elements.
fn room(elements: usize, dtype: DType) -> Result<Vec<u128>> {
    let words = elements.saturating_mul(dtype.size()).div_ceil(size_of::<u128>());
    let mut room = list::with_capacity(words)?;
    room.resize(words, 0_u128);
    Ok(room)
}

/// The layout of the matrices in a tensor with these strides, and elements from one of a batch to the next.
fn layout(strides: &[i64], dims: Dims) -> (Layout, isize) {
    let [batch, row, col] = dims.map(|dim| dim.map_or(0, |d| strides[d] as isize));
    (Layout { row, col }, batch)
}

impl Ready {
    /// # Safety
    ///
    /// E1, E2 of [`Executes::ready`].
    unsafe fn new(plan: &ContractPlan, operands: &[Operand<'_>], outputs: &Outputs<'_>) -> Result<Ready> {
        let out = outputs.geometry(0);
        let (dtype, [batch, m, n, k]) = (out.dtype(), plan.sizes);
        let output = Input::new(outputs.data(0), out);
        // The last two operands are the factors.
        let factors = &operands[operands.len().saturating_sub(2)..];
        // SAFETY: E2.
        let factor = |i: usize| factors.get(i).map(|operand| unsafe { Input::of(operand, dtype) });
        let (Some(mut a), Some(mut b)) = (factor(0), factor(1)) else {
            return Err(no_kernel(dtype, "products of two factors").into());
        };
        let is_empty = out.numel() == 0;
        if !is_empty {
            a.stage_unaligned()?;
            b.stage_unaligned()?;
        }
        let stages = !is_empty && (plan.stages || !output.bits.is_none() || !output.is_aligned());
        let mut staged = if stages { room(out.numel(), dtype)? } else { Vec::new() };
        let (c, c_strides) = match stages {
            true => (staged.as_mut_ptr().cast(), contiguous_strides(out.sizes())),
            false => (output.data, output.strides.clone()),
        };
        let addend = operands.first().filter(|_| plan.adds && !is_empty);
        // SAFETY: E2.
        let addend = addend.map(|operand| unsafe { Input::of(operand, dtype) });
        // In the output already, in the same places: meta stages it otherwise.
        let addend = addend.filter(|addend| stages || !std::ptr::eq(addend.data, c));
        let ((_, a_strides, a_bits), (_, b_strides, b_bits)) = (a.place(), b.place());
        let (a_layout, a_step) = layout(&a_strides, plan.form.a);
        let (b_layout, b_step) = layout(&b_strides, plan.form.b);
        let (c_layout, c_step) = layout(&c_strides, plan.form.out);
        let a_bits = Bits { conj: a_bits.conj != (plan.conjugates && dtype.is_complex()), ..a_bits };
        // Nothing times NaN is nothing, as in every BLAS.
        let k = if plan.alpha.to_complex() == Scalar::Int(0).to_complex() { 0 } else { k };
        let beta = if plan.adds { plan.beta } else { Scalar::Int(0) };
        // Sums of no product are zero in every dtype; those of bool are zero bytes.
        let computed = if dtype == DType::Bool && k == 0 { DType::U8 } else { dtype };
        let product = match is_empty {
            true => None,
            false => Some(Product::new(
                computed,
                [m, n, k],
                [a_layout, b_layout, c_layout],
                [a_bits, b_bits],
                [plan.alpha, beta],
            )?),
        };
        let steps = [a_step, b_step, c_step];
        let sums = plan.form.a[0].is_some() && plan.form.out[0].is_none();
        let is_frozen = matches!(factors.get(1), Some(Operand::Tensor(tensor)) if tensor.is_frozen());
        let (packs, packed) = (is_frozen && batch == 1, None);
        Ok(Ready { product, batch, a, b, addend, output, c, c_strides, sums, steps, staged, packs, packed })
    }

    /// # Safety
    ///
    /// E2 of [`Executes::run`].
    unsafe fn run(&mut self) -> Result<()> {
        let Some(product) = self.product else { return Ok(()) };
        let dtype = self.output.dtype;
        let c = Strided { data: self.c, strides: &self.c_strides, dtype, conj: false, neg: false };
        if let Some(addend) = &self.addend {
            let strides = broadcast(addend, &self.output.sizes);
            // SAFETY: C1, C2 of `Device::copy`: the addend, broadcast, has the sizes of the output (meta) and is
            // initialised; the target is the output, which shares nothing with it, or memory of our own.
            unsafe { crate::copy::copy(&self.output.sizes, c, addend.strided(&strides)) }?;
        }
        // SAFETY: the inputs are initialised, and nobody writes them: what shares memory with the output is staged.
        let a = unsafe { self.a.refresh() }?;
        // SAFETY: as for the other one.
        let b = unsafe { self.b.refresh() }?;
        let (size, steps, first) = (dtype.size() as isize, self.steps, Matrices { a, b, c: self.c });
        let at = |i: usize| {
            let by = |operand: usize| (i as isize).wrapping_mul(steps[operand]).wrapping_mul(size);
            first.moved([by(0), by(1), by(2)])
        };
        // M1: the layouts are those of the tensors' dimensions, elements are aligned (others were staged) and
        // initialised; C is where beta is not zero, since the addend was copied to it or lies there. M2: the output
        // has no element twice, shares nothing with the inputs or is staged, and is ours.
        if self.sums {
            // One after another: each adds to what the ones before gave. Of none there is a sum, too.
            let mut product = product;
            if self.batch == 0 {
                product.k = 0;
            }
            for i in 0..self.batch.max(1) {
                // SAFETY: see above; the output is where it was.
                unsafe { product.run(at(i)) }?;
                product.beta = Scalar::Int(1);
            }
        } else {
            if self.packs && self.packed.is_none() {
                // SAFETY: see above.
                self.packed = unsafe { product.pack(first) }?;
            }
            // SAFETY: see above; what is packed is as it was then, since it is frozen.
            unsafe { product.run_batch(self.batch, at, self.packed.as_deref()) }?;
        }
        if !self.staged.is_empty() {
            let from = Strided { data: self.c, strides: &self.c_strides, dtype, conj: false, neg: false };
            // SAFETY: C1, C2 of `Device::copy`: the product was just computed in memory of our own; the output has the
            // same sizes, and nobody else uses it.
            unsafe { crate::copy::copy(&self.output.sizes, self.output.strided(&self.output.strides), from) }?;
        }
        Ok(())
    }
}

/// The strides of a tensor that is broadcast to these sizes.
fn broadcast(tensor: &Input, sizes: &[i64]) -> DimVec {
    let missing = sizes.len().saturating_sub(tensor.sizes.len());
    let stride = |d: usize| match d.checked_sub(missing) {
        Some(own) if tensor.sizes[own] == sizes[d] => tensor.strides[own],
        _ => 0,
    };
    (0..sizes.len()).map(stride).collect()
}
