//! One dimension that is resampled: which elements of the input each element of the output is made of, and their
//! weights. Positions and weights are computed in the precision that PyTorch computes them in, step by step.

use monomorph_core::{Result, list};

/// How elements between those of the input are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The nearest one, as PyTorch's `nearest` has it: the one at the position, rounded down.
    Nearest,
    /// The one whose centre is nearest.
    NearestExact,
    /// Two elements, by their distances.
    Linear,
    /// Four elements, by a cubic convolution with the coefficient -0.75.
    Cubic,
    /// A triangle as wide as the step between outputs.
    SmoothLinear,
    /// A cubic with the coefficient -0.5 as wide.
    SmoothCubic,
    /// Lanczos' windowed sinc of three lobes as wide.
    SmoothLanczos,
}

impl Mode {
    /// Filters that grow with the step between outputs.
    pub fn is_smooth(self) -> bool {
        matches!(self, Mode::SmoothLinear | Mode::SmoothCubic | Mode::SmoothLanczos)
    }

    /// True if an element of the output is one of the input.
    pub fn is_nearest(self) -> bool {
        matches!(self, Mode::Nearest | Mode::NearestExact)
    }

    /// Elements that a filter covers where outputs lie as close as inputs.
    fn width(self) -> i64 {
        match self {
            Mode::Nearest | Mode::NearestExact => 1,
            Mode::Linear | Mode::SmoothLinear => 2,
            Mode::Cubic | Mode::SmoothCubic => 4,
            Mode::SmoothLanczos => 6,
        }
    }
}

/// The precision of positions and weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// float32.
    Single,
    /// float64.
    Double,
}

impl Precision {
    /// A result of one step. Sums, products and quotients of float32 are exact in float64 before they are rounded, or
    /// far enough from ties, so this is float32's own result.
    fn round(self, x: f64) -> f64 {
        match self {
            Precision::Single => f64::from(x as f32),
            Precision::Double => x,
        }
    }
}

/// A dimension that is resampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResampleAxis {
    /// Elements of the input.
    pub input: i64,
    /// Elements of the output.
    pub output: i64,
    /// How elements are made.
    pub mode: Mode,
    /// The first elements and the last ones lie upon each other, rather than the borders of the elements.
    pub align_corners: bool,
    /// Outputs per input, if the caller gave it.
    pub scale: Option<f64>,
    /// PyTorch has two ways to compute positions and weights. In this one nearest elements have positions in float32
    /// whatever the dtype, without rounding where one size is twice the other, and weights of halves are not rounded.
    pub plain: bool,
}

/// The elements that each output is made of, and their weights.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Taps {
    /// Where those of each output begin, and the end.
    pub first: Vec<usize>,
    /// Elements of the input.
    pub index: Vec<i64>,
    /// Their weights.
    pub weight: Vec<f64>,
}

impl Taps {
    fn with_room(outputs: i64, each: i64) -> Result<Taps> {
        let (outputs, each) = (outputs.max(0) as usize, each.max(1) as usize);
        let mut taps = Taps {
            first: list::with_capacity(outputs.saturating_add(1))?,
            index: list::with_capacity(outputs.saturating_mul(each))?,
            weight: list::with_capacity(outputs.saturating_mul(each))?,
        };
        taps.first.push(0);
        Ok(taps)
    }

    fn push(&mut self, index: i64, weight: f64) {
        self.index.push(index);
        self.weight.push(weight);
    }

    fn close(&mut self) {
        self.first.push(self.index.len());
    }

    /// For each element of the input the outputs that it is part of.
    pub fn transposed(&self, input: i64) -> Result<Taps> {
        let mut counts: Vec<usize> = list::with_capacity(input as usize + 1)?;
        counts.resize(input as usize + 1, 0);
        self.index.iter().for_each(|&i| counts[i as usize + 1] += 1);
        (0..input as usize).for_each(|i| counts[i + 1] += counts[i]);
        let mut taps = Taps { first: counts.clone(), ..Taps::with_room(0, self.index.len() as i64)? };
        taps.index.resize(self.index.len(), 0);
        taps.weight.resize(self.index.len(), 0.0);
        for o in 0..self.first.len() - 1 {
            for k in self.first[o]..self.first[o + 1] {
                let place = &mut counts[self.index[k] as usize];
                (taps.index[*place], taps.weight[*place]) = (o as i64, self.weight[k]);
                *place += 1;
            }
        }
        Ok(taps)
    }
}

impl ResampleAxis {
    /// Elements of the input per element of the output.
    fn step(&self, p: Precision) -> f64 {
        if self.align_corners {
            return match self.output {
                ..=1 => 0.0,
                output => p.round(p.round((self.input - 1) as f64) / p.round((output - 1) as f64)),
            };
        }
        match self.scale.filter(|&scale| scale > 0.0) {
            Some(scale) => p.round(1.0 / scale),
            None => p.round(p.round(self.input as f64) / p.round(self.output as f64)),
        }
    }

    /// Where output `i` lies in the input.
    fn position(&self, step: f64, i: i64, p: Precision) -> f64 {
        if self.align_corners {
            return p.round(step * p.round(i as f64));
        }
        let at = p.round(step * (i as f64 + 0.5) - 0.5);
        if at < 0.0 && self.mode != Mode::Cubic { 0.0 } else { at }
    }

    /// The element at or before a position, and how far the position is behind it.
    fn guarded(&self, at: f64, p: Precision) -> (i64, f64) {
        // In float64, too, PyTorch rounds to float32 before it cuts.
        let index = ((at as f32).floor() as i64).min(self.input - 1);
        (index, p.round(at - index as f64).clamp(0.0, 1.0))
    }

    /// The elements of each output.
    pub fn taps(&self, p: Precision) -> Result<Taps> {
        if self.mode.is_smooth() {
            return self.smooth(p);
        }
        let mut taps = Taps::with_room(self.output, self.mode.width())?;
        let is_single = self.plain && self.mode.is_nearest();
        let step = self.step(if is_single { Precision::Single } else { p });
        for i in 0..self.output {
            match self.mode {
                Mode::Nearest | Mode::NearestExact => taps.push(self.nearest(step, i, p), 1.0),
                Mode::Cubic => {
                    let (index, behind) = self.guarded(self.position(step, i, p), p);
                    for (j, weight) in cubic_weights(behind, p).into_iter().enumerate() {
                        taps.push((index + j as i64 - 1).min(self.input - 1).max(0), weight);
                    }
                }
                // The weight of 0 makes NaN of infinities, as in PyTorch.
                _ if self.input == self.output => {
                    taps.push(i, 1.0);
                    taps.push(i, 0.0);
                }
                _ => {
                    let (index, behind) = self.guarded(self.position(step, i, p), p);
                    taps.push(index.max(0), p.round(1.0 - behind));
                    taps.push((index + 1).min(self.input - 1).max(0), behind);
                }
            }
            taps.close();
        }
        Ok(taps)
    }

    fn nearest(&self, step: f64, i: i64, p: Precision) -> i64 {
        let exact = self.mode == Mode::NearestExact;
        let at = match (self.plain, exact) {
            (true, false) if self.input == self.output => i as f32,
            (true, false) if self.input.checked_mul(2) == Some(self.output) => (i / 2) as f32,
            (true, false) => i as f32 * step as f32,
            (true, true) => ((i as f64 + 0.5) * step) as f32,
            (false, false) => p.round(step * p.round(i as f64)) as f32,
            (false, true) => (p.round(step * (i as f64 + 0.5) - 0.5).max(0.0) + 0.5) as f32,
        };
        // Sizes beyond the integers that float32 has are exact where nothing is computed.
        if self.plain && !exact && self.input == self.output {
            return i;
        }
        // A position that is no number, or beyond the end, is one of the ends.
        (at.floor() as i64).min(self.input - 1).max(0)
    }

    /// Filters as wide as the step, whose weights sum to 1.
    fn smooth(&self, p: Precision) -> Result<Taps> {
        if self.input == self.output {
            let mut taps = Taps::with_room(self.output, 1)?;
            for i in 0..self.output {
                taps.push(i, 1.0);
                taps.close();
            }
            return Ok(taps);
        }
        let step = self.step(p);
        let half = self.mode.width() as f64 * 0.5;
        let support = if step >= 1.0 { p.round(half * step) } else { half };
        let inverse = if step >= 1.0 { p.round(1.0 / step) } else { 1.0 };
        let most = (support.ceil() as i64).saturating_mul(2).saturating_add(1);
        let mut taps = Taps::with_room(self.output, most.min(self.input))?;
        for i in 0..self.output {
            let centre = p.round(step * (i as f64 + 0.5));
            let first = ((p.round(centre - support) + 0.5) as i64).max(0);
            let end = ((p.round(centre + support) + 0.5) as i64).min(self.input);
            let count = end.saturating_sub(first).clamp(0, most).min(self.input);
            let start = taps.index.len();
            let mut total = 0.0;
            for j in 0..count {
                let at = p.round((p.round((j + first) as f64 - centre) + 0.5) * inverse);
                let weight = self.filter(at, p);
                total = p.round(total + weight);
                taps.push(first + j, weight);
            }
            if total != 0.0 {
                taps.weight[start..].iter_mut().for_each(|weight| *weight = p.round(*weight / total));
            }
            taps.close();
        }
        Ok(taps)
    }

    fn filter(&self, x: f64, p: Precision) -> f64 {
        let x = x.abs();
        match self.mode {
            Mode::SmoothLinear => p.round((1.0 - x).max(0.0)),
            Mode::SmoothLanczos if x < 3.0 => p.round(p.round(sinc(x)) * p.round(sinc(p.round(x / 3.0)))),
            Mode::SmoothLanczos => 0.0,
            _ => cubic(x, -0.5, p),
        }
    }

    /// Weights as integers of 16 bits, and by how many bits they are shifted: PyTorch resamples uint8 so, one dimension
    /// after the other from the last one on, each rounded to uint8. A dimension that keeps its size is passed over.
    pub fn fixed_point(&self) -> Result<Option<(Taps, u32)>> {
        if self.input == self.output {
            return Ok(None);
        }
        let p = Precision::Double;
        let taps = if self.mode.is_smooth() { self.smooth(p)? } else { self.merged()? };
        let largest = taps.weight.iter().copied().fold(0.0, f64::max);
        let limit = f64::from(1 << 15);
        let fits = |bits: u32| (0.5 + largest * f64::from(1_u32 << (bits + 1))).trunc() < limit;
        let bits = (0..22).find(|&bits| !fits(bits)).unwrap_or(22);
        let rounded = |weight: f64| {
            let scaled = weight * f64::from(1_u32 << bits);
            (if scaled < 0.0 { scaled - 0.5 } else { scaled + 0.5 }).trunc()
        };
        let weight = taps.weight.iter().map(|&weight| rounded(weight)).collect();
        Ok(Some((Taps { weight, ..taps }, bits)))
    }

    /// Taps where those that lie beyond the ends are counted at the ends.
    fn merged(&self) -> Result<Taps> {
        let p = Precision::Double;
        let (mut taps, width) = (Taps::with_room(self.output, self.mode.width())?, self.mode.width());
        let (step, support) = (self.step(p), width / 2);
        for i in 0..self.output {
            let (index, behind) = self.guarded(self.position(step, i, p), p);
            let start = taps.index.len();
            for j in 0..width {
                let x = (j + 1 - support) as f64 - behind;
                let weight = if width == 2 { (1.0 - x.abs()).max(0.0) } else { cubic(x.abs(), -0.75, p) };
                let at = (index - support + 1 + j).min(self.input - 1).max(0);
                match taps.index[start..].last() {
                    Some(&last) if last == at => {
                        if let Some(sum) = taps.weight.last_mut() {
                            *sum += weight;
                        }
                    }
                    _ => taps.push(at, weight),
                }
            }
            taps.close();
        }
        Ok(taps)
    }
}

/// The cubic convolution with the coefficient `a`, at a distance.
fn cubic(x: f64, a: f64, p: Precision) -> f64 {
    let r = |x: f64| p.round(x);
    if x < 1.0 {
        let slope = r(r(r(r(a + 2.0) * x) - r(a + 3.0)) * x);
        return r(r(slope * x) + 1.0);
    }
    if x < 2.0 {
        let slope = r(r(r(a * x) - r(5.0 * a)) * x);
        return r(r(r(slope + r(8.0 * a)) * x) - r(4.0 * a));
    }
    0.0
}

/// The weights of four elements around a position that lies so far behind the second one.
fn cubic_weights(behind: f64, p: Precision) -> [f64; 4] {
    let before = p.round(1.0 - behind);
    // At a distance of 2 the outer branch is 0 as well, but for rounding, which is PyTorch's.
    let outer = |x: f64| {
        let (r, a) = (|x: f64| p.round(x), -0.75);
        r(r(r(r(r(r(a * x) - r(5.0 * a)) * x) + r(8.0 * a)) * x) - r(4.0 * a))
    };
    let inner = |x: f64| {
        let (r, a) = (|x: f64| p.round(x), -0.75);
        r(r(r(r(r(r(a + 2.0) * x) - r(a + 3.0)) * x) * x) + 1.0)
    };
    [outer(p.round(behind + 1.0)), inner(behind), inner(before), outer(p.round(before + 1.0))]
}

/// `sin(πx) / πx`.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = x * std::f64::consts::PI;
    x.sin() / x
}
