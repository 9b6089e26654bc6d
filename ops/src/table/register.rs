//! The boxed forms of a row: closures that read arguments off the stack by schema type, and the schemas of all forms.

use crate::copies::clone_tensor;
use monomorph_core::dispatch::{Backend, Definition, DispatchError, Flags, KernelFunction, Library};
use monomorph_core::schema::Schema;
use monomorph_core::{
    AnyTensor, ArgType, Device, DeviceId, DeviceKind, ErrorKind, Geometry, IValue, MemoryFormat, Result, Stack, Tensor,
};
use smallvec::{SmallVec, smallvec};

/// Reads boxed arguments one after another.
pub struct Reader<'a> {
    args: &'a [IValue],
    position: usize,
    schema_position: usize,
}

impl<'a> Reader<'a> {
    /// A reader of `args`, the first of which is argument number `first` of the schema.
    pub fn new(args: &'a [IValue], first: usize) -> Reader<'a> {
        Reader { args, position: 0, schema_position: first }
    }

    /// The next argument as a `T`.
    pub fn next<T: ArgType>(&mut self, name: &str, want: &str) -> Result<T::Value<'a>> {
        let value = self.args.get(self.position).unwrap_or(&IValue::None);
        self.position += 1;
        self.schema_position += 1;
        T::get(value).ok_or_else(|| kind_error(value, self.schema_position - 1, name, want))
    }

    /// The next argument as a tensor on `D`; a number becomes a wrapped 0-dim tensor.
    pub fn tensor<D: Device>(&mut self, name: &str) -> Result<Tensor<D>> {
        let value = self.args.get(self.position).unwrap_or(&IValue::None);
        self.position += 1;
        self.schema_position += 1;
        match value {
            IValue::Tensor(t) => match t.downcast_ref::<D>() {
                Some(t) => Ok(t.clone()),
                None => Err(device_error::<D>(t, name)),
            },
            other => match other.to_scalar() {
                Some(number) => wrapped_number::<D>(number),
                None => Err(kind_error(value, self.schema_position - 1, name, "Tensor")),
            },
        }
    }
}

/// A 0-dim tensor on the first device of the kind that counts as a number in type promotion.
fn wrapped_number<D: Device>(number: monomorph_core::Scalar) -> Result<Tensor<D>> {
    let bytes = monomorph_core::scalar_bytes(number, number.dtype());
    let geometry = Geometry::new(number.dtype(), &[], &[], 0)?.with_wrapped(true);
    match D::MEMORY {
        Some(_) => Tensor::from_storage(&bytes[..number.dtype().size()], geometry),
        None => Tensor::<D>::zeroed(number.dtype(), &[], &[], 0)?.view_as(geometry),
    }
}

#[cold]
pub(super) fn kind_error(value: &IValue, position: usize, name: &str, want: &str) -> monomorph_core::Error {
    ErrorKind::ArgumentKind { position, arg: name.to_owned(), got: value.kind_name(), want: want.to_owned() }.into()
}

#[cold]
pub(super) fn device_error<D: Device>(tensor: &AnyTensor, name: &str) -> monomorph_core::Error {
    let want = DeviceId { kind: D::KIND, index: 0 };
    ErrorKind::DeviceMismatch { arg: name.to_owned().into(), got: tensor.device(), want }.into()
}

/// The last `count` values of the stack: the arguments of a kernel.
///
/// # Errors
///
/// There are fewer.
#[inline]
pub fn arguments(stack: &mut Stack, count: usize) -> Result<&mut [IValue]> {
    let given = stack.len();
    match given.checked_sub(count) {
        Some(first) => Ok(&mut stack[first..]),
        None => Err(ErrorKind::ListLength { arg: "stack", got: given, want: count }.into()),
    }
}

/// Replaces the last `count` values of the stack by the results of the call that they were the arguments of.
#[inline]
pub fn finish(stack: &mut Stack, count: usize, results: impl IntoIterator<Item = IValue>) {
    stack.truncate(stack.len() - count);
    stack.extend(results);
}

/// Checks that the values are tensors to be written; they are arguments from number `first` on.
#[inline]
pub fn check_written(values: &[IValue], first: usize) -> Result<()> {
    match values.iter().position(|v| !matches!(v, IValue::Tensor(_))) {
        None => Ok(()),
        Some(i) => Err(kind_error(&values[i], first + i, "out", "Tensor")),
    }
}

/// Values that were checked to be tensors as `N` on device `D` to be written.
#[inline]
pub fn written<D: Device, const N: usize>(values: &mut [IValue]) -> Result<[&mut Tensor<D>; N]> {
    let mut typed: SmallVec<[&mut Tensor<D>; N]> = SmallVec::new();
    for value in values {
        let IValue::Tensor(tensor) = value else { continue };
        if tensor.device().kind != D::KIND {
            return Err(device_error::<D>(tensor, "out"));
        }
        typed.extend(tensor.make_mut().downcast_mut());
    }
    typed.into_inner().map_err(|short| ErrorKind::ListLength { arg: "out", got: short.len(), want: N }.into())
}

/// Leaves of the last `count` values of the stack only the written ones, which are the last `written`.
#[inline]
pub fn keep_written(stack: &mut Stack, count: usize, written: usize) {
    let end = stack.len();
    drop(stack.drain(end - count..end - written));
}

/// The schema of a functional row from the text of its parts.
pub fn functional_schema(name: &str, args: &str, rets: &str) -> Schema {
    let returns = if rets.contains(',') { format!("({rets})") } else { rets.to_owned() };
    parse(&format!("{}({args}) -> {returns}", squeeze(name)))
}

/// The schema of the in-place form: `self` is written and returned.
pub fn inplace_schema(name: &str, args: &str) -> Schema {
    let args = match args.strip_prefix("Tensor(a)").or_else(|| args.strip_prefix("Tensor")) {
        Some(rest) => format!("Tensor(a!){rest}"),
        None => args.to_owned(),
    };
    parse(&format!("{}({args}) -> Tensor(a!)", squeeze(name)))
}

/// The schema of the copying form of a view: nothing is aliased.
pub fn copy_schema(name: &str, args: &str, rets: &str) -> Schema {
    let returns = if squeeze(rets).ends_with("[]") { "Tensor[]" } else { "Tensor" };
    parse(&format!("{}({}) -> {returns}", squeeze(name), unaliased(args)))
}

/// The schema of its out= form.
pub fn copy_out_schema(name: &str, args: &str) -> Schema {
    out_schema(name, &unaliased(args), "Tensor")
}

/// The schema of its out= form where it gives several: a list is written and not returned.
pub fn copy_outs_schema(name: &str, args: &str) -> Schema {
    parse(&format!("{}({}, *, Tensor(a!)[] out) -> ()", squeeze(name), unaliased(args)))
}

/// Arguments without the alias set of the first.
fn unaliased(args: &str) -> String {
    match args.split_once(')') {
        Some((first, rest)) if first.starts_with("Tensor") => format!("Tensor{rest}"),
        _ => args.to_owned(),
    }
}

/// The schema of the out= form: keyword-only outputs, written and returned.
pub fn out_schema(name: &str, args: &str, rets: &str) -> Schema {
    let names: Vec<&str> = rets.split(',').map(|r| r.trim().strip_prefix("Tensor").map_or("", str::trim)).collect();
    // The only output that PyTorch names after its overload.
    let unnamed = if squeeze(name).ends_with(".grad_input") { "grad_input" } else { "out" };
    let mut outs = Vec::new();
    let mut returns = Vec::new();
    for (letter, name) in ('a'..).zip(&names) {
        let named = !name.is_empty();
        outs.push(format!("Tensor({letter}!) {}", if named { name } else { unnamed }));
        returns.push(if named { format!("Tensor({letter}!) {name}") } else { format!("Tensor({letter}!)") });
    }
    let star = if args.contains('*') { "" } else { "*, " };
    let comma = if args.is_empty() { "" } else { ", " };
    let returns = if returns.len() == 1 { returns.remove(0) } else { format!("({})", returns.join(", ")) };
    parse(&format!("{}({args}{comma}{star}{}) -> {returns}", squeeze(name), outs.join(", ")))
}

pub(super) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Rows are written by hand and every schema of the table is compared with PyTorch's list in a test, so a row that does not
/// parse never leaves the workshop.
fn parse(text: &str) -> Schema {
    // The tokens of a row are printed with a space behind the sign of a number, and PyTorch quotes with what Rust has for
    // characters only.
    match Schema::parse(&text.replace("= - ", "= -").replace('"', "'")) {
        Ok(schema) => schema,
        Err(error) => unreachable!("a row of the operator table does not parse: {error}"),
    }
}

/// Defines one form of a row with a kernel for each device. Operators of the table enter devices and compare them themselves,
/// in every form.
pub fn define(
    library: &mut Library,
    schema: Schema,
    completed_by: Option<&str>,
    kernels: Vec<(DeviceKind, KernelFunction)>,
) -> Result<()> {
    let flags = Flags { device_guard: false, device_check: false, ..Flags::default() };
    let mut definition = Definition::new(schema).with_flags(flags);
    if let Some(out) = completed_by {
        definition = definition.completed_by(squeeze(out));
    }
    for (kind, kernel) in kernels {
        let Some(backend) = Backend::of(kind) else {
            return Err(DispatchError::NoBackend { kind: kind.0 }.into());
        };
        definition = definition.dispatch([backend], kernel.named("in-tree"));
    }
    library.define(definition)
}

/// The out= form that completes the others of a structured row.
pub fn out_form<'a>(kind: &str, forms: &[(&str, &'a str)]) -> Option<&'a str> {
    let out = forms.iter().find(|(form, name)| *form == "out" && !name.is_empty());
    out.filter(|_| kind == "op").map(|(_, name)| *name)
}

/// Expands the table into definitions of a library, with one kernel per device named. An error leaves the enclosing function.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($ctx:tt $({ $($row:tt)* })*) => { $( $crate::__register_row! { $ctx $($row)* } )* };
}

/// The forms of one row that have a name of their own in the table.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_row {
    ($ctx:tt $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt $forms:tt) => {
        $crate::__row_forms! { {__register_forms} {$ctx $name $args -> $rets} $kind $op $forms }
    };
}

/// The same once the operator is known.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_forms {
    ([$library:ident $($device:ident)*] $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt
        { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* }) => {
        let out: Option<&str> =
            $crate::table::out_form(stringify!($kind), &[$((stringify!($form), stringify!($($($fname)*)?))),*]);
        $crate::__register_forms! { @each [$library out $($device)*] $name $args $rets $kind $op
            $([$form [$($($fname)*)?]])* }
    };
    (@each $ctx:tt $name:tt $args:tt $rets:tt $kind:ident $op:tt $([$form:ident $fname:tt])*) => {
        $( $crate::__register_form! { $form $ctx $kind $op $args $rets $name $fname } )*
    };
}

/// One form of one row.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_form {
    (functional $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) [$($name:tt)*] []) => {
        $crate::__schema_args! { @walk full no __boxed
            { functional $kind $ctx $op ($($rets)*)
              { $crate::table::functional_schema(stringify!($($name)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    (inplace $ctx:tt $kind:ident $op:tt ($($args:tt)*) $rets:tt $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { inplace $kind $ctx $op $rets
              { $crate::table::inplace_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    (copy $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { copy $kind $ctx $op ($($rets)*)
              { $crate::table::copy_schema(stringify!($($fname)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    (copyout $ctx:tt views $op:tt $args:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__register_form! { @outs copyout $ctx $op $args $rets $fname }
    };
    (copyinto $ctx:tt views $op:tt $args:tt $rets:tt $name:tt $fname:tt) => {
        $crate::__register_form! { @outs copyinto $ctx $op $args $rets $fname }
    };
    (@outs $form:ident $ctx:tt $op:tt ($($args:tt)*) $rets:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { $form views $ctx $op $rets
              { $crate::table::copy_outs_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    (copyout $ctx:tt $kind:ident $op:tt ($($args:tt)*) $rets:tt $name:tt [$($fname:tt)*]) => {
        $crate::__schema_args! { @walk full no __boxed
            { copyout $kind $ctx $op $rets
              { $crate::table::copy_out_schema(stringify!($($fname)*), stringify!($($args)*)) } }
            ([] {}) $($args)* , }
    };
    ($form:ident $ctx:tt $kind:ident $op:tt ($($args:tt)*) ($($rets:tt)*) $name:tt [$($fname:tt)+]) => {
        $crate::__schema_args! { @walk full no __boxed
            { $form $kind $ctx $op ($($rets)*)
              { $crate::table::out_schema(stringify!($($fname)*), stringify!($($args)*), stringify!($($rets)*)) } }
            ([] {}) $($args)* , }
    };
    // A typed form under another name (`functional_full`): the boxed form is that of the short one.
    ($form:ident $ctx:tt $kind:ident $op:tt $args:tt $rets:tt $name:tt []) => {};
}

/// A boxed kernel for each device.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed {
    ({ $form:ident $kind:ident [$library:ident $out:ident $($device:ident)*] $op:tt $rets:tt { $schema:expr } } $all:tt $params:tt) => {
        $crate::table::define($library, $schema, $crate::__completed_by!($form $out), vec![
            $((<$device as $crate::core::Device>::KIND, $crate::__two_doors! { $form $kind $device $op $rets $all })),*
        ])?;
    };
}

/// The forms that an out= form completes.
#[doc(hidden)]
#[macro_export]
macro_rules! __completed_by {
    (functional $out:ident) => {
        $out
    };
    (inplace $out:ident) => {
        $out
    };
    ($form:ident $out:ident) => {
        None
    };
}

/// The boxed kernel of one form on one device: a closure without captures. Arguments are read where they lie on the stack, and
/// what is written lies there too. Arguments of hand-written functions have the names of the row, so that one of another type is
/// an error at the row.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    (functional op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let mut reader = $crate::table::Reader::new(args, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Functional::<$device, { $crate::__results!(count $rets) }>::default();
        let outputs = <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        $crate::table::finish(stack, COUNT, outputs.map(Into::into));
        Ok(())
    } };
    (out op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        const OUTPUTS: usize = $crate::__results!(count $rets);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + OUTPUTS)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Out($crate::table::written::<$device, OUTPUTS>(outs)?);
        <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        $crate::table::keep_written(stack, INPUTS + OUTPUTS, OUTPUTS);
        Ok(())
    } };
    (autoout op $device:ident ($op:ty) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let values = ($(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
        let sink = $crate::core::structured::Functional::<$device, 1>::default();
        let [result] = <$op as $crate::core::structured::Operator<'_, $device, ($($crate::__value_type!('_ $ty),)*)>>::call(values, sink)?;
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&result, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (inplace op $device:ident ($op:ty) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        $crate::core::structured::in_place(this, |input, sink, _| {
            #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
            let mut reader = $crate::table::Reader::new(rest, 1);
            let values = ($crate::core::structured::Operand::from(input),
                $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?,)*);
            <$op as $crate::core::structured::Operator<'_, $device,
                ($crate::__value_type!('_ Tensor), $($crate::__value_type!('_ $ty),)*)>>::call(values, sink)
        })?;
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (functional view $($row:tt)*) => { $crate::__kernel! { @made shared view $($row)* } };
    (copy view $($row:tt)*) => { $crate::__kernel! { @made copied view $($row)* } };
    (functional views $($row:tt)*) => { $crate::__kernel! { @made shared_parts view $($row)* } };
    (copy views $($row:tt)*) => { $crate::__kernel! { @made copied_parts view $($row)* } };
    (copyout view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let this = reader.tensor::<$device>(stringify!($this))?;
        let geometry = $($op)*(this.geometry(),
            $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&$crate::table::copied(&this, geometry)?, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (copyout views $($row:tt)*) => { $crate::__kernel! { @outs write_outs $($row)* } };
    (copyinto views $($row:tt)*) => { $crate::__kernel! { @outs copy_into $($row)* } };
    (@outs $write:ident $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let this = reader.tensor::<$device>(stringify!($this))?;
        let geometries = $($op)*(this.geometry(),
            $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
        let mut written = $crate::table::written_list::<$device>(&mut outs[0], INPUTS)?;
        let parts = $crate::table::copied_parts(&this, geometries)?;
        $crate::table::$write(&parts, &mut written)?;
        $crate::table::keep_written(stack, INPUTS + 1, 0);
        Ok(())
    } };
    (inplace view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
        let mut reader = $crate::table::Reader::new(rest, 1);
        let geometry = $($op)*(this.geometry(),
            $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
        this.set_view(geometry)?;
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (@made $how_made:ident view $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = 1 + <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let mut reader = $crate::table::Reader::new(args, 0);
        let this = reader.tensor::<$device>(stringify!($this))?;
        let geometry = $($op)*(this.geometry(),
            $(reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?),*)?;
        let result = $crate::table::IntoResults::into_results($crate::table::$how_made(&this, geometry)?);
        $crate::table::finish(stack, COUNT, result);
        Ok(())
    } };
    (inplace hand $device:ident ($($op:tt)*) $rets:tt [(arg Tensor $this:ident) $((arg $ty:ident $n:ident))*]) => { |stack| {
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (first, rest) = $crate::table::arguments(stack, 1 + OTHERS)?.split_at_mut(1);
        $crate::table::check_written(first, 0)?;
        let [this] = $crate::table::written::<$device, 1>(first)?;
        #[allow(unused_mut, unused_variables, reason = "an operator may have no argument besides self")]
        let mut reader = $crate::table::Reader::new(rest, 1);
        $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
        $($op)*(this, $($n),*)?;
        stack.truncate(stack.len() - OTHERS);
        Ok(())
    } };
    (functional hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const COUNT: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let args = $crate::table::arguments(stack, COUNT)?;
        let mut reader = $crate::table::Reader::new(args, 0);
        $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
        let result: $crate::__hand_result!($device $rets) = $($op)*($($n),*)?;
        $crate::table::finish(stack, COUNT, $crate::table::IntoResults::into_results(result));
        Ok(())
    } };
    (autoout hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
        let result: $crate::__hand_result!($device $rets) = $($op)*($($n),*)?;
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $crate::table::write_out(&result, out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
    (out hand $device:ident ($($op:tt)*) (Tensor $a:ident, Tensor $b:ident) [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 2)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let [$a, $b] = $crate::table::written::<$device, 2>(outs)?;
        $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
        $($op)*($($n,)* $a, $b)?;
        $crate::table::keep_written(stack, INPUTS + 2, 2);
        Ok(())
    } };
    (out hand $device:ident ($($op:tt)*) $rets:tt [$((arg $ty:ident $n:ident))*]) => { |stack| {
        const INPUTS: usize = <[&str]>::len(&[$(stringify!($n)),*]);
        let (inputs, outs) = $crate::table::arguments(stack, INPUTS + 1)?.split_at_mut(INPUTS);
        $crate::table::check_written(outs, INPUTS)?;
        let mut reader = $crate::table::Reader::new(inputs, 0);
        let [out] = $crate::table::written::<$device, 1>(outs)?;
        $( let $n = $crate::__hand_value!(reader $device $ty $n); )*
        $($op)*($($n,)* out)?;
        $crate::table::keep_written(stack, INPUTS + 1, 1);
        Ok(())
    } };
}

/// A view of this geometry.
pub fn shared<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    this.view_as(geometry)
}

/// A contiguous copy of a view of this geometry.
pub fn copied<D: Device>(this: &Tensor<D>, geometry: Geometry) -> Result<Tensor<D>> {
    clone_tensor(&this.view_as(geometry)?, Some(MemoryFormat::Contiguous))
}

/// A view of each geometry.
pub fn shared_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    geometries.into_iter().map(|geometry| shared(this, geometry)).collect()
}

/// A contiguous copy of a view of each geometry.
pub fn copied_parts<D: Device>(this: &Tensor<D>, geometries: Vec<Geometry>) -> Result<Vec<Tensor<D>>> {
    geometries.into_iter().map(|geometry| copied(this, geometry)).collect()
}

/// The type of the result of a hand-written function.
#[doc(hidden)]
#[macro_export]
macro_rules! __hand_result {
    ($device:ident (Tensor $(($($alias:tt)*))? [])) => { Vec<$crate::core::Tensor<$device>> };
    ($device:ident (Tensor $($a:ident)?, Tensor $($b:ident)?)) => {
        ($crate::core::Tensor<$device>, $crate::core::Tensor<$device>)
    };
    ($device:ident $rets:tt) => { $crate::core::Tensor<$device> };
}

/// An argument of a hand-written function: tensors by reference, everything else as operators take it.
#[doc(hidden)]
#[macro_export]
macro_rules! __hand_value {
    ($reader:ident $device:ident Tensor $n:ident) => {
        &$reader.tensor::<$device>(stringify!($n))?
    };
    ($reader:ident $device:ident $ty:ident $n:ident) => {
        $reader.next::<$crate::__marker!($ty)>(stringify!($n), stringify!($ty))?
    };
}

/// The result of a hand-written function as boxed values.
pub trait IntoResults {
    /// The boxed values, in order.
    fn into_results(self) -> SmallVec<[IValue; 2]>;
}

impl<D: Device> IntoResults for Tensor<D> {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.into()]
    }
}

impl<D: Device> IntoResults for (Tensor<D>, Tensor<D>) {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![self.0.into(), self.1.into()]
    }
}

impl<D: Device> IntoResults for Vec<Tensor<D>> {
    fn into_results(self) -> SmallVec<[IValue; 2]> {
        smallvec![IValue::Tensors(self.into_iter().map(Tensor::into_any).collect())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monomorph_core::{DType, Meta};

    fn tensor(sizes: &[i64]) -> Tensor<Meta> {
        Tensor::zeros_contiguous(DType::F32, sizes).unwrap()
    }

    /// A kernel takes what is its own off the end of a stack, whatever lies below.
    #[test]
    fn what_lies_below_the_arguments_stays() {
        let mut stack: Stack = vec![IValue::Int(7), tensor(&[2]).into(), IValue::Bool(true)];
        assert_eq!(arguments(&mut stack, 2).unwrap().len(), 2);
        assert!(matches!(arguments(&mut stack, 4).unwrap_err().kind(), ErrorKind::ListLength { got: 3, want: 4, .. }));
        finish(&mut stack, 2, [IValue::Float(1.5)]);
        assert!(matches!(stack[..], [IValue::Int(7), IValue::Float(1.5)]));
        finish(&mut stack, 0, [IValue::None, IValue::None]);
        keep_written(&mut stack, 3, 1);
        assert!(matches!(stack[..], [IValue::Int(7), IValue::None]));
    }

    #[test]
    fn written_values_are_lent_where_they_lie() {
        let mut stack: Stack = vec![tensor(&[2]).into(), tensor(&[3]).into()];
        check_written(&stack, 0).unwrap();
        let [a, b] = written::<Meta, 2>(&mut stack).unwrap();
        a.set_view(Geometry::contiguous(DType::F32, &[1, 2]).unwrap()).unwrap();
        assert_eq!(b.sizes(), [3]);
        let IValue::Tensor(changed) = &stack[0] else { panic!("a tensor") };
        assert_eq!(changed.sizes(), [1, 2]);
        assert!(written::<Meta, 3>(&mut stack).is_err());
        stack[1] = IValue::Int(1);
        assert!(matches!(check_written(&stack, 4).unwrap_err().kind(), ErrorKind::ArgumentKind { position: 5, .. }));
    }
}
