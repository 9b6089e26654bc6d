//! Tensors continued beyond their edges: reflection_pad, replication_pad, circular padding, and pad, which chooses. How
//! a border is made is in `border.rs`; gradients are in `border_gradients.rs`.
#![deny(clippy::arithmetic_side_effects)]

use super::border::{Beyond, Padding, continued, padded_by};
use super::callees::{Callees, Fillers};
use super::pad::{constant_pad_nd, overflow};
use crate::table::native;
use monomorph_core::{ErrorKind, Result};

const RULE: &str = "argument pad has two numbers for each of the last dimensions, 1 to 3; accepted are all but the \
    first dimension, or the first two";

/// Whether there is a pair of numbers for each dimension but the first one, of channels, or the first two.
fn fits(ndim: usize, pad: &[i64]) -> bool {
    pad.len() & 1 == 0 && matches!(ndim.checked_sub(pad.len() / 2), Some(1 | 2))
}

/// `_pad_circular`: beyond the last dimensions, those behind one of channels and maybe one of a batch, they start
/// again.
pub fn pad_circular<C: Callees>(calls: &C, this: &C::Tensor, pad: &[i64]) -> Result<C::Tensor> {
    let t = C::any(this);
    if !fits(t.ndim(), pad) {
        return Err(ErrorKind::ArgumentRule { rule: RULE }.into());
    }
    let paddings = Padding::all(t.sizes(), pad);
    for p in &paddings {
        let high = p.size;
        if let Some(got) = [p.front, p.behind].into_iter().find(|&by| by > high) {
            return Err(ErrorKind::OutOfRange { arg: "pad", got, low: i64::MIN, high }.into());
        }
        let got = p.padded().ok_or_else(|| overflow(t.sizes()))?;
        if got < 0 {
            return Err(ErrorKind::OutOfRange { arg: "padded size", got, low: 0, high: i64::MAX }.into());
        }
    }
    // What is cut off is not seen at the other end either.
    let (mut inside, mut added) = (this.clone(), Vec::with_capacity(paddings.len()));
    for p in paddings {
        let (start, behind) = (p.front.min(0).saturating_neg(), p.behind.min(0));
        let size = p.size.saturating_sub(start).saturating_add(behind);
        inside = calls.narrow(&inside, p.dim, start, size)?;
        added.push(Padding { size, ..p.added() });
    }
    continued(calls, &inside, &added, Beyond::Other)
}

/// `pad`: continued in the way that `mode` names.
pub fn pad<C: Fillers>(calls: &C, this: &C::Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<C::Tensor> {
    if mode == "constant" {
        return constant_pad_nd(calls, this, pad, value.unwrap_or(0.0).into());
    }
    if value.is_some_and(|value| value != 0.0) {
        let rule = "argument value is given and mode is not constant; accepted is a value beside the mode constant";
        return Err(ErrorKind::ArgumentRule { rule }.into());
    }
    let beyond = match mode {
        "reflect" => Beyond::Reflection,
        "replicate" => Beyond::Edge,
        "circular" => Beyond::Other,
        got => {
            let accepted = "constant, reflect, replicate and circular";
            return Err(ErrorKind::UnknownOption { arg: "mode", got: got.into(), accepted }.into());
        }
    };
    let count = pad.len() / 2;
    if !(1..=3).contains(&count) || !fits(C::any(this).ndim(), pad) {
        return Err(ErrorKind::ArgumentRule { rule: RULE }.into());
    }
    match (beyond, count) {
        (Beyond::Other, _) => pad_circular(calls, this, pad),
        (_, 1) => padded_by::<C, 1>(calls, this, pad, beyond),
        (_, 2) => padded_by::<C, 2>(calls, this, pad, beyond),
        _ => padded_by::<C, 3>(calls, this, pad, beyond),
    }
}

/// The operators over the last dimensions.
macro_rules! over_the_last {
    ($($dims:literal: $name:ident, $beyond:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub fn $name<C: Callees>(calls: &C, this: &C::Tensor, padding: &[i64]) -> Result<C::Tensor> {
            padded_by::<C, $dims>(calls, this, padding, Beyond::$beyond)
        }
    )*};
}
over_the_last! {
    1: reflection_pad1d, Reflection;
    2: reflection_pad2d, Reflection;
    3: reflection_pad3d, Reflection;
    1: replication_pad1d, Edge;
    2: replication_pad2d, Edge;
    3: replication_pad3d, Edge;
}

native! {
    family: Borders, functions: crate::fill::Fills;

    /// The tensor continued beyond its edges, in the way that `mode` names.
    ///
    /// `pad` has two numbers for each dimension that is padded, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. `constant` (unless options say otherwise) has a border of
    /// `value`, 0 without one, as [`constant_pad_nd`](super::functions::constant_pad_nd) has; `reflect`, `replicate`
    /// and `circular` continue the last one to three dimensions, behind one of channels and maybe one of a batch.
    ///
    /// ```
    /// let x = tensor![[1, 2, 3]];
    /// let with = |mode: &str| x.pad_with((2, 1), Pad { mode, ..Default::default() })?.to_vec::<i32>();
    /// assert_eq!(with("constant")?, [0, 0, 1, 2, 3, 0]);
    /// assert_eq!(with("reflect")?, [3, 2, 1, 2, 3, 2]);
    /// assert_eq!(with("replicate")?, [1, 1, 1, 2, 3, 3]);
    /// ```
    func: pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor,
    variants: function, direct: true, composed: implicit pad;

    func: _pad_circular(Tensor self, SymInt[] pad) -> Tensor,
    direct: true, composed: implicit pad_circular;

    /// The tensor continued beyond its last dimension as in mirrors at the edges.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. A reflection is shorter than the dimension. In front of
    /// them is a dimension of channels and maybe one of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2, 3]].reflection_pad1d((2, 1))?.to_vec::<i32>()?, [3, 2, 1, 2, 3, 2]);
    /// ```
    func: reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor,
    autogen: reflection_pad1d.out, variants: function, direct: true, composed: explicit reflection_pad1d;

    /// The tensor continued beyond its last two dimensions as in mirrors at the edges.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. A reflection is shorter than the dimension. In front of
    /// them is a dimension of channels and maybe one of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[[1, 2, 3]]].reflection_pad2d((2, 1, 0, 0))?.to_vec::<i32>()?, [3, 2, 1, 2, 3, 2]);
    /// ```
    func: reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor,
    out_restrided: reflection_pad2d.out, variants: function, direct: true, composed: explicit reflection_pad2d;

    /// The tensor continued beyond its last three dimensions as in mirrors at the edges.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. A reflection is shorter than the dimension. In front of
    /// them is a dimension of channels and maybe one of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[[[1, 2, 3]]]].reflection_pad3d([2, 1, 0, 0, 0, 0])?.to_vec::<i32>()?, [3, 2, 1, 2, 3, 2]);
    /// ```
    func: reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor,
    out_restrided: reflection_pad3d.out, variants: function, direct: true, composed: explicit reflection_pad3d;

    /// The tensor whose elements at the edges of its last dimension go on.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. In front of them is a dimension of channels and maybe one
    /// of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[1, 2, 3]].replication_pad1d((2, 1))?.to_vec::<i32>()?, [1, 1, 1, 2, 3, 3]);
    /// ```
    func: replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor,
    autogen: replication_pad1d.out, variants: function, direct: true, composed: explicit replication_pad1d;

    /// The tensor whose elements at the edges of its last two dimensions go on.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. In front of them is a dimension of channels and maybe one
    /// of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[[1, 2, 3]]].replication_pad2d((2, 1, 0, 0))?.to_vec::<i32>()?, [1, 1, 1, 2, 3, 3]);
    /// ```
    func: replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor,
    out_restrided: replication_pad2d.out, variants: function, direct: true, composed: explicit replication_pad2d;

    /// The tensor whose elements at the edges of its last three dimensions go on.
    ///
    /// `padding` has two numbers for each of these dimensions, from the last one on: how many elements are added in
    /// front and behind; negative numbers cut elements off. In front of them is a dimension of channels and maybe one
    /// of a batch. All dtypes but bool.
    ///
    /// ```
    /// assert_eq!(tensor![[[[1, 2, 3]]]].replication_pad3d([2, 1, 0, 0, 0, 0])?.to_vec::<i32>()?, [1, 1, 1, 2, 3, 3]);
    /// ```
    func: replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor,
    out_restrided: replication_pad3d.out, variants: function, direct: true, composed: explicit replication_pad3d;
}
