//! New random tensors: of sizes, and like another tensor.

use super::fills::{check_std, normal_, random_from_, uniform_};
use super::rule::{self, holds};
use super::{Distribution, Draws, draw};
use crate::factory::{empty, empty_like};
use crate::table::{native, resized, write_out};
use monomorph_core::{
    DEFAULT_FLOAT, DType, DeviceId, Error, Generator, Layout, MemoryFormat, Result, Scalar, Tensor, observe, strides,
};

/// The options of factories, and the source.
#[derive(Clone, Copy, Default)]
struct How<'g> {
    dtype: Option<DType>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
    generator: Option<&'g Generator>,
}

/// How the elements of a new tensor are drawn.
trait Source: Copy {
    /// The name that errors carry.
    const NAME: &'static str;

    /// What is refused for a dtype and a number of elements: before a tensor that is written gets other sizes.
    fn check(self, dtype: DType, elements: usize) -> Result<()>;

    /// Draws every element.
    fn fill<D: Draws>(self, out: &mut Tensor<D>, generator: Option<&Generator>) -> Result<()>;

    /// A new tensor of these sizes.
    fn make<D: Draws>(self, size: &[i64], how: How<'_>) -> Result<Tensor<D>> {
        let _span = observe::operator(Self::NAME, []);
        let made = empty(size, how.dtype, None, how.device, how.pin_memory, None).and_then(|mut out| {
            self.fill(&mut out, how.generator)?;
            Ok(out)
        });
        made.map_err(|e: Error| e.called(Self::NAME))
    }

    /// `out` with these sizes.
    fn write<D: Draws>(self, size: &[i64], generator: Option<&Generator>, out: &mut Tensor<D>) -> Result<()> {
        let _span = observe::operator(Self::NAME, [out.geometry()]);
        let elements = strides::numel(size)?;
        let checked = self.check(out.dtype(), elements);
        checked
            .and_then(|()| resized(out, size, |out| self.fill(out, generator)))
            .map_err(|e: Error| e.called(Self::NAME))
    }

    /// A new tensor like another one.
    fn like<D: Draws>(self, this: &Tensor<D>, how: How<'_>, format: Option<MemoryFormat>) -> Result<Tensor<D>> {
        let _span = observe::operator(Self::NAME, [this.geometry()]);
        let made = empty_like(this, how.dtype, None, how.device, how.pin_memory, format).and_then(|mut out| {
            self.fill(&mut out, how.generator)?;
            Ok(out)
        });
        made.map_err(|e: Error| e.called(Self::NAME))
    }

    /// The same in the dtype of `out`, copied there.
    fn write_like<D: Draws>(
        self,
        this: &Tensor<D>,
        generator: Option<&Generator>,
        format: Option<MemoryFormat>,
        out: &mut Tensor<D>,
    ) -> Result<()> {
        let how = How { dtype: Some(out.dtype()), generator, ..How::default() };
        write_out(&self.like(this, how, format)?, out)
    }
}

#[derive(Clone, Copy)]
struct Even;
impl Source for Even {
    const NAME: &'static str = "rand";
    fn check(self, dtype: DType, _: usize) -> Result<()> {
        rule::check_dtype(Distribution::Uniform { from: 0.0, to: 1.0 }, dtype)
    }
    fn fill<D: Draws>(self, out: &mut Tensor<D>, generator: Option<&Generator>) -> Result<()> {
        uniform_(out, 0.0, 1.0, generator).map(drop)
    }
}

#[derive(Clone, Copy)]
struct Normal(f64, f64);
impl Source for Normal {
    const NAME: &'static str = "randn";
    fn check(self, dtype: DType, elements: usize) -> Result<()> {
        // PyTorch takes any dtype where there is no element.
        match elements {
            0 => Ok(()),
            _ => rule::check_dtype(Distribution::Normal { mean: self.0, std: self.1 }, dtype),
        }
    }
    fn fill<D: Draws>(self, out: &mut Tensor<D>, generator: Option<&Generator>) -> Result<()> {
        normal_(out, self.0, self.1, generator).map(drop)
    }
}

#[derive(Clone, Copy)]
struct Integers(i64, i64);
impl Source for Integers {
    const NAME: &'static str = "randint";
    fn check(self, dtype: DType, _: usize) -> Result<()> {
        rule::range(dtype, self.0, Some(self.1)).map(drop)
    }
    fn fill<D: Draws>(self, out: &mut Tensor<D>, generator: Option<&Generator>) -> Result<()> {
        random_from_(out, self.0, Some(self.1), generator).map(drop)
    }
}

#[derive(Clone, Copy)]
struct Order(i64);
impl Source for Order {
    const NAME: &'static str = "randperm";
    fn check(self, dtype: DType, _: usize) -> Result<()> {
        rule::check_permutation(self.0, dtype)
    }
    fn fill<D: Draws>(self, out: &mut Tensor<D>, generator: Option<&Generator>) -> Result<()> {
        self.check(out.dtype(), out.numel())?;
        draw(out, Distribution::Permutation, generator).map(drop)
    }
}

/// Factories of sizes: by the shared source and by one that is given, each as a new tensor and into `out`.
macro_rules! of_sizes {
    ($($make:ident $by:ident $write:ident $write_by:ident: ($($arg:ident: $ty:ty),*) $source:expr, $size:expr;)*) => {$(
        #[doc = concat!("`", stringify!($make), "`: a new tensor, by the shared source.")]
        pub fn $make<D: Draws>(
            $($arg: $ty,)*
            dtype: Option<DType>,
            _layout: Option<Layout>,
            device: Option<DeviceId>,
            pin_memory: Option<bool>,
        ) -> Result<Tensor<D>> {
            $source.make($size, How { dtype, device, pin_memory, generator: None })
        }

        #[doc = concat!("[`", stringify!($make), "`] by a source.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $by<D: Draws>(
            $($arg: $ty,)*
            generator: Option<&Generator>,
            dtype: Option<DType>,
            _layout: Option<Layout>,
            device: Option<DeviceId>,
            pin_memory: Option<bool>,
        ) -> Result<Tensor<D>> {
            $source.make($size, How { dtype, device, pin_memory, generator })
        }

        #[doc = concat!("[`", stringify!($make), "`] into `out`.")]
        pub fn $write<D: Draws>($($arg: $ty,)* out: &mut Tensor<D>) -> Result<()> {
            $source.write($size, None, out)
        }

        #[doc = concat!("[`", stringify!($by), "`] into `out`.")]
        pub fn $write_by<D: Draws>($($arg: $ty,)* generator: Option<&Generator>, out: &mut Tensor<D>) -> Result<()> {
            $source.write($size, generator, out)
        }
    )*};
}
of_sizes! {
    rand rand_by rand_out rand_by_out: (size: &[i64]) Even, size;
    randn randn_by randn_out randn_by_out: (size: &[i64]) Normal(0.0, 1.0), size;
    randint randint_by randint_out randint_by_out: (high: i64, size: &[i64]) Integers(0, high), size;
    randint_from randint_from_by randint_from_out randint_from_by_out: (low: i64, high: i64, size: &[i64])
        Integers(low, high), size;
    randperm randperm_by randperm_out randperm_by_out: (n: i64) Order(n), &[n];
}

/// The highest number in a tensor without dimensions.
fn highest<D: Draws>(high: &Tensor<D>) -> Result<i64> {
    holds(high.ndim() == 0, "argument high has dimensions; accepted is a tensor of none")?;
    Ok(match high.item()? {
        Scalar::Int(high) => high,
        Scalar::Bool(high) => i64::from(high),
        Scalar::Float(high) => high as i64,
        Scalar::Complex(high) => high.re as i64,
    })
}

/// Factories like a tensor, in the same four forms.
macro_rules! like {
    ($($make:ident $by:ident $write:ident $write_by:ident: ($($arg:ident: $ty:ty),*) $source:expr;)*) => {$(
        #[doc = concat!("`", stringify!($make), "`: a new tensor like another one, by the shared source.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $make<D: Draws>(
            this: &Tensor<D>,
            $($arg: $ty,)*
            dtype: Option<DType>,
            _layout: Option<Layout>,
            device: Option<DeviceId>,
            pin_memory: Option<bool>,
            memory_format: Option<MemoryFormat>,
        ) -> Result<Tensor<D>> {
            $source.like(this, How { dtype, device, pin_memory, generator: None }, memory_format)
        }

        #[doc = concat!("[`", stringify!($make), "`] by a source.")]
        #[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
        pub fn $by<D: Draws>(
            this: &Tensor<D>,
            $($arg: $ty,)*
            generator: Option<&Generator>,
            dtype: Option<DType>,
            _layout: Option<Layout>,
            device: Option<DeviceId>,
            pin_memory: Option<bool>,
            memory_format: Option<MemoryFormat>,
        ) -> Result<Tensor<D>> {
            $source.like(this, How { dtype, device, pin_memory, generator }, memory_format)
        }

        #[doc = concat!("[`", stringify!($make), "`] into `out`.")]
        pub fn $write<D: Draws>(
            this: &Tensor<D>,
            $($arg: $ty,)*
            memory_format: Option<MemoryFormat>,
            out: &mut Tensor<D>,
        ) -> Result<()> {
            $source.write_like(this, None, memory_format, out)
        }

        #[doc = concat!("[`", stringify!($by), "`] into `out`.")]
        pub fn $write_by<D: Draws>(
            this: &Tensor<D>,
            $($arg: $ty,)*
            generator: Option<&Generator>,
            memory_format: Option<MemoryFormat>,
            out: &mut Tensor<D>,
        ) -> Result<()> {
            $source.write_like(this, generator, memory_format, out)
        }
    )*};
}
like! {
    rand_like rand_like_by rand_like_out rand_like_by_out: () Even;
    randn_like randn_like_by randn_like_out randn_like_by_out: () Normal(0.0, 1.0);
    randint_like randint_like_by randint_like_out randint_like_by_out: (high: i64) Integers(0, high);
    randint_like_from randint_like_from_by randint_like_from_out randint_like_from_by_out: (low: i64, high: i64)
        Integers(low, high);
    randint_like_below randint_like_below_by randint_like_below_out randint_like_below_by_out: (high: &Tensor<D>)
        Integers(0, highest(high)?);
}

/// `normal.float_float`: a new tensor of normal numbers.
#[allow(clippy::too_many_arguments, reason = "they are those of the schema")]
pub fn normal_of_sizes<D: Draws>(
    mean: f64,
    std: f64,
    size: &[i64],
    generator: Option<&Generator>,
    dtype: Option<DType>,
    _layout: Option<Layout>,
    device: Option<DeviceId>,
    pin_memory: Option<bool>,
) -> Result<Tensor<D>> {
    let _span = observe::operator("normal", []);
    check_std(std)?;
    Normal(mean, std).make(size, How { dtype: dtype.or(Some(DEFAULT_FLOAT)), device, pin_memory, generator })
}

/// `normal.float_float_out`: the same into `out`.
pub fn normal_of_sizes_out<D: Draws>(
    mean: f64,
    std: f64,
    size: &[i64],
    generator: Option<&Generator>,
    out: &mut Tensor<D>,
) -> Result<()> {
    let _span = observe::operator("normal", [out.geometry()]);
    check_std(std)?;
    Normal(mean, std).write(size, generator, out)
}

native! {
    family: RandomFactories, functions: Draws;

    /// A tensor of the sizes `size` whose elements are even over [0, 1).
    ///
    /// The dtype is float32 for `None`; floating and complex ones are accepted. Of complex numbers each part is drawn.
    ///
    /// ```
    /// monomorph::manual_seed(0);
    /// assert_eq!(ops::rand(2, F32)?.to_vec::<f32>()?, [0.49625659, 0.7682218]);
    /// ```
    func: rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: rand;

    func: rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: rand_by;

    func: rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: rand_out;

    func: rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!),
    kernel: rand_by_out;

    /// A tensor of the sizes `size` of normal numbers of mean 0 and standard deviation 1.
    ///
    /// The dtype is float32 for `None`; floating and complex ones are accepted. Of a complex number's variance each
    /// part has half.
    ///
    /// ```
    /// monomorph::manual_seed(0);
    /// assert_eq!(ops::randn(2, F32)?.to_vec::<f32>()?, [1.5409961, -0.2934289]);
    /// ```
    func: randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor,
    variants: function, positional: [dtype], kernel: randn;

    func: randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: randn_by;

    func: randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: randn_out;

    func: randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!),
    kernel: randn_by_out;

    func: randint(SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor,
    kernel: randint;

    func: randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=long, Layout?
        layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: randint_by;

    func: randint.out(SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_out;

    func: randint.generator_out(SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_by_out;

    /// A tensor of the sizes `size` of whole numbers from `low` up to and without `high`.
    ///
    /// The dtype is int64, unless the option `dtype` says another one.
    ///
    /// ```
    /// monomorph::manual_seed(0);
    /// assert_eq!(ops::randint(0, 10, 4)?.to_vec::<i64>()?, [4, 9, 3, 0]);
    /// ```
    func: randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor,
    variants: function, name: randint, kernel: randint_from;

    func: randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType?
        dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: randint_from_by;

    func: randint.low_out(SymInt low, SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_from_out;

    func: randint.low_generator_out(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out)
        -> Tensor(a!),
    kernel: randint_from_by_out;

    /// The numbers from 0 up to and without `n`, each once, in random order.
    ///
    /// The dtype is int64, unless the option `dtype` says another one that holds them all.
    ///
    /// ```
    /// let mut order = ops::randperm(5)?.to_vec::<i64>()?;
    /// order.sort();
    /// assert_eq!(order, [0, 1, 2, 3, 4]);
    /// ```
    func: randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor,
    variants: function, kernel: randperm;

    func: randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor,
    kernel: randperm_by;

    func: randperm.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!),
    kernel: randperm_out;

    func: randperm.generator_out(SymInt n, *, Generator? generator, Tensor(a!) out) -> Tensor(a!),
    kernel: randperm_by_out;

    /// A tensor of the sizes, the dtype and the order of strides of `self` whose elements are even over [0, 1).
    ///
    /// The option `dtype` says another dtype.
    ///
    /// ```
    /// let x = ops::zeros((2, 3), F64)?.rand_like()?;
    /// assert!(x.to_vec::<f64>()?.iter().all(|x| (0.0..1.0).contains(x)));
    /// ```
    func: rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: rand_like;

    func: rand_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: rand_like_out;

    func: rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: rand_like_by;

    func: rand_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!)
        out) -> Tensor(a!),
    kernel: rand_like_by_out;

    /// A tensor of the sizes, the dtype and the order of strides of `self` of normal numbers of mean 0 and standard
    /// deviation 1.
    ///
    /// The option `dtype` says another dtype.
    ///
    /// ```
    /// assert_eq!(ops::zeros((2, 3), F64)?.randn_like()?.sizes(), [2, 3]);
    /// ```
    func: randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    variants: function, kernel: randn_like;

    func: randn_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: randn_like_out;

    func: randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: randn_like_by;

    func: randn_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: randn_like_by_out;

    func: randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: randint_like;

    func: randint_like.out(Tensor self, SymInt high, *, MemoryFormat? memory_format=None, Tensor(a!) out) ->
        Tensor(a!),
    kernel: randint_like_out;

    func: randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: randint_like_by;

    func: randint_like.generator_out(Tensor self, SymInt high, *, Generator? generator, MemoryFormat?
        memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_like_by_out;

    func: randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: randint_like_below;

    func: randint_like.Tensor_out(Tensor self, Tensor high, *, MemoryFormat? memory_format=None, Tensor(a!) out) ->
        Tensor(a!),
    kernel: randint_like_below_out;

    func: randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None,
        Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) ->
        Tensor,
    kernel: randint_like_below_by;

    func: randint_like.Tensor_generator_out(Tensor self, Tensor high, *, Generator? generator, MemoryFormat?
        memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_like_below_by_out;

    func: randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor,
    kernel: randint_like_from;

    func: randint_like.low_dtype_out(Tensor self, SymInt low, SymInt high, *, MemoryFormat? memory_format=None,
        Tensor(a!) out) -> Tensor(a!),
    kernel: randint_like_from_out;

    func: randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator,
        ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat?
        memory_format=None) -> Tensor,
    kernel: randint_like_from_by;

    func: randint_like.low_generator_dtype_out(Tensor self, SymInt low, SymInt high, *, Generator? generator,
        MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!),
    kernel: randint_like_from_by_out;

    func: normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType?
        dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor,
    kernel: normal_of_sizes;

    func: normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None, Tensor(a!) out)
        -> Tensor(a!),
    kernel: normal_of_sizes_out;
}
