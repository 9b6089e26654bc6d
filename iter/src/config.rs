//! What is asked of an iteration: flags, presets, and the operands of one that is built outside of a structured
//! operator. Decides nothing.

use monomorph_core::structured::{Operand, SinkState};
use monomorph_core::{Category, DType, DeviceId, Geometry, TensorRef};

/// The switches of an iteration: a preset, and what differs from it.
///
/// Fields are private, because not all combinations are iterations: only a preset makes a reduction, which keeps the
/// sizes of its outputs, and resizing can be switched off, but not on. Whatever the switches are, a walk stays inside
/// every operand (I2 of [`TensorIter`](crate::TensorIter)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// Refuse outputs that overlap themselves or, partially, an input.
    pub(crate) check_mem_overlap: bool,
    /// Outputs of another size are resized, and take no part in broadcasting.
    pub(crate) resize_outputs: bool,
    /// All operands must have one dtype. Off where inputs are promoted or outputs are cast.
    pub(crate) check_all_same_dtype: bool,
    /// All operands must be on one device.
    pub(crate) check_all_same_device: bool,
    /// One 0-dim CPU input may stand among operands of another device.
    pub(crate) allow_cpu_scalars: bool,
    /// Outputs have stride 0 in reduced dimensions, which are walked first.
    pub(crate) is_reduction: bool,
    /// The common dtype must be castable to the dtype of each output.
    pub(crate) enforce_safe_casting_to_output: bool,
    /// Walk in row-major order: no sorting of dimensions.
    pub(crate) enforce_linear_iteration: bool,
    /// Inputs are read as the common dtype.
    pub(crate) promote_inputs_to_common_dtype: bool,
    /// A common dtype that is integral becomes the default floating dtype.
    pub(crate) promote_integer_inputs_to_float: bool,
    /// Results are computed in the common dtype and cast to the dtype of the output.
    pub(crate) cast_common_dtype_to_outputs: bool,
}

impl Flags {
    /// PyTorch's defaults: every check on, nothing promoted or cast.
    pub const DEFAULT: Flags = Flags {
        check_mem_overlap: true,
        resize_outputs: true,
        check_all_same_dtype: true,
        check_all_same_device: true,
        allow_cpu_scalars: false,
        is_reduction: false,
        enforce_safe_casting_to_output: false,
        enforce_linear_iteration: false,
        promote_inputs_to_common_dtype: false,
        promote_integer_inputs_to_float: false,
        cast_common_dtype_to_outputs: false,
    };

    /// Two promoted inputs and a castable output.
    pub const BINARY: Flags = Flags { allow_cpu_scalars: true, ..Flags::TERNARY };

    /// [`BINARY`](Flags::BINARY) in a floating dtype.
    pub const BINARY_FLOAT: Flags = Flags { promote_integer_inputs_to_float: true, ..Flags::BINARY };

    /// Promoted inputs and a truth value, in an output that does not exist or is bool. An existing output of another
    /// dtype needs [`COMPARISON_CAST`](Flags::COMPARISON_CAST); [`Config::comparison`] chooses.
    pub const COMPARISON: Flags = Flags {
        allow_cpu_scalars: true,
        promote_inputs_to_common_dtype: true,
        check_all_same_dtype: false,
        ..Flags::DEFAULT
    };

    /// [`COMPARISON`](Flags::COMPARISON) into an output that is not bool: computed in the common dtype and cast.
    pub const COMPARISON_CAST: Flags = Flags { cast_common_dtype_to_outputs: true, ..Flags::COMPARISON };

    /// Three promoted inputs and a castable output.
    pub const TERNARY: Flags = Flags {
        promote_inputs_to_common_dtype: true,
        cast_common_dtype_to_outputs: true,
        enforce_safe_casting_to_output: true,
        check_all_same_dtype: false,
        ..Flags::DEFAULT
    };

    /// One input and an output of its dtype.
    pub const UNARY: Flags = Flags::DEFAULT;

    /// One input, computed in a floating dtype.
    pub const UNARY_FLOAT: Flags = Flags { promote_integer_inputs_to_float: true, ..Flags::TERNARY };

    /// One input of any dtype and an output of any dtype, bool where it does not exist ([`Config::output_dtype`]).
    pub const UNARY_FORCE_BOOLEAN: Flags = Flags { check_all_same_dtype: false, ..Flags::DEFAULT };

    /// No input, and an output that keeps its size.
    pub const NULLARY: Flags = Flags { check_all_same_dtype: false, resize_outputs: false, ..Flags::DEFAULT };

    /// A reduction to one output.
    pub const REDUCE_1: Flags = Flags {
        check_mem_overlap: false,
        resize_outputs: false,
        is_reduction: true,
        promote_inputs_to_common_dtype: true,
        check_all_same_dtype: false,
        ..Flags::DEFAULT
    };

    /// A reduction to two outputs, which must agree in device, sizes and strides.
    pub const REDUCE_2: Flags = Flags {
        check_mem_overlap: false,
        resize_outputs: false,
        is_reduction: true,
        check_all_same_dtype: false,
        ..Flags::DEFAULT
    };

    /// The same, checking whether outputs overlap themselves or an input, or not.
    pub const fn with_overlap_check(self, on: bool) -> Flags {
        Flags { check_mem_overlap: on, ..self }
    }

    /// The same, with outputs that keep their sizes and take part in broadcasting.
    pub const fn without_resizing(self) -> Flags {
        Flags { resize_outputs: false, ..self }
    }

    /// The same, asking for one dtype of all operands or not.
    pub const fn with_dtype_check(self, on: bool) -> Flags {
        Flags { check_all_same_dtype: on, ..self }
    }

    /// The same, asking for one device of all operands or not.
    pub const fn with_device_check(self, on: bool) -> Flags {
        Flags { check_all_same_device: on, ..self }
    }

    /// The same, walking in row-major order or in the order of strides.
    pub const fn with_linear_order(self, on: bool) -> Flags {
        Flags { enforce_linear_iteration: on, ..self }
    }

    /// The same, with inputs read as their common dtype or as they are.
    pub const fn with_promotion(self, on: bool) -> Flags {
        Flags { promote_inputs_to_common_dtype: on, ..self }
    }

    /// The same, with an integral common dtype become the default floating one or not.
    pub const fn with_float_promotion(self, on: bool) -> Flags {
        Flags { promote_integer_inputs_to_float: on, ..self }
    }

    /// The same, casting results to the dtype of the output or not.
    pub const fn with_output_cast(self, on: bool) -> Flags {
        Flags { cast_common_dtype_to_outputs: on, ..self }
    }

    /// The same, refusing casts of results that lose their kind or not.
    pub const fn with_safe_cast(self, on: bool) -> Flags {
        Flags { enforce_safe_casting_to_output: on, ..self }
    }

    /// Whether outputs that overlap themselves or, partially, an input are refused.
    pub const fn checks_overlap(&self) -> bool {
        self.check_mem_overlap
    }

    /// Whether one 0-dim CPU input may stand among operands of another device.
    pub const fn allows_cpu_scalars(&self) -> bool {
        self.allow_cpu_scalars
    }

    /// Whether the walk is in row-major order.
    pub const fn is_linear(&self) -> bool {
        self.enforce_linear_iteration
    }

    /// Whether inputs are read as their common dtype.
    pub const fn promotes(&self) -> bool {
        self.promote_inputs_to_common_dtype
    }

    /// Whether an integral common dtype becomes the default floating one.
    pub const fn promotes_to_float(&self) -> bool {
        self.promote_integer_inputs_to_float
    }

    /// Whether the common dtype must be castable to the dtype of each output.
    pub const fn casts_safely(&self) -> bool {
        self.enforce_safe_casting_to_output
    }
}

/// What an iteration is asked for besides its operands.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The switches.
    pub flags: Flags,
    /// The dtype of outputs that do not exist; `None` for the common dtype.
    pub output_dtype: Option<DType>,
    /// The first input that takes part in type promotion. Those before it are masks, read as bool (`where` has one).
    pub promote_from: usize,
    /// The dtype that the inputs from `promote_from` on are read as; `None` to promote them. For operators whose
    /// parameters take part in promotion.
    pub common_dtype: Option<DType>,
    /// Outputs that do not exist get the dense strides of this input (`preserve_format`) instead of those of the walk,
    /// if they have its sizes.
    pub outputs_like: Option<usize>,
    /// The shape of the iteration; `None` to broadcast the operands. Every operand must broadcast to it.
    pub shape: Option<&'a [i64]>,
    /// The device of outputs that do not exist; `None` for that of the inputs.
    pub device: Option<DeviceId>,
}

impl Config<'_> {
    /// A configuration with these flags and nothing else.
    pub const fn new(flags: Flags) -> Config<'static> {
        Config {
            flags,
            output_dtype: None,
            promote_from: 0,
            common_dtype: None,
            outputs_like: None,
            shape: None,
            device: None,
        }
    }

    /// The configuration of a comparison: without an output its dtype is bool; an existing output that is not bool is
    /// computed in the common dtype and cast; a bool one is written directly.
    pub fn comparison(sink: &SinkState<'_>) -> Config<'static> {
        match sink.existing(0).map(|out| out.geometry().dtype()) {
            Some(dtype) if dtype != DType::Bool => Config::new(Flags::COMPARISON_CAST),
            _ => Config { output_dtype: Some(DType::Bool), ..Config::new(Flags::COMPARISON) },
        }
    }
}

impl Default for Config<'_> {
    fn default() -> Self {
        Config::new(Flags::DEFAULT)
    }
}

/// An operand of [`build_over`](crate::build_over): where and how its elements lie, without a pointer.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Sizes.
    pub sizes: &'a [i64],
    /// Strides in elements. They may be negative for memory that is not a tensor's.
    pub strides: &'a [i64],
    /// The dtype as stored.
    pub dtype: DType,
    /// The device.
    pub device: DeviceId,
    /// The values are the conjugates of the stored ones.
    pub conj: bool,
    /// The values are the negatives of the stored ones.
    pub neg: bool,
    /// What the operand counts as in type promotion.
    pub category: Category,
    /// Identity of the storage, for overlap checks; `None` for memory that no other operand can reach.
    pub storage: Option<usize>,
    /// Byte address of the first element, relative to the storage.
    pub start: i64,
}

impl<'a> View<'a> {
    /// A view of memory that no other operand can reach.
    pub fn new(dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> View<'a> {
        View {
            sizes,
            strides,
            dtype,
            device: DeviceId::CPU,
            conj: false,
            neg: false,
            category: if sizes.is_empty() { Category::ZeroDim } else { Category::Dimensioned },
            storage: None,
            start: 0,
        }
    }

    fn of_geometry(geometry: &'a Geometry) -> View<'a> {
        let wrapped = geometry.is_wrapped();
        let view = View::new(geometry.dtype(), geometry.sizes(), geometry.strides());
        View {
            conj: geometry.is_conj(),
            neg: geometry.is_neg(),
            category: if wrapped { Category::Number } else { view.category },
            start: geometry.offset().saturating_mul(geometry.dtype().size() as i64),
            ..view
        }
    }

    /// All of a tensor.
    pub fn of_tensor(tensor: TensorRef<'a>) -> View<'a> {
        View { device: tensor.device(), storage: Some(tensor.storage_id()), ..View::of_geometry(tensor.geometry()) }
    }

    /// An operand of a call: a tensor, or a number as a 0-dim view of its dtype. `None` if it is absent.
    pub fn of_operand(operand: &Operand<'a>) -> Option<View<'a>> {
        match operand {
            Operand::Tensor(tensor) => Some(View::of_tensor(*tensor)),
            Operand::Number(number) => Some(View { category: Category::Number, ..View::new(number.dtype(), &[], &[]) }),
            Operand::Absent => None,
        }
    }

    /// Output `i` of a call as the kernel will write it; `None` before it is declared. For a reduction, replace `sizes`
    /// and `strides` by those with the reduced dimensions put back.
    pub fn of_output(sink: &'a SinkState<'_>, i: usize) -> Option<View<'a>> {
        let written = sink.written(i)?;
        let existing = sink.existing(i);
        Some(View {
            device: existing.map_or(DeviceId::CPU, |t| t.device()),
            storage: existing.map(|t| t.storage_id()),
            ..View::of_geometry(written)
        })
    }
}
