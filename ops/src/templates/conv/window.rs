//! The window of a convolution: which parameters are accepted, and how large results are.
#![deny(clippy::arithmetic_side_effects)]

use monomorph_core::strides::DimVec;
use monomorph_core::{DType, ErrorKind, Result};

/// Sizes of the window, its parameters in each dimension, and groups of channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Elements of the window.
    pub taps: DimVec,
    /// From one place of the window to the next.
    pub stride: DimVec,
    /// How far the window may stand beyond the image on each side.
    pub padding: DimVec,
    /// From one element of the window to the next.
    pub dilation: DimVec,
    /// What the image of a transposed convolution has more than the window needs.
    pub output_padding: DimVec,
    /// Groups of channels.
    pub groups: i64,
}

/// The parameters of a window as they are given: stride, padding, dilation, output padding.
pub type Given<'a> = [&'a [i64]; 4];

/// A parameter for each dimension: as many as there are, or one for all.
fn expanded(given: &[i64], arg: &'static str, ndim: usize, low: i64) -> Result<DimVec> {
    if given.len() != ndim && given.len() != 1 {
        return Err(ErrorKind::ListLength { arg, got: given.len(), want: ndim }.into());
    }
    if let Some(&got) = given.iter().find(|&&got| got < low) {
        return Err(ErrorKind::OutOfRange { arg, got, low, high: i64::MAX }.into());
    }
    Ok((0..ndim).map(|i| given[if given.len() == 1 { 0 } else { i }]).collect())
}

fn unequal(arg: &'static str, got: &[i64], want: &[i64]) -> monomorph_core::Error {
    ErrorKind::UnequalSizes { arg, got: got.to_vec(), want: want.to_vec() }.into()
}

pub(super) fn overflow(sizes: &[i64]) -> monomorph_core::Error {
    ErrorKind::SizeOverflow { sizes: sizes.to_vec(), strides: Vec::new() }.into()
}

impl Window {
    /// A window of these sizes. Paddings are `low` or more.
    pub fn new(taps: &[i64], given: Given<'_>, groups: i64, low: i64) -> Result<Window> {
        let ndim = taps.len();
        let [stride, padding, dilation, output_padding] = given;
        if groups < 1 {
            return Err(ErrorKind::OutOfRange { arg: "groups", got: groups, low: 1, high: i64::MAX }.into());
        }
        Ok(Window {
            taps: taps.into(),
            stride: expanded(stride, "stride", ndim, 1)?,
            padding: expanded(padding, "padding", ndim, low)?,
            dilation: expanded(dilation, "dilation", ndim, 1)?,
            output_padding: expanded(output_padding, "output_padding", ndim, low)?,
            groups,
        })
    }

    /// The window of a weight with channels in front.
    pub fn of_weight(weight: &[i64], given: Given<'_>, groups: i64) -> Result<Window> {
        match weight {
            [_, _, taps @ ..] if (1..=3).contains(&taps.len()) => Window::new(taps, given, groups, 0),
            _ => Err(ErrorKind::DimCount { arg: "weight", got: weight.len(), accepted: "3, 4 and 5" }.into()),
        }
    }

    /// How many dimensions it has.
    pub fn ndim(&self) -> usize {
        self.taps.len()
    }

    /// Whether elements of the window are apart in some dimension.
    pub fn is_dilated(&self) -> bool {
        self.dilation.iter().any(|&d| d != 1)
    }

    /// Checks the channels of a convolution or transposed convolution, and gives the sizes of its result. An image
    /// without channels has a map without.
    pub fn result(&self, input: &[i64], weight: &[i64], bias: Option<&[i64]>, transposed: bool) -> Result<DimVec> {
        if input.len() != weight.len() {
            let accepted = ["3, as many as weight has", "4, as many as weight has", "5, as many as weight has"];
            let accepted = accepted[weight.len().saturating_sub(3).min(2)];
            return Err(ErrorKind::DimCount { arg: "input", got: input.len(), accepted }.into());
        }
        let (rows, columns, groups) = (weight[0], weight[1], self.groups);
        if rows < groups || rows.checked_rem(groups) != Some(0) {
            let rule = "the first size of weight is not a multiple of groups; accepted are groups that divide it";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let all = columns.checked_mul(groups).ok_or_else(|| overflow(weight))?;
        let (taken, made) = if transposed { (rows, all) } else { (all, rows) };
        if input[1] != taken {
            let mut want = input.to_vec();
            want[1] = taken;
            return Err(unequal("input", input, &want));
        }
        if let Some(bias) = bias
            && bias != [made]
        {
            return Err(unequal("bias", bias, &[made]));
        }
        let mut sizes = DimVec::from_slice(&[input[0], if taken == 0 { 0 } else { made }]);
        for (i, &size) in input[2..].iter().enumerate() {
            sizes.push(if transposed { self.image(i, size)? } else { self.map(i, size)? });
        }
        Ok(sizes)
    }

    /// Elements from the first one of the window to behind the last one.
    fn span(&self, i: usize) -> Option<i64> {
        self.taps[i].checked_sub(1)?.checked_mul(self.dilation[i])?.checked_add(1)
    }

    /// How many places the window has over so many elements.
    pub fn map(&self, i: usize, image: i64) -> Result<i64> {
        let padded = self.padding[i].checked_mul(2).and_then(|both| both.checked_add(image));
        let (Some(padded), Some(span)) = (padded, self.span(i)) else { return Err(overflow(&[image])) };
        let left = padded.saturating_sub(span);
        if left < 0 {
            let arg = "size of input with padding";
            return Err(ErrorKind::OutOfRange { arg, got: padded, low: span, high: i64::MAX }.into());
        }
        // The stride is 1 or more, so neither goes wrong.
        Ok(left.checked_div(self.stride[i]).unwrap_or(0).saturating_add(1))
    }

    /// Over how many elements the window has so many places.
    pub fn image(&self, i: usize, map: i64) -> Result<i64> {
        let size = || -> Option<i64> {
            let steps = map.checked_sub(1)?.checked_mul(self.stride[i])?;
            let both = self.padding[i].checked_mul(2)?;
            steps.checked_sub(both)?.checked_add(self.span(i)?)?.checked_add(self.output_padding[i])
        };
        let got = size().ok_or_else(|| overflow(&[map]))?;
        if got < 0 {
            return Err(ErrorKind::OutOfRange { arg: "size of the result", got, low: 0, high: i64::MAX }.into());
        }
        Ok(got)
    }

    /// An error unless the window has elements, and an image of some elements is there.
    pub fn check_elements(&self, input: &[i64], result: &[i64], transposed: bool) -> Result<()> {
        if self.taps.contains(&0) {
            return Err(ErrorKind::OutOfRange { arg: "kernel size", got: 0, low: 1, high: i64::MAX }.into());
        }
        if input.iter().skip(2).any(|&size| size == 0) {
            let rule = "argument input has no elements; accepted is that there are no images, or no channels";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        if result.iter().skip(1).any(|&size| size < 1) {
            return Err(ErrorKind::OutOfRange { arg: "size of the result", got: 0, low: 1, high: i64::MAX }.into());
        }
        if transposed {
            let steps = self.stride.iter().zip(&self.dilation).map(|(s, d)| s.max(d));
            if let Some((&got, &high)) = self.output_padding.iter().zip(steps).find(|(by, most)| by >= most) {
                let high = high.saturating_sub(1);
                return Err(ErrorKind::OutOfRange { arg: "output_padding", got, low: 0, high }.into());
            }
        }
        Ok(())
    }
}

/// An error unless a convolution takes the dtype, and the weight has it too.
pub fn check_dtypes(input: DType, weight: DType, all_integers: bool) -> Result<()> {
    let is_integer = input.is_integral(false) && (all_integers || input == DType::I64);
    if !(input.is_floating() || is_integer) {
        let what = "argument input has dtype";
        let accepted = match all_integers {
            true => "floating-point dtypes and integers",
            false => "floating-point dtypes and int64",
        };
        return Err(ErrorKind::DTypeNotSupported { what, got: input, accepted }.into());
    }
    if weight != input {
        return Err(ErrorKind::DTypeMismatch { arg: "weight", got: weight, want: input }.into());
    }
    Ok(())
}
