//! Tensors filled from distributions whose parameters are numbers.

use super::rule::{self, holds};
use super::{Distribution, Draw, Draws, draw};
use crate::copies::clone_tensor;
use crate::table::native;
use monomorph_core::{Error, ErrorKind, Generator, Result, Tensor, observe};

/// What a fill draws from, after the checks that it makes whatever the sizes are.
type Checked<'a, D> = Result<(Distribution, &'a mut Tensor<D>)>;

/// An in-place operator: `check` says what is drawn. Errors carry the name.
fn fill<'a, D: Draws>(
    name: &'static str,
    this: &'a mut Tensor<D>,
    generator: Option<&Generator>,
    check: impl FnOnce(&Tensor<D>) -> Result<Distribution>,
) -> Result<&'a mut Tensor<D>> {
    let _span = observe::operator(name, [this.geometry()]);
    let checked: Checked<'a, D> = check(this).map(|distribution| (distribution, this));
    checked.and_then(|(distribution, this)| draw(this, distribution, generator)).map_err(|e: Error| e.called(name))
}

/// A copy, filled in place.
fn filled<D: Draws>(
    name: &'static str,
    this: &Tensor<D>,
    fill: impl FnOnce(&mut Tensor<D>) -> Result<()>,
) -> Result<Tensor<D>> {
    let _span = observe::operator(name, [this.geometry()]);
    let mut out = clone_tensor(this, None)?;
    fill(&mut out)?;
    Ok(out)
}

/// Each in-place operator beside the one that fills a copy.
macro_rules! fills {
    ($(
        #[doc = $doc:literal]
        $in_place:ident, $functional:ident ($($parameter:ident: $ty:ty),*) |$this:ident| $check:expr;
    )*) => {$(
        #[doc = concat!("`", stringify!($in_place), "`: ", $doc)]
        pub fn $in_place<'a, D: Draws>(
            this: &'a mut Tensor<D>,
            $($parameter: $ty,)*
            generator: Option<&Generator>,
        ) -> Result<&'a mut Tensor<D>> {
            fill(stringify!($in_place), this, generator, |$this| $check)
        }

        #[doc = concat!("A copy after [`", stringify!($in_place), "`].")]
        pub fn $functional<D: Draws>(
            this: &Tensor<D>,
            $($parameter: $ty,)*
            generator: Option<&Generator>,
        ) -> Result<Tensor<D>> {
            filled(stringify!($functional), this, |out| $in_place(out, $($parameter,)* generator).map(drop))
        }
    )*};
}
fills! {
    #[doc = "numbers even over [from, to)."]
    uniform_, uniform(from: f64, to: f64) |this| {
        let is_empty_complex = this.dtype().is_complex() && this.numel() == 0;
        if !is_empty_complex {
            rule::check_uniform(this.dtype(), from, to)?;
        }
        Ok(Distribution::Uniform { from, to })
    };
    #[doc = "normal numbers. Of a complex one each part has half the variance."]
    normal_, normal(mean: f64, std: f64) |this| {
        check_std(std)?;
        let std = if this.dtype().is_complex() { std / std::f64::consts::SQRT_2 } else { std };
        Ok(Distribution::Normal { mean, std })
    };
    #[doc = "exponentials of normal numbers."]
    log_normal_, log_normal(mean: f64, std: f64) |_this| {
        holds(std > 0.0, "argument std is not above 0; accepted is a number above 0")?;
        Ok(Distribution::LogNormal { mean, std })
    };
    #[doc = "numbers of Cauchy's distribution."]
    cauchy_, cauchy(median: f64, sigma: f64) |this| {
        holds(sigma > 0.0, "argument sigma is not above 0; accepted is a number above 0")?;
        let distribution = Distribution::Cauchy { median, sigma };
        rule::check_dtype(distribution, this.dtype())?;
        Ok(distribution)
    };
    #[doc = "exponential numbers."]
    exponential_, exponential(lambd: f64) |_this| {
        holds(lambd > 0.0, "argument lambd is not above 0; accepted is a number above 0")?;
        Ok(Distribution::Exponential { rate: lambd })
    };
    #[doc = "how many trials there are up to the first success."]
    geometric_, geometric(p: f64) |_this| {
        holds(0.0 < p && p < 1.0, "argument p is not within 0 and 1; accepted is 0 < p < 1")?;
        Ok(Distribution::Geometric { p })
    };
    #[doc = "one with this probability, else zero."]
    bernoulli_, bernoulli_filled(p: f64) |_this| {
        holds((0.0..=1.0).contains(&p), "argument p is no probability; accepted is 0 <= p <= 1")?;
        Ok(Distribution::Bernoulli { p })
    };
    #[doc = "whole numbers from `from` up to and without `to`, or on to the last."]
    random_from_, random_from(from: i64, to: Option<i64>) |this| rule::range(this.dtype(), from, to);
    #[doc = "whole numbers from zero up to and without `to`."]
    random_to_, random_to(to: i64) |this| rule::range(this.dtype(), 0, Some(to));
    #[doc = "whole numbers of the dtype from zero on."]
    random_, random() |_this| Ok(Distribution::Whole);
}

/// An error for a standard deviation below zero.
pub(super) fn check_std(std: f64) -> Result<()> {
    holds(std >= 0.0, "argument std is below 0; accepted is a number of 0 or more")
}

/// `bernoulli.p`: a contiguous tensor of the sizes and the dtype, one with this probability, else zero.
pub fn bernoulli_p<D: Draws>(this: &Tensor<D>, p: f64, generator: Option<&Generator>) -> Result<Tensor<D>> {
    let _span = observe::operator("bernoulli", [this.geometry()]);
    let mut out = super::parameters::contiguous_like(this)?;
    bernoulli_(&mut out, p, generator)?;
    Ok(out)
}

/// `bernoulli.float_out`: the same into `out`.
pub fn bernoulli_float_out<D: Draws>(
    this: &Tensor<D>,
    p: f64,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("bernoulli", [this.geometry(), out.geometry()]);
    // As PyTorch's generated forms do: a copy of the tensor's strides is filled, and copied.
    if out.dtype() != this.dtype() {
        return Err(ErrorKind::OutputDType { index: 0, got: out.dtype(), want: this.dtype() }.into());
    }
    crate::table::write_out(&bernoulli_filled(this, p, generator)?, out)
}

native! {
    family: RandomFills, functions: Draws;

    structured: Draw;

    /// A copy of the tensor, filled with numbers that are even over [`from`, `to`).
    ///
    /// [`uniform_`](super::functions::uniform_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.uniform(1.0, 1.0)?.to_vec::<f32>()?, [1.0, 1.0]);
    /// ```
    func: uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor,
    autogen: uniform.out, variants: function, positional: [from, to], kernel: uniform;

    /// Fills the tensor with numbers that are even over [`from`, `to`).
    ///
    /// Floating dtypes and complex ones, whose parts are drawn each. The option `generator` is another source than the
    /// shared one.
    ///
    /// ```
    /// monomorph::manual_seed(0);
    /// let mut x = ops::zeros(2, F32)?;
    /// x.uniform_(0.0, 1.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.49625659, 0.7682218]);
    /// ```
    func: uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [from, to], kernel: uniform_;

    /// A copy of the tensor, filled with normal numbers.
    ///
    /// [`normal_`](super::functions::normal_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.normal(1.0, 0.0)?.to_vec::<f32>()?, [1.0, 1.0]);
    /// ```
    func: normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor,
    variants: function, name: normal, positional: [mean, std], kernel: normal;

    func: normal.out(Tensor self, float mean=0, float std=1, *, Generator? generator=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: normal_out;

    /// Fills the tensor with normal numbers of the mean `mean` and the standard deviation `std`.
    ///
    /// Floating dtypes and complex ones, of whose variance each part has half. The option `generator` is another
    /// source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(1000, F64)?;
    /// x.normal_(5.0, 0.5)?;
    /// assert!((x.mean(..)?.at::<f64>(())? - 5.0).abs() < 0.1);
    /// ```
    func: normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [mean, std], kernel: normal_;

    /// A copy of the tensor, filled with exponentials of normal numbers.
    ///
    /// [`log_normal_`](super::functions::log_normal_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.log_normal(0.0, 1.0)?.sizes(), [2]);
    /// ```
    func: log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor,
    autogen: log_normal.out, variants: function, positional: [mean, std], kernel: log_normal;

    /// Fills the tensor with exponentials of normal numbers of the mean `mean` and the standard deviation `std`.
    ///
    /// Floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(3, F32)?;
    /// x.log_normal_(0.0, 1.0)?;
    /// assert!(x.to_vec::<f32>()?.iter().all(|&x| x > 0.0));
    /// ```
    func: log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [mean, std], kernel: log_normal_;

    /// A copy of the tensor, filled with numbers of Cauchy's distribution.
    ///
    /// [`cauchy_`](super::functions::cauchy_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.cauchy(0.0, 1.0)?.sizes(), [2]);
    /// ```
    func: cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor,
    autogen: cauchy.out, variants: function, positional: [median, sigma], kernel: cauchy;

    /// Fills the tensor with numbers of Cauchy's distribution around `median`, half of which are within `sigma`.
    ///
    /// Floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(3, F64)?;
    /// x.cauchy_(0.0, 1.0)?;
    /// assert!(x.to_vec::<f64>()?.iter().all(|x| x.is_finite()));
    /// ```
    func: cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [median, sigma], kernel: cauchy_;

    /// A copy of the tensor, filled with exponential numbers.
    ///
    /// [`exponential_`](super::functions::exponential_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.exponential(1.0)?.sizes(), [2]);
    /// ```
    func: exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor,
    autogen: exponential.out, variants: function, positional: [lambd], kernel: exponential;

    /// Fills the tensor with exponential numbers of the rate `lambd`.
    ///
    /// Floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(3, F32)?;
    /// x.exponential_(2.0)?;
    /// assert!(x.to_vec::<f32>()?.iter().all(|&x| x >= 0.0));
    /// ```
    func: exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!),
    variants: function, positional: [lambd], kernel: exponential_;

    /// A copy of the tensor, filled with numbers of trials up to the first success.
    ///
    /// [`geometric_`](super::functions::geometric_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.geometric(0.5)?.sizes(), [2]);
    /// ```
    func: geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor,
    autogen: geometric.out, variants: function, kernel: geometric;

    /// Fills the tensor with numbers of trials up to the first success, whose probability is `p`.
    ///
    /// Integers and floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(3, I64)?;
    /// x.geometric_(0.5)?;
    /// assert!(x.to_vec::<i64>()?.iter().all(|&x| x >= 1));
    /// ```
    func: geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!),
    variants: function, kernel: geometric_;

    func: bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor,
    kernel: bernoulli_p;

    func: bernoulli.float_out(Tensor self, float p=0.5, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!),
    kernel: bernoulli_float_out;

    /// A copy of the tensor, filled with whole numbers.
    ///
    /// [`random_`](super::functions::random_) in place; the options are the same.
    ///
    /// ```
    /// assert_eq!(ops::zeros(2, F32)?.random(3, Some(4))?.to_vec::<f32>()?, [3.0, 3.0]);
    /// ```
    func: random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor,
    autogen: random.from_out, variants: function, kernel: random_from;

    /// Fills the tensor with whole numbers from `from` up to and without `to`, or on to the largest without it.
    ///
    /// Bool, integers and floating dtypes. The option `generator` is another source than the shared one.
    ///
    /// ```
    /// let mut x = ops::zeros(3, I32)?;
    /// x.random_(-1, Some(1))?;
    /// assert!(x.to_vec::<i32>()?.iter().all(|x| (-1..1).contains(x)));
    /// ```
    func: random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!),
    variants: function, kernel: random_from_;

    func: random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor,
    autogen: random.to_out, kernel: random_to;

    func: random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!),
    kernel: random_to_;

    func: random(Tensor self, *, Generator? generator=None) -> Tensor,
    autogen: random.out, kernel: random;

    func: random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!),
    kernel: random_;
}

/// `normal.out`: as the out= form of a functional result.
pub fn normal_out<D: Draws>(
    this: &Tensor<D>,
    mean: f64,
    std: f64,
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("normal", [this.geometry(), out.geometry()]);
    crate::table::write_out(&normal(this, mean, std, generator)?, out)
}
