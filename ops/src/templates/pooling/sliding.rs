//! Windows of one size at equal distances: their parameters, and what of them is accepted.

use super::{Layout, WindowAxis};
use monomorph_core::{ErrorKind, Result};
use smallvec::SmallVec;

/// The parameters of windows of one size.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'t> {
    /// Places of a window.
    pub kernel_size: &'t [i64],
    /// From one window to the next; none for the size of a window.
    pub stride: &'t [i64],
    /// How far windows begin before the input and end behind it.
    pub padding: &'t [i64],
    /// From one place of a window to the next.
    pub dilation: &'t [i64],
    /// Windows that end behind the padding count, too, if they begin before it.
    pub ceil_mode: bool,
    /// Places of the padding count in the size of a window.
    pub counts_padding: bool,
    /// What sums are divided by, instead of the size.
    pub divisor_override: Option<i64>,
}

impl<'t> Pool<'t> {
    /// Windows of maxima.
    pub fn maxima(
        kernel_size: &'t [i64],
        stride: &'t [i64],
        padding: &'t [i64],
        dilation: &'t [i64],
        ceil_mode: bool,
    ) -> Pool<'t> {
        let (counts_padding, divisor_override) = (false, None);
        Pool { kernel_size, stride, padding, dilation, ceil_mode, counts_padding, divisor_override }
    }

    /// The windows of dimensions of these sizes.
    pub(super) fn axes(&self, sizes: &[i64]) -> Result<SmallVec<[WindowAxis; 3]>> {
        let n = sizes.len();
        let is_list = |list: &[i64]| list.len() == 1 || list.len() == n;
        let lists = [
            ("kernel_size", self.kernel_size, false),
            ("stride", self.stride, true),
            ("padding", self.padding, false),
            ("dilation", self.dilation, false),
        ];
        for (arg, list, may_be_empty) in lists {
            let is_left_out = may_be_empty && list.is_empty();
            if !is_left_out && !is_list(list) {
                return Err(ErrorKind::ListLength { arg, got: list.len(), want: n }.into());
            }
        }
        if self.divisor_override == Some(0) {
            let rule = "argument divisor_override is 0; accepted is any other number, or None for the size of a window";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let at = |list: &[i64], d: usize| list.get(d).or(list.first()).copied();
        let axis = |(d, &input): (usize, &i64)| {
            let kernel = at(self.kernel_size, d).unwrap_or(1);
            let stride = at(self.stride, d).unwrap_or(kernel);
            let (padding, dilation) = (at(self.padding, d).unwrap_or(0), at(self.dilation, d).unwrap_or(1));
            self.axis(input, kernel, stride, padding, dilation)
        };
        sizes.iter().enumerate().map(axis).collect()
    }

    fn axis(&self, input: i64, kernel: i64, stride: i64, padding: i64, dilation: i64) -> Result<WindowAxis> {
        for (arg, got) in [("kernel_size", kernel), ("stride", stride), ("dilation", dilation)] {
            if got < 1 {
                return Err(ErrorKind::OutOfRange { arg, got, low: 1, high: i64::MAX }.into());
            }
        }
        let overflow =
            || ErrorKind::SizeOverflow { sizes: vec![input, kernel, padding], strides: vec![stride, dilation] };
        // Half of the limit, so that sums of two sizes cannot overflow.
        let limit = i64::MAX / 4;
        let extent = dilation.checked_mul(kernel - 1).filter(|extent| *extent < limit).ok_or_else(overflow)? + 1;
        if input > limit || stride > limit {
            return Err(overflow().into());
        }
        if !(0..=extent / 2).contains(&padding) {
            return Err(ErrorKind::OutOfRange { arg: "padding", got: padding, low: 0, high: extent / 2 }.into());
        }
        let room = input + 2 * padding - extent + if self.ceil_mode { stride - 1 } else { 0 };
        let mut windows = room.div_euclid(stride) + 1;
        // The last window begins before the end of the input.
        if self.ceil_mode && (windows - 1).saturating_mul(stride) >= input + padding {
            windows -= 1;
        }
        if windows < 1 {
            let rule = "a window is larger than the input with its padding; accepted are windows that fit";
            return Err(ErrorKind::ArgumentRule { rule }.into());
        }
        let counts_padding = self.counts_padding;
        let layout = Layout::Sliding { kernel, stride, padding, dilation, counts_padding };
        Ok(WindowAxis { input, windows, layout })
    }
}

/// The numbers of windows.
pub(super) fn windows(axes: &[WindowAxis]) -> SmallVec<[i64; 3]> {
    axes.iter().map(|axis| axis.windows).collect()
}
