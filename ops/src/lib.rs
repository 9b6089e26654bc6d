//! What each operator of monomorph *is*: schema, meta function and formula. Never names a device.
#![forbid(unsafe_code)]

pub mod algebra;
pub mod composite;
pub mod elementwise;
pub mod factories;
mod left_out;
#[cfg(feature = "record")]
pub mod record;
pub mod reductions;
#[cfg(feature = "special")]
pub mod special;
mod std_ops;
pub mod table;
pub mod templates;
pub mod views;

// The modules of families and templates under short paths.
#[doc(hidden)]
pub use composite::{nonzero, typed_join as join};
#[doc(hidden)]
pub use elementwise::*;
#[doc(hidden)]
pub use factories::*;
#[cfg(feature = "special")]
#[doc(hidden)]
pub use special::*;
#[cfg(feature = "fft")]
pub use templates::fourier;
#[cfg(feature = "linalg")]
pub use templates::linalg;
#[cfg(feature = "random")]
pub use templates::random;
pub use templates::{
    attention, bins, columns, contract, conv, grid, grid_gradient, group, index, order, pad_gradient, pointwise,
    pooling, quantile, reduce, resample, rows, running, scan, search, upsample,
};
#[doc(hidden)]
pub use views::*;

#[doc(hidden)]
pub use monomorph_core as core;

/// Expands to nothing: the record of a formula, which tests compare it with, exists where the feature `record` of this
/// crate is on. Whatever uses the macro needs no `cfg`.
#[cfg(not(feature = "record"))]
#[macro_export]
macro_rules! record {
    ($($record:tt)*) => {};
}

pub use left_out::feature_of;
pub use std_ops::StdOps;

/// The device of tensors without data: sizes, strides and dtype only.
pub type Meta = monomorph_core::Meta<StdOps>;

/// The templates of the tree: their kernels are in the device's own table, and not compiled where they are called.
pub mod prebuilt {
    /// A formula as an operator.
    pub type Pointwise<F> = crate::pointwise::Pointwise<F, crate::pointwise::Prebuilt>;
    /// A fold as an operator.
    pub type Reduce<F> = crate::reduce::Reduce<F, crate::pointwise::Prebuilt>;
}

/// The operator of an in-tree formula: its kernel comes from the device's own table.
pub type Op<F> = pointwise::Pointwise<F, pointwise::Prebuilt>;

// Families of operators that compute; those whose operators need of a device its memory and its copy, so that their
// functions ask for no more than `Fills`; those of templates that not every device has.
monomorph_macros::families! { [crate]
    arithmetic: Arithmetic,
    exponential: Exponential,
    logarithmic: Logarithmic,
    trigonometric: Trigonometric,
    hyperbolic: Hyperbolic,
    #[feature = "special"]
    bessel: Bessel,
    #[feature = "special"]
    modified_bessel: ModifiedBessel,
    #[feature = "special"]
    normal: Normal,
    #[feature = "special"]
    airy: Airy,
    #[feature = "special"]
    orthogonal: Orthogonal,
    logistic: Logistic,
    polar: Polar,
    #[feature = "special"]
    gamma: Gamma,
    #[feature = "special"]
    incomplete_gamma: IncompleteGamma,
    power: Powers,
    activation: Activation,
    glu: Glu,
    piecewise: Piecewise,
    comparison: Comparison,
    extrema: Extrema,
    clamp: Clamp,
    selection: Selection,
    blend: Blend,
    difference_losses: DifferenceLosses,
    logic: Logic,
    bitwise: Bitwise,
    rounding: Rounding,
    sign: Sign,
    remainder: Remainder,
    neighbours: Neighbours,
    classification: Classification,
    reductions::sum: Sum,
    reductions::mean: Mean,
    reductions::amax: Amax,
    reductions::amin: Amin,
    reductions::any: Any,
    reductions::argmax: Argmax,
    reductions::aminmax: Aminmax,
    reductions::all: All,
    reductions::argmin: Argmin,
    reductions::prod: Prod,
    reductions::max: Max,
    reductions::min: Min,
    reductions::nansum: Nansum,
    upsample: Upsample,
    float_power: FloatPower,
    nonzero: Nonzero,
    composite::equality: Equality,
    memory;
    fill: Fill,
    copies: Copies,
    factory: Factory,
    new_factories: NewFactories,
    matrix_factories: MatrixFactories,
    arange: Arange,
    spaced: Spaced,
    windows: Windows,
    frequencies: Frequencies,
    resize: Resize,
    scatter: Scatter,
    view: View,
    rearrange: Rearrange,
    complex_view: ComplexView,
    parts: Parts,
    composite::shape: CompositeShape,
    composite::join: CompositeJoin,
    composite::queries: Queries,
    composite::flip: Flips,
    composite::repeat: Repeats,
    composite::pad: Pads,
    composite::shuffles: Shuffles,
    composite::edges: Borders,
    composite::diagonal: Diagonals,
    composite::triangles: Triangles,
    composite::foreach: Foreach,
    composite::sums: Sums,
    composite::differences: Differences,
    composite::integrals: Integrals,
    composite::matrix_norms: MatrixNorms,
    composite::hash: Hashes,
    composite::spectral: SpectralNorms,
    composite::products::tensordot: SumsOfProducts,
    composite::products::chain: Chains,
    composite::products::einsum: Einstein,
    composite::products::added: AddedProducts,
    composite::recurrent: Recurrent,
    composite::recurrent::packed: PackedSequences,
    composite::convolution_forms: ConvolutionForms,
    composite::attention: WrittenAttention,
    composite::distances: Distances,
    composite::compressed: Compressed,
    composite::covariance: Covariances,
    composite::fake_quantize: FakeQuantized,
    composite::losses::likelihoods: LikelihoodLosses,
    composite::losses::vectors: VectorLosses,
    composite::entropy: Entropies,
    composite::normalize: Normalizations,
    composite::encoder: Encoders,
    partial;
    contract::products: Products,
    contract::grouped: GroupedProducts,
    composite::products: Matmul,
    scan: Scans,
    index::select: Selects,
    index::embedding: Embeddings,
    index::scatter: Scatters,
    index::slices: IndexedSlices,
    index::nonzero: CoordinatesOf,
    index::put: AdvancedIndexing,
    index::masked: Masked,
    index::repeats: RepeatedSlices,
    index::unfold: Unfolds,
    index::bags::forward: BagFolds,
    index::bags::public: Bags,
    index::bags::backward: BagGradients,
    index::bags::renorm: RowNorms,
    index::segments: Segments,
    order: Orders,
    search: Searches,
    group: Grouped,
    quantile: Quantiles,
    order::derived: Sorted,
    bins::counts: Bincounts,
    bins::histograms: Histograms,
    reductions::log_sum_exp: LogSumExp,
    running: Runnings,
    conv::forward: Convolutions,
    conv::backward: ConvolutionGradients,
    conv::slow: SlowConvolutions,
    conv::tbc: TimeConvolutions,
    attention::flash: FlashAttention,
    attention::public: ScaledAttention,
    composite::windows: ConvolutionsOf,
    reductions::trace: Traces,
    composite::renorm: Renorms,
    cross: VectorProducts,
    reductions::variance: Variance,
    reductions::vector_norm: Norms,
    rows::softmax: Softmaxes,
    rows::norm: RowNormalization,
    rows::batch: BatchNormalization,
    rows::classes: ClassLosses,
    rows::pairs: PairDistances,
    rows::ctc: Sequences,
    rows::cell: RecurrentCells,
    composite::patches: Patches,
    composite::border_gradients: BorderGradients,
    composite::affine: AffineGrids,
    grid: GridSamples,
    grid_gradient: GridGradients,
    resample::rows: Resamples,
    pooling::maxima: Maxima,
    pooling::averages: Averages,
    pooling::adaptive: AdaptivePools,
    pooling::fractional: FractionalPools,
    pooling::derived: DerivedPools,
    pooling::gradients: PoolGradients,
    #[feature = "fft"]
    fourier: FourierTransforms,
    #[feature = "fft"]
    fourier::one: FourierFunctions,
    #[feature = "fft"]
    fourier::several: FourierOfSeveral,
    #[feature = "fft"]
    fourier::shift: FourierOrder,
    #[feature = "fft"]
    fourier::frames: FourierFrames,
    #[feature = "fft"]
    fourier::signal: FourierSignals,
    #[feature = "linalg"]
    linalg::failures: MatrixFailures,
    #[feature = "linalg"]
    linalg::lu: LuFactors,
    #[feature = "linalg"]
    linalg::determinants: Determinants,
    #[feature = "linalg"]
    linalg::solve: LinearSystems,
    #[feature = "linalg"]
    linalg::triangular: TriangularSystems,
    #[feature = "linalg"]
    linalg::cholesky: CholeskyFactors,
    #[feature = "linalg"]
    linalg::orthogonal: OrthogonalFactors,
    #[feature = "linalg"]
    linalg::spectral: Spectra,
    #[feature = "linalg"]
    linalg::ldl: LdlFactors,
    #[feature = "linalg"]
    linalg::functions: FunctionsOfMatrices,
    #[feature = "linalg"]
    linalg::ranks: PseudoInverses,
    #[feature = "linalg"]
    linalg::least_squares: Regression,
    #[feature = "linalg"]
    linalg::composed: MatrixFunctions,
    #[feature = "random"]
    random::fills: RandomFills,
    #[feature = "random"]
    random::factories: RandomFactories,
    #[feature = "random"]
    random::parameters: RandomByParameters,
    #[feature = "random"]
    random::slopes: RandomSlopes,
    #[feature = "random"]
    random::choices: RandomChoices,
    #[feature = "random"]
    random::dropout: Dropouts,
}
pub use kernels::{AllKernels, Kernels};

/// The typed form of every row as a function.
pub mod functions {
    pub use crate::typed_functions::*;
}

/// The functions as methods: a trait for each family.
pub mod methods {
    pub use crate::copies::CastMethods;
    pub use crate::indexing::IndexMethods;
    pub use crate::typed_methods::*;
}

/// What functions whose names end in `_with` are given besides their parameters.
pub mod options {
    pub use crate::typed_options::*;
}

/// Shapes only: every functional form with a meta tensor as its result, for operands of any device.
pub mod meta {
    pub use crate::typed_meta::*;
}

/// Calls checked once and run again and again: every structured operator that has an out= form, with all its arguments.
pub mod prepared {
    pub use crate::typed_prepared::*;
}
