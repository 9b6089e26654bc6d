//! The rows.

/// Calls `$callback! { [context] {row} {row} .. }` with every row of the table.
#[macro_export]
macro_rules! op_table {
    ($callback:ident $($context:tt)*) => { $crate::$callback! { [$($context)*]
    // Arithmetic
    { [add.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor) : op ($crate::Op<$crate::arithmetic::AddFn>) {
        functional add; inplace add_ [add_.Tensor]; out add_out [add.out];
        functional_full add_alpha; inplace_full add_alpha_; out_full add_alpha_out;
    } }
    { [add.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor) : op ($crate::Op<$crate::arithmetic::AddFn>) {
        functional -; inplace - [add_.Scalar]; autoout - [add.Scalar_out];
    } }
    { [sub.Tensor] (Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor) : op ($crate::Op<$crate::arithmetic::SubFn>) {
        functional sub; inplace sub_ [sub_.Tensor]; out sub_out [sub.out];
        functional_full sub_alpha; inplace_full sub_alpha_; out_full sub_alpha_out;
    } }
    { [sub.Scalar] (Tensor self, Scalar other, Scalar alpha=1) -> (Tensor) : op ($crate::Op<$crate::arithmetic::SubFn>) {
        functional -; inplace - [sub_.Scalar]; autoout - [sub.Scalar_out];
    } }
    { [mul.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::MulFn>) {
        functional mul; inplace mul_ [mul_.Tensor]; out mul_out [mul.out];
    } }
    { [mul.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::MulFn>) {
        functional -; inplace - [mul_.Scalar]; autoout - [mul.Scalar_out];
    } }
    { [div.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::DivFn>) {
        functional div; inplace div_ [div_.Tensor]; out div_out [div.out];
    } }
    { [div.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::arithmetic::DivFn>) {
        functional -; inplace - [div_.Scalar]; autoout - [div.Scalar_out];
    } }
    { [div.Tensor_mode] (Tensor self, Tensor other, *, str? rounding_mode) -> (Tensor) : op ($crate::arithmetic::DivMode) {
        functional div_mode; inplace div_mode_ [div_.Tensor_mode]; out div_mode_out [div.out_mode];
    } }
    { [div.Scalar_mode] (Tensor self, Scalar other, *, str? rounding_mode) -> (Tensor) : op ($crate::arithmetic::DivMode) {
        functional -; inplace - [div_.Scalar_mode]; autoout - [div.Scalar_mode_out];
    } }
    { [neg] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::arithmetic::NegFn>) {
        functional neg; inplace neg_ [neg_]; out neg_out [neg.out];
    } }
    { [abs] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::arithmetic::AbsFn>) {
        functional abs; inplace abs_ [abs_]; out abs_out [abs.out];
    } }
    // Exponentials
    { [exp] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::exponential::ExpFn>) {
        functional exp; inplace exp_ [exp_]; out exp_out [exp.out];
    } }
    // Comparison, selection, logic
    { [eq.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::comparison::EqFn>) {
        functional eq; inplace eq_ [eq_.Tensor]; out eq_out [eq.Tensor_out];
    } }
    { [eq.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::EqFn>) {
        functional -; inplace - [eq_.Scalar]; out - [eq.Scalar_out];
    } }
    { [lt.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::comparison::LtFn>) {
        functional lt; inplace lt_ [lt_.Tensor]; out lt_out [lt.Tensor_out];
    } }
    { [lt.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::LtFn>) {
        functional -; inplace - [lt_.Scalar]; out - [lt.Scalar_out];
    } }
    { [clamp] (Tensor self, Scalar? min=None, Scalar? max=None) -> (Tensor) : op ($crate::comparison::Clamp) {
        functional clamp; inplace clamp_ [clamp_]; out clamp_out [clamp.out];
    } }
    { [clamp.Tensor] (Tensor self, Tensor? min=None, Tensor? max=None) -> (Tensor) : op ($crate::comparison::Clamp) {
        functional clamp_tensor; inplace clamp_tensor_ [clamp_.Tensor]; out clamp_tensor_out [clamp.Tensor_out];
    } }
    { [where.self] (Tensor condition, Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::comparison::WhereFn>) {
        functional where_; out where_out [where.self_out];
    } }
    { [where.ScalarSelf] (Tensor condition, Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::comparison::WhereFn>) {
        functional -;
    } }
    { [where.ScalarOther] (Tensor condition, Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::WhereFn>) {
        functional -;
    } }
    { [where.Scalar] (Tensor condition, Scalar self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::comparison::WhereFn>) {
        functional -;
    } }
    { [where] (Tensor condition) -> (Tensor[]) : hand ($crate::nonzero::where_nonzero) { functional where_nonzero; } }
    { [logical_not] (Tensor self) -> (Tensor) : op ($crate::Op<$crate::logic::LogicalNotFn>) {
        functional logical_not; inplace logical_not_ [logical_not_]; out logical_not_out [logical_not.out];
    } }
    { [bitwise_and.Tensor] (Tensor self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logic::BitwiseAndFn>) {
        functional bitwise_and; inplace bitwise_and_ [bitwise_and_.Tensor]; out bitwise_and_out [bitwise_and.Tensor_out];
    } }
    { [bitwise_and.Scalar] (Tensor self, Scalar other) -> (Tensor) : op ($crate::Op<$crate::logic::BitwiseAndFn>) {
        functional -; inplace - [bitwise_and_.Scalar]; out - [bitwise_and.Scalar_out];
    } }
    { [bitwise_and.Scalar_Tensor] (Scalar self, Tensor other) -> (Tensor) : op ($crate::Op<$crate::logic::BitwiseAndFn>) {
        functional -; autoout - [bitwise_and.Scalar_Tensor_out];
    } }
    // Filling and copying
    { [fill.Scalar] (Tensor self, Scalar value) -> (Tensor) : hand ($crate::fill::fill) {
        functional fill; autoout - [fill.Scalar_out];
    } }
    { [fill.Tensor] (Tensor self, Tensor value) -> (Tensor) : hand ($crate::fill::fill_from) {
        functional fill_from; autoout - [fill.Tensor_out];
    } }
    { [fill_.Scalar] (Tensor self, Scalar value) -> (Tensor) : hand ($crate::fill::fill_) { inplace fill_ [fill_.Scalar]; } }
    { [fill_.Tensor] (Tensor self, Tensor value) -> (Tensor) : hand ($crate::fill::fill_from_) { inplace fill_from_ [fill_.Tensor]; } }
    { [copy] (Tensor self, Tensor src, bool non_blocking=False) -> (Tensor) : hand ($crate::fill::copy) {
        functional copy; autoout - [copy.out];
    } }
    { [copy_] (Tensor self, Tensor src, bool non_blocking=False) -> (Tensor) : hand ($crate::fill::copy_) { inplace copy_ [copy_]; } }
    { [clone] (Tensor self, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::clone_tensor) {
        functional clone_tensor; autoout - [clone.out];
    } }
    { [contiguous] (Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> (Tensor(a)) : hand ($crate::factory::contiguous) {
        functional contiguous;
    } }
    { [to.dtype_layout] (Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> (Tensor(a)) : hand ($crate::factory::to) {
        functional to;
    } }
    { [to.device] (Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> (Tensor(a)) : hand ($crate::factory::to_device) {
        functional to_device;
    } }
    { [to.dtype] (Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> (Tensor(a)) : hand ($crate::factory::to_dtype) {
        functional to_dtype;
    } }
    { [to.other] (Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> (Tensor(a)) : hand ($crate::factory::to_other) {
        functional to_other;
    } }
    // Views
    { [view] (Tensor(a) self, SymInt[] size) -> (Tensor(a)) : view ($crate::view::view) { functional view; } }
    { [view.dtype] (Tensor(a) self, ScalarType dtype) -> (Tensor(a)) : view ($crate::view::view_dtype) { functional view_dtype; } }
    { [reshape] (Tensor(a) self, SymInt[] shape) -> (Tensor(a)) : hand ($crate::factory::reshape) { functional reshape; } }
    { [permute] (Tensor(a) self, int[] dims) -> (Tensor(a)) : view ($crate::view::permute) { functional permute; } }
    { [transpose.int] (Tensor(a) self, int dim0, int dim1) -> (Tensor(a)) : view ($crate::view::transpose) {
        functional transpose; inplace transpose_ [transpose_];
    } }
    { [expand] (Tensor(a) self, SymInt[] size, *, bool implicit=False) -> (Tensor(a)) : view ($crate::view::expand) { functional expand; } }
    { [squeeze] (Tensor(a) self) -> (Tensor(a)) : view ($crate::view::squeeze) { functional squeeze; inplace squeeze_ [squeeze_]; } }
    { [squeeze.dim] (Tensor(a) self, int dim) -> (Tensor(a)) : view ($crate::view::squeeze_dim) {
        functional squeeze_dim; inplace squeeze_dim_ [squeeze_.dim];
    } }
    { [squeeze.dims] (Tensor(a) self, int[] dim) -> (Tensor(a)) : view ($crate::view::squeeze_dims) {
        functional squeeze_dims; inplace squeeze_dims_ [squeeze_.dims];
    } }
    { [unsqueeze] (Tensor(a) self, int dim) -> (Tensor(a)) : view ($crate::view::unsqueeze) {
        functional unsqueeze; inplace unsqueeze_ [unsqueeze_];
    } }
    { [select.int] (Tensor(a) self, int dim, SymInt index) -> (Tensor(a)) : view ($crate::view::select) { functional select; } }
    { [slice.Tensor] (Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> (Tensor(a)) : view ($crate::view::slice) {
        functional slice;
    } }
    { [narrow] (Tensor(a) self, int dim, SymInt start, SymInt length) -> (Tensor(a)) : view ($crate::view::narrow) { functional narrow; } }
    { [narrow.Tensor] (Tensor(a) self, int dim, Tensor start, SymInt length) -> (Tensor(a)) : hand ($crate::factory::narrow_from) {
        functional narrow_from;
    } }
    { [as_strided] (Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> (Tensor(a)) : view ($crate::view::as_strided) {
        functional as_strided; inplace as_strided_ [as_strided_];
    } }
    { [alias] (Tensor(a) self) -> (Tensor(a)) : view ($crate::view::alias) { functional alias; } }
    // Factories
    { [empty.memory_format] (SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::empty) { functional empty; } }
    { [empty.out] (SymInt[] size, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::empty_out) { out empty_out [empty.out]; } }
    { [empty_strided] (SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::factory::empty_strided) { functional empty_strided; } }
    { [empty_strided.out] (SymInt[] size, SymInt[] stride) -> (Tensor) : hand ($crate::factory::empty_strided_out) { out - [empty_strided.out]; } }
    { [zeros] (SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::factory::zeros) { functional zeros; } }
    { [zeros.out] (SymInt[] size) -> (Tensor) : hand ($crate::factory::zeros_out) { out zeros_out [zeros.out]; } }
    { [ones] (SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::factory::ones) { functional ones; } }
    { [ones.out] (SymInt[] size) -> (Tensor) : hand ($crate::factory::ones_out) { out ones_out [ones.out]; } }
    { [full] (SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::factory::full) { functional full; } }
    { [full.out] (SymInt[] size, Scalar fill_value) -> (Tensor) : hand ($crate::factory::full_out) { out full_out [full.out]; } }
    { [scalar_tensor] (Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::factory::scalar_tensor) { functional scalar_tensor; } }
    { [scalar_tensor.out] (Scalar s) -> (Tensor) : hand ($crate::factory::scalar_tensor_out) { out - [scalar_tensor.out]; } }
    { [arange] (Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::arange::arange) { functional arange; } }
    { [arange.start] (Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::arange::arange_start) { functional arange_start; } }
    { [arange.start_step] (Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> (Tensor) : hand ($crate::arange::arange_start_step) { functional arange_start_step; } }
    { [arange.out] (Scalar end) -> (Tensor) : hand ($crate::arange::arange_out) { out arange_out [arange.out]; } }
    { [arange.start_out] (Scalar start, Scalar end, Scalar step=1) -> (Tensor) : hand ($crate::arange::arange_start_out) { out arange_start_out [arange.start_out]; } }
    { [empty_like] (Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::empty_like) { functional empty_like; } }
    { [empty_like.out] (Tensor self, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::like) { autoout - [empty_like.out]; } }
    { [zeros_like] (Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::zeros_like) { functional zeros_like; } }
    { [zeros_like.out] (Tensor self, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::like) { autoout - [zeros_like.out]; } }
    { [ones_like] (Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::ones_like) { functional ones_like; } }
    { [ones_like.out] (Tensor self, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::like_ones) { autoout - [ones_like.out]; } }
    { [full_like] (Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::full_like) { functional full_like; } }
    { [full_like.out] (Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None) -> (Tensor) : hand ($crate::factory::like_full) { autoout - [full_like.out]; } }
    } };
}
