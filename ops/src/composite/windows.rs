//! `conv1d`, `conv2d`, `conv3d` and their transposed relatives. What they are composed of is in `convolutions.rs`.
#![deny(clippy::arithmetic_side_effects)]

use super::convolutions::{Beyond, Call, Convolves, convolved};
use crate::table::native;
use monomorph_core::Result;

/// The functions over each number of dimensions: with a padding in numbers, with one by name, transposed.
macro_rules! of_dimensions {
    ($($n:literal: $conv:ident, $named:ident, $transposed:ident;)*) => {$(
        #[doc = concat!("`", stringify!($conv), "`.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $conv<C: Convolves>(
            calls: &C,
            input: &C::Tensor,
            weight: &C::Tensor,
            bias: Option<&C::Tensor>,
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            groups: i64,
        ) -> Result<C::Tensor> {
            let call = Call { stride, beyond: Beyond::By(padding), dilation, transposed: None, groups };
            convolved::<C, $n>(calls, (input, weight, bias), call)
        }

        #[doc = concat!("`", stringify!($conv), ".padding`.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $named<C: Convolves>(
            calls: &C,
            input: &C::Tensor,
            weight: &C::Tensor,
            bias: Option<&C::Tensor>,
            stride: &[i64],
            padding: &str,
            dilation: &[i64],
            groups: i64,
        ) -> Result<C::Tensor> {
            let call = Call { stride, beyond: Beyond::Named(padding), dilation, transposed: None, groups };
            convolved::<C, $n>(calls, (input, weight, bias), call)
        }

        #[doc = concat!("`", stringify!($transposed), "`.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $transposed<C: Convolves>(
            calls: &C,
            input: &C::Tensor,
            weight: &C::Tensor,
            bias: Option<&C::Tensor>,
            stride: &[i64],
            padding: &[i64],
            output_padding: &[i64],
            groups: i64,
            dilation: &[i64],
        ) -> Result<C::Tensor> {
            let beyond = Beyond::By(padding);
            let call = Call { stride, beyond, dilation, transposed: Some(output_padding), groups };
            convolved::<C, $n>(calls, (input, weight, bias), call)
        }
    )*};
}
of_dimensions! {
    1: conv1d, conv1d_named, conv_transpose1d;
    2: conv2d, conv2d_named, conv_transpose2d;
    3: conv3d, conv3d_named, conv_transpose3d;
}

native! {
    family: ConvolutionsOf, functions: crate::kernels::AllKernels;

    /// Sums of the input under a window that slides over it, times the elements of the window.
    ///
    /// The input is `[images, channels, width]`, or without the first dimension; the weight is
    /// `[output channels, channels / groups, width]`.
    ///
    /// Options: `bias`, one number for each output channel; `stride`, from one place of the window to the next;
    /// `padding`, zeros on both sides; `dilation`, from one element of the window to the next; `groups` of channels,
    /// each with its own part of the weight. Input, weight and bias have one dtype, which is any but bool; a dilated
    /// window takes no integers but int64.
    ///
    /// ```
    /// let (x, w) = (tensor![[[1.0f32, 2.0, 4.0]]], tensor![[[1.0f32, -1.0]]]);
    /// assert_eq!(ops::conv1d(&x, &w)?.to_vec::<f32>()?, [-1.0, -2.0]);
    /// let padded = ops::conv1d_with(&x, &w, Conv1d { padding: &[1], ..Default::default() })?;
    /// assert_eq!(padded.to_vec::<f32>()?, [-1.0, -1.0, -2.0, 4.0]);
    /// ```
    func: conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0,
        SymInt[1] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, composed: implicit conv1d;

    /// [`conv1d`](super::functions::conv1d) with a padding by name: `"valid"` is none, and with `"same"` the
    /// result has the sizes of the input.
    ///
    /// `"same"` takes a stride of 1. Where an odd number of zeros is missing there is one more behind than in front.
    ///
    /// ```
    /// let (x, w) = (tensor![[[1.0f32, 2.0, 4.0]]], tensor![[[1.0f32, -1.0]]]);
    /// let same = ops::conv1d_named_with(&x, &w, Conv1dNamed { padding: "same", ..Default::default() })?;
    /// assert_eq!(same.to_vec::<f32>()?, [-1.0, -2.0, 4.0]);
    /// ```
    func: conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding="valid",
        SymInt[1] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, name: conv1d_named, composed: implicit conv1d_named;

    /// Adds the window, times each element of the input, to the result where it slides: the gradient of
    /// [`conv1d`](super::functions::conv1d) by its input.
    ///
    /// The input is `[images, channels, width]`, or without the first dimension; the weight is
    /// `[channels, output channels / groups, width]`.
    ///
    /// Options: `bias`; `stride`; `padding`, what is cut off on both sides; `output_padding`, what is added behind,
    /// less than stride or dilation; `dilation`; `groups`. Dtypes are floating-point and complex ones, and int64.
    ///
    /// ```
    /// let (x, w) = (tensor![[[1.0f32, 2.0]]], tensor![[[1.0f32, 10.0]]]);
    /// assert_eq!(ops::conv_transpose1d(&x, &w)?.to_vec::<f32>()?, [1.0, 12.0, 20.0]);
    /// ```
    func: conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0,
        SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor,
    variants: function, composed: implicit conv_transpose1d;

    /// Sums of the input under a window that slides over it, times the elements of the window.
    ///
    /// The input is `[images, channels, height, width]`, or without the first dimension; the weight is
    /// `[output channels, channels / groups, height, width]`.
    ///
    /// Options: `bias`, one number for each output channel; `stride`, from one place of the window to the next;
    /// `padding`, zeros on both sides; `dilation`, from one element of the window to the next; `groups` of channels,
    /// each with its own part of the weight. Input, weight and bias have one dtype, which is any but bool; a dilated
    /// window takes no integers but int64.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]]];
    /// let w = tensor![[[[1.0f32, 0.0], [0.0, 1.0]]]];
    /// assert_eq!(ops::conv2d(&x, &w)?.to_vec::<f32>()?, [6.0, 8.0]);
    /// let strided = ops::conv2d_with(&x, &w, Conv2d { stride: &[2, 2], ..Default::default() })?;
    /// assert_eq!(strided.to_vec::<f32>()?, [6.0]);
    /// ```
    func: conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0,
        SymInt[2] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, composed: implicit conv2d;

    /// [`conv2d`](super::functions::conv2d) with a padding by name: `"valid"` is none, and with `"same"` the
    /// result has the sizes of the input.
    ///
    /// `"same"` takes a stride of 1. Where an odd number of zeros is missing there is one more behind than in front.
    ///
    /// ```
    /// let x = tensor![[[[1.0f32, 2.0], [3.0, 4.0]]]];
    /// let w = tensor![[[[1.0f32, 1.0, 1.0]]]];
    /// let same = ops::conv2d_named_with(&x, &w, Conv2dNamed { padding: "same", ..Default::default() })?;
    /// assert_eq!(same.to_vec::<f32>()?, [3.0, 3.0, 7.0, 7.0]);
    /// ```
    func: conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid",
        SymInt[2] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, name: conv2d_named, composed: implicit conv2d_named;

    /// Adds the window, times each element of the input, to the result where it slides: the gradient of
    /// [`conv2d`](super::functions::conv2d) by its input.
    ///
    /// The input is `[images, channels, height, width]`, or without the first dimension; the weight is
    /// `[channels, output channels / groups, height, width]`.
    ///
    /// Options: `bias`; `stride`; `padding`, what is cut off on both sides; `output_padding`, what is added behind,
    /// less than stride or dilation; `dilation`; `groups`. Dtypes are floating-point and complex ones, and int64.
    ///
    /// ```
    /// let (x, w) = (tensor![[[[1.0f32, 2.0]]]], tensor![[[[1.0f32], [10.0]]]]);
    /// assert_eq!(ops::conv_transpose2d(&x, &w)?.to_vec::<f32>()?, [1.0, 2.0, 10.0, 20.0]);
    /// ```
    func: conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1,
        SymInt[2] padding=0,
        SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor,
    variants: function, composed: implicit conv_transpose2d;

    /// Sums of the input under a window that slides over it, times the elements of the window.
    ///
    /// The input is `[images, channels, depth, height, width]`, or without the first dimension; the weight is
    /// `[output channels, channels / groups, depth, height, width]`.
    ///
    /// Options: `bias`, one number for each output channel; `stride`, from one place of the window to the next;
    /// `padding`, zeros on both sides; `dilation`, from one element of the window to the next; `groups` of channels,
    /// each with its own part of the weight. Input, weight and bias have one dtype, which is any but bool; a dilated
    /// window takes no integers but int64.
    ///
    /// ```
    /// let (x, w) = (tensor![[[[[1.0f32, 2.0, 3.0]]]]], tensor![[[[[1.0f32, 1.0]]]]]);
    /// assert_eq!(ops::conv3d(&x, &w)?.to_vec::<f32>()?, [3.0, 5.0]);
    /// ```
    func: conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0,
        SymInt[3] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, composed: implicit conv3d;

    /// [`conv3d`](super::functions::conv3d) with a padding by name: `"valid"` is none, and with `"same"` the
    /// result has the sizes of the input.
    ///
    /// `"same"` takes a stride of 1. Where an odd number of zeros is missing there is one more behind than in front.
    ///
    /// ```
    /// let (x, w) = (tensor![[[[[1.0f32, 2.0, 3.0]]]]], tensor![[[[[1.0f32, 1.0]]]]]);
    /// let same = ops::conv3d_named_with(&x, &w, Conv3dNamed { padding: "same", ..Default::default() })?;
    /// assert_eq!(same.to_vec::<f32>()?, [3.0, 5.0, 3.0]);
    /// ```
    func: conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding="valid",
        SymInt[3] dilation=1, SymInt groups=1) -> Tensor,
    variants: function, name: conv3d_named, composed: implicit conv3d_named;

    /// Adds the window, times each element of the input, to the result where it slides: the gradient of
    /// [`conv3d`](super::functions::conv3d) by its input.
    ///
    /// The input is `[images, channels, depth, height, width]`, or without the first dimension; the weight is
    /// `[channels, output channels / groups, depth, height, width]`.
    ///
    /// Options: `bias`; `stride`; `padding`, what is cut off on both sides; `output_padding`, what is added behind,
    /// less than stride or dilation; `dilation`; `groups`. Dtypes are floating-point and complex ones, and int64.
    ///
    /// ```
    /// let (x, w) = (tensor![[[[[1.0f32, 2.0]]]]], tensor![[[[[1.0f32, 10.0]]]]]);
    /// assert_eq!(ops::conv_transpose3d(&x, &w)?.to_vec::<f32>()?, [1.0, 12.0, 20.0]);
    /// ```
    func: conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1,
        SymInt[3] padding=0,
        SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor,
    variants: function, composed: implicit conv_transpose3d;
}
