//! The products: mm, bmm, mv, dot, vdot, and those that are added to a tensor: addmm, baddbmm, addbmm, addmv.

use super::sealed::Sealed;
use super::{Contract, ContractFn, ContractInputs, Form};
use crate::kernels::Products as Kernels;
use crate::table::{native, resized};
use monomorph_core::structured::{FromArgs, Functional, Operand, call, in_place};
use monomorph_core::{Result, Scalar, Tensor, observe};

macro_rules! products {
    ($($(#[$doc:meta])* $op:ident $name:literal $form:ident [$a:literal, $b:literal] $({$($more:tt)*})?;)*) => {$(
        $(#[$doc])*
        pub struct $op;
        impl Sealed for $op {}
        impl ContractFn for $op {
            const NAME: &'static str = $name;
            const FORM: Form = Form::$form;
            const ARGS: [&'static str; 2] = [$a, $b];
            $($($more)*)?
        }
    )*};
}
products! {
    /// `mm`.
    MmFn "mm" MATRICES ["self", "mat2"];
    /// `addmm`.
    AddmmFn "addmm" MATRICES ["mat1", "mat2"];
    /// `bmm`.
    BmmFn "bmm" BATCHES ["self", "mat2"];
    /// `baddbmm`.
    BaddbmmFn "baddbmm" BATCHES ["batch1", "batch2"];
    /// `addbmm`.
    AddbmmFn "addbmm" SUM_OF_BATCHES ["batch1", "batch2"];
    /// `mv`.
    MvFn "mv" MATRIX_VECTOR ["self", "vec"];
    /// `addmv`.
    AddmvFn "addmv" MATRIX_VECTOR ["mat", "vec"] { const ADDEND_DIMS: Option<usize> = Some(1); };
    /// `dot`.
    DotFn "dot" VECTORS ["self", "tensor"];
    /// `vdot`.
    VdotFn "vdot" VECTORS ["self", "other"] { const CONJUGATES: bool = true; };
}

/// `addbmm_`: the result in place of a tensor, which is enlarged where it was broadcast.
pub fn addbmm_<D: Kernels>(
    this: &mut Tensor<D>,
    batch1: &Tensor<D>,
    batch2: &Tensor<D>,
    beta: Scalar,
    alpha: Scalar,
) -> Result<()> {
    let _span = observe::operator("addbmm_", [this.geometry(), batch1.geometry(), batch2.geometry()]);
    let factors = || (Operand::from(batch1), Operand::from(batch2));
    let is_result = match (batch1.sizes(), batch2.sizes()) {
        ([_, rows, _], [_, _, columns]) => *this.sizes() == [*rows, *columns],
        _ => true,
    };
    if is_result {
        return in_place(this, |this, sink, _| {
            let (a, b) = factors();
            let inputs = ContractInputs::from_args((Operand::from(this), a, b, beta, alpha))?;
            call::<Contract<AddbmmFn>, D, _>(&inputs, sink).map(drop)
        })
        .map(drop);
    }
    let result = {
        let (a, b) = factors();
        let inputs = ContractInputs::from_args((Operand::from(&*this), a, b, beta, alpha))?;
        let [result] = call::<Contract<AddbmmFn>, D, _>(&inputs, Functional::default())?;
        result
    };
    resized(this, result.sizes(), |this| this.copy_from(&result))
}

native! {
    family: Products;

    /// The product of two matrices.
    ///
    /// Both have one dtype, any but bool; nothing broadcasts. Halves are summed in float32 and rounded once, integers
    /// wrap.
    ///
    /// ```
    /// let (a, b) = (tensor![[1.0f32, 2.0], [3.0, 4.0]], tensor![[1.0f32], [10.0]]);
    /// assert_eq!(a.mm(&b)?.to_vec::<f32>()?, [21.0, 43.0]);
    /// ```
    func: mm(Tensor self, Tensor mat2) -> Tensor,
    out: mm.out, variants: function, method, structured: Contract<MmFn>;

    /// `beta` times a tensor and `alpha` times the product of two matrices, added.
    ///
    /// All have one dtype, any but bool. The tensor is broadcast to the sizes of the product; with `beta: 0` it is not
    /// read, so that its NaN does not count.
    ///
    /// ```
    /// let (a, b) = (tensor![[1.0f32, 2.0], [3.0, 4.0]], tensor![[1.0f32], [10.0]]);
    /// assert_eq!(tensor![0.5f32].addmm(&a, &b)?.to_vec::<f32>()?, [21.5, 43.5]);
    /// ```
    func: addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor,
    inplace: addmm_, out: addmm.out, variants: function, method, structured: Contract<AddmmFn>;

    /// The products of matrices, one for each member of a batch, the first dimension.
    ///
    /// Both have one dtype, any but bool; nothing broadcasts.
    ///
    /// ```
    /// let (a, b) = (tensor![[[1.0f32, 2.0]], [[3.0, 4.0]]], tensor![[[1.0f32], [10.0]], [[1.0], [1.0]]]);
    /// assert_eq!(a.bmm(&b)?.to_vec::<f32>()?, [21.0, 7.0]);
    /// ```
    func: bmm(Tensor self, Tensor mat2) -> Tensor,
    out: bmm.out, variants: function, method, structured: Contract<BmmFn>;

    /// `beta` times a tensor and `alpha` times the products of a batch of matrices, added.
    ///
    /// All have one dtype, any but bool. The tensor is broadcast to the sizes of the products; with `beta: 0` it is not
    /// read.
    ///
    /// ```
    /// let (a, b) = (tensor![[[1.0f32, 2.0]], [[3.0, 4.0]]], tensor![[[1.0f32], [10.0]], [[1.0], [1.0]]]);
    /// assert_eq!(tensor![1.0f32].baddbmm(&a, &b)?.to_vec::<f32>()?, [22.0, 8.0]);
    /// ```
    func: baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor,
    inplace: baddbmm_, out: baddbmm.out, variants: function, method, structured: Contract<BaddbmmFn>;

    /// `beta` times a tensor and `alpha` times the sum of the products of a batch of matrices, added.
    ///
    /// All have one dtype, any but bool. The tensor is broadcast to the sizes of one product; with `beta: 0` it is not
    /// read.
    ///
    /// ```
    /// let (a, b) = (tensor![[[1.0f32, 2.0]], [[3.0, 4.0]]], tensor![[[1.0f32], [10.0]], [[1.0], [1.0]]]);
    /// assert_eq!(tensor![1.0f32].addbmm(&a, &b)?.to_vec::<f32>()?, [29.0]);
    /// ```
    func: addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor,
    out: addbmm.out, variants: function, method, structured: Contract<AddbmmFn>;

    /// [`addbmm`](super::functions::addbmm) in place.
    ///
    /// Unlike other operators in place, it enlarges a tensor that is broadcast: that gets the sizes of the result, and
    /// its storage grows.
    ///
    /// ```
    /// let (a, b) = (tensor![[[1.0f32], [2.0]]], tensor![[[1.0f32, 10.0]]]);
    /// let mut sum = tensor![1.0f32];
    /// assert_eq!(sum.addbmm_(&a, &b)?.to_vec::<f32>()?, [2.0, 11.0, 3.0, 21.0]);
    /// ```
    func: addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!),
    variants: function, method, kernel: addbmm_;

    /// The product of a matrix and a vector.
    ///
    /// Both have one dtype, any but bool.
    ///
    /// ```
    /// let a = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// assert_eq!(a.mv(&tensor![1.0f32, 10.0])?.to_vec::<f32>()?, [21.0, 43.0]);
    /// ```
    func: mv(Tensor self, Tensor vec) -> Tensor,
    out: mv.out, variants: function, method, structured: Contract<MvFn>;

    /// `beta` times a vector and `alpha` times the product of a matrix and a vector, added.
    ///
    /// All have one dtype, any but bool. A vector of one element is broadcast; with `beta: 0` it is not read.
    ///
    /// ```
    /// let a = tensor![[1.0f32, 2.0], [3.0, 4.0]];
    /// let sum = tensor![1.0f32, 2.0].addmv(&a, &tensor![1.0f32, 10.0])?;
    /// assert_eq!(sum.to_vec::<f32>()?, [22.0, 45.0]);
    /// ```
    func: addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor,
    inplace: addmv_, out: addmv.out, variants: function, method, structured: Contract<AddmvFn>;

    /// The sum of the products of the elements of two vectors.
    ///
    /// Both have one dtype, any but bool, and one size.
    ///
    /// ```
    /// assert_eq!(tensor![1.0f32, 2.0].dot(&tensor![1.0f32, 10.0])?.at::<f32>(())?, 21.0);
    /// ```
    func: dot(Tensor self, Tensor tensor) -> Tensor,
    out: dot.out, variants: function, method, structured: Contract<DotFn>;

    /// The sum of the products of the elements of two vectors, those of the first conjugated.
    ///
    /// Both have one dtype, any but bool, and one size.
    ///
    /// ```
    /// assert_eq!(tensor![1.0f32, 2.0].vdot(&tensor![1.0f32, 10.0])?.at::<f32>(())?, 21.0);
    /// ```
    func: vdot(Tensor self, Tensor other) -> Tensor,
    out: vdot.out, variants: function, method, structured: Contract<VdotFn>;
}
