//! One dimension of windows: which places of the input each window covers, and for gradients which windows cover a
//! place. Both follow from a rule and are computed where they are needed, since a list would be as long as the output.

/// Places `start`, `start + step`, ... of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// The first one, which is beyond the end where there are none.
    pub start: i64,
    /// How many.
    pub count: i64,
}

/// How windows lie along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Of one size, at equal distances.
    Sliding {
        /// Places of a window.
        kernel: i64,
        /// From one window to the next.
        stride: i64,
        /// How far the first one begins before the input.
        padding: i64,
        /// From one place of a window to the next.
        dilation: i64,
        /// Places of the padding count in the size of a window.
        counts_padding: bool,
    },
    /// As many as wanted; each covers whatever belongs to it in part.
    Adaptive,
    /// Of one size, the first ones where random numbers say, the last one at the end. The operand 1 holds one number
    /// for each plane and dimension.
    Fractional {
        /// Places of a window.
        kernel: i64,
        /// Which number of a plane is that of this dimension.
        sample: usize,
    },
}

/// One dimension of windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowAxis {
    /// Places of the input.
    pub input: i64,
    /// The number of windows.
    pub windows: i64,
    /// How they lie.
    pub layout: Layout,
}

impl WindowAxis {
    /// From one place of a window to the next.
    pub fn step(&self) -> i64 {
        if let Layout::Sliding { dilation, .. } = self.layout { dilation } else { 1 }
    }

    /// The window `o`. Of fractional windows the last one; the others depend on data.
    pub fn window(&self, o: i64) -> Window {
        match self.layout {
            Layout::Sliding { kernel, stride, padding, dilation, .. } => {
                let start = o * stride - padding;
                let skipped = if start < 0 { (-start + dilation - 1) / dilation } else { 0 };
                let first = start + skipped * dilation;
                let inside = if first < self.input { (self.input - first - 1) / dilation + 1 } else { 0 };
                Window { start: first, count: inside.min(kernel - skipped).max(0) }
            }
            Layout::Adaptive => {
                let start = scaled(o, self.input, self.windows);
                Window { start, count: scaled_up(o + 1, self.input, self.windows) - start }
            }
            Layout::Fractional { kernel, .. } => Window { start: self.input - kernel, count: kernel },
        }
    }

    /// The windows that cover place `i` of the input; those of a dilation of 1.
    pub fn covering(&self, i: i64) -> Window {
        match self.layout {
            Layout::Sliding { kernel, stride, padding, .. } => {
                let behind = i + padding - kernel + 1;
                let first = if behind > 0 { (behind + stride - 1) / stride } else { 0 };
                let last = ((i + padding) / stride).min(self.windows - 1);
                Window { start: first, count: (last - first + 1).max(0) }
            }
            _ => {
                let start = scaled(i, self.windows, self.input);
                Window { start, count: scaled_up(i + 1, self.windows, self.input) - start }
            }
        }
    }

    /// What the sum over window `o` is divided by.
    pub fn divisor(&self, o: i64) -> i64 {
        match self.layout {
            Layout::Sliding { kernel, stride, padding, counts_padding: true, .. } => {
                let start = o * stride - padding;
                (start + kernel).min(self.input + padding) - start
            }
            _ => self.window(o).count,
        }
    }
}

/// `i * size / of`, rounded down.
fn scaled(i: i64, size: i64, of: i64) -> i64 {
    if let Some(product) = i.checked_mul(size) {
        return product / of.max(1);
    }
    (i128::from(i) * i128::from(size) / i128::from(of.max(1))) as i64
}

/// `i * size / of`, rounded up.
fn scaled_up(i: i64, size: i64, of: i64) -> i64 {
    if let Some(sum) = i.checked_mul(size).and_then(|product| product.checked_add(of.max(1) - 1)) {
        return sum / of.max(1);
    }
    let of = i128::from(of.max(1));
    ((i128::from(i) * i128::from(size) + of - 1) / of) as i64
}
