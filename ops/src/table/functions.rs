//! The typed forms of a row: free functions, and methods through a trait of the same name, so that one `use` brings
//! both.

/// Expands the table into functions and method traits.
#[doc(hidden)]
#[macro_export]
macro_rules! __functions {
    ([$($ctx:tt)*] $({ $($row:tt)* })*) => { $( $crate::__typed_row! { __function $($row)* } )* };
}

/// Expands the table into functions whose results are meta tensors, for operands of any device.
#[doc(hidden)]
#[macro_export]
macro_rules! __meta_functions {
    ([$($ctx:tt)*] $({ $($row:tt)* })*) => { $( $crate::__typed_row! { __meta_function $($row)* } )* };
}

/// The forms of one row.
#[doc(hidden)]
#[macro_export]
macro_rules! __typed_row {
    ($each:ident [] () -> () : $kind:ident $op:tt {}) => {};
    ($each:ident $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt $forms:tt) => {
        $crate::__declare_row! { $each $kind $name $args $rets }
        $crate::__agree_row! { $each $kind $op $args $rets }
        $crate::__row_forms! { {__each_form} {$each $name $args -> $rets} $kind $op $forms }
    };
}

/// Calls `$to! { context.. : op (Operator) {forms} }` for a row whose formula or fold is the operator of a template;
/// other rows pass through.
#[doc(hidden)]
#[macro_export]
macro_rules! __row_forms {
    ({$to:ident} {$($row:tt)*} template $op:tt $forms:tt) => { $crate::$to! { $($row)* : op $op $forms } };
    ({$to:ident} {$($row:tt)*} formula ($path:path) $forms:tt) => {
        $crate::$to! { $($row)* : op ($crate::Op<$path>) $forms }
    };
    ({$to:ident} {$($row:tt)*} formula_here ($path:path) $forms:tt) => {
        $crate::$to! { $($row)* : op ($crate::pointwise::Pointwise<$path, $crate::pointwise::Here>) $forms }
    };
    ({$to:ident} {$($row:tt)*} fold ($path:path) $forms:tt) => {
        $crate::$to! { $($row)* : op ($crate::reduce::Reduce<$path, $crate::pointwise::Prebuilt>) $forms }
    };
    ({$to:ident} {$($row:tt)*} fold_here ($path:path) $forms:tt) => {
        $crate::$to! { $($row)* : op ($crate::reduce::Reduce<$path, $crate::pointwise::Here>) $forms }
    };
    ({$to:ident} {$($row:tt)*} implicit ($($how:tt)*) $forms:tt) => {
        $crate::$to! { $($row)* : composed (CompositeImplicit $($how)*) $forms }
    };
    ({$to:ident} {$($row:tt)*} explicit ($($how:tt)*) $forms:tt) => {
        $crate::$to! { $($row)* : composed (CompositeExplicit $($how)*) $forms }
    };
    ({$to:ident} {$($row:tt)*} nonfunctional ($($how:tt)*) $forms:tt) => {
        $crate::$to! { $($row)* : composed (CompositeExplicitNonFunctional $($how)*) $forms }
    };
    ({$to:ident} {$($row:tt)*} redirect ($base:ident) $forms:tt) => {
        $crate::$to! { $($row)* : composed (CompositeImplicit => $base) $forms }
    };
    // Typed calls go straight to the operator, calls by name to its name.
    ({__register_forms} {$($row:tt)*} alias ($base:ident = $op:ty) $forms:tt) => {
        $crate::__register_forms! { $($row)* : composed (CompositeImplicit => $base) $forms }
    };
    ({$to:ident} {$($row:tt)*} alias ($base:ident = $op:ty) $forms:tt) => { $crate::$to! { $($row)* : op ($op) $forms } };
    ({$to:ident} {$($row:tt)*} $kind:ident $op:tt $forms:tt) => { $crate::$to! { $($row)* : $kind $op $forms } };
}

/// Calls `$each!` for each form of one row.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_form {
    ($each:ident $name:tt $args:tt -> $rets:tt : $kind:ident $op:tt { $($form:ident $fn:tt $([$($fname:tt)*])? ;)* }) => {
        $( $crate::$each! { $form $kind $fn $op $args -> $rets $name } )*
    };
}

/// One form of one row as a function and a method.
#[doc(hidden)]
#[macro_export]
macro_rules! __function {
    ($form:ident $kind:ident - $($rest:tt)*) => {};
    (functional op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __functional_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    (functional_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __functional_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    (out op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __out_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    (out_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __out_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    (inplace op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __inplace_fn {$fn $op $name} ([] {}) $($args)* , }
    };
    (inplace_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __inplace_fn {$fn $op $name} ([] {}) $($args)* , }
    };
    (functional view $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __view_fn {shared $fn $op $name} ([] {}) $($args)* , }
    };
    (inplace view $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __inplace_view_fn {$fn $op $name} ([] {}) $($args)* , }
    };
    (copy view $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __view_fn {copied $fn $op $name} ([] {}) $($args)* , }
    };
    (functional views $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __view_fn {shared_parts $fn $op $name} ([] {}) $($args)* , }
    };
    (copy views $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __view_fn {copied_parts $fn $op $name} ([] {}) $($args)* , }
    };
    // Hand-written functions are re-exported by their module; composed ones are called by name. Nothing is generated.
    ($form:ident $kind:ident $fn:tt $op:tt $args:tt -> $rets:tt $name:tt) => {};
}

/// One form of one row as a meta function.
#[doc(hidden)]
#[macro_export]
macro_rules! __meta_function {
    ($form:ident $kind:ident - $($rest:tt)*) => {};
    (functional op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk short no __meta_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    (functional_full op $fn:ident $op:tt ($($args:tt)*) -> $rets:tt $name:tt) => {
        $crate::__schema_args! { @walk full no __meta_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    ($form:ident $kind:ident $fn:tt $op:tt $args:tt -> $rets:tt $name:tt) => {};
}

/// The number of outputs and the types of results, from the returns of a schema.
#[doc(hidden)]
#[macro_export]
macro_rules! __results {
    (count (Tensor $($n:ident)?)) => { 1 };
    (count (Tensor $a:ident, Tensor $b:ident)) => { 2 };
    (owned $d:ident (Tensor $($n:ident)?)) => { $crate::core::Tensor<$d> };
    (owned $d:ident (Tensor $a:ident, Tensor $b:ident)) => { ($crate::core::Tensor<$d>, $crate::core::Tensor<$d>) };
    (owned_meta (Tensor $($n:ident)?)) => { $crate::core::Tensor<$crate::core::Meta> };
    (owned_meta (Tensor $a:ident, Tensor $b:ident)) => {
        ($crate::core::Tensor<$crate::core::Meta>, $crate::core::Tensor<$crate::core::Meta>)
    };
    (lent $t:lifetime $d:ident (Tensor $($n:ident)?)) => { &$t mut $crate::core::Tensor<$d> };
    (lent $t:lifetime $d:ident (Tensor $a:ident, Tensor $b:ident)) => {
        (&$t mut $crate::core::Tensor<$d>, &$t mut $crate::core::Tensor<$d>)
    };
    (array (Tensor $($n:ident)?) $e:expr) => { [$e] };
    (array (Tensor $a:ident, Tensor $b:ident) $e:expr) => {{ let (a, b) = $e; [a, b] }};
    (tuple (Tensor $($n:ident)?) $e:expr) => {{ let [out] = $e; out }};
    (tuple (Tensor $a:ident, Tensor $b:ident) $e:expr) => {{ let [a, b] = $e; (a, b) }};
}

/// The functional form of a row: a function, and a method if the first argument is `self`.
#[doc(hidden)]
#[macro_export]
macro_rules! __functional_fn {
    ({ $fn:ident ($op:ty) $rets:tt [$($name:tt)*] } [$(($how:ident $ty:ident $n:tt))*] {$(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "`: the functional form. Errors are those of its meta function.")]
        pub fn $fn<'t, D: $crate::core::Device>($($pn: $crate::__param_type!('t D $pty)),*)
            -> $crate::core::Result<$crate::__results!(owned D $rets)>
        where
            $op: $crate::core::structured::Operator<'t, D, ($($crate::__value_type!('t $ty),)*)>,
        {
            let args = ($($crate::__value!(D ($how $ty $n)),)*);
            let sink = $crate::core::structured::Functional::<D, { $crate::__results!(count $rets) }>::default();
            let outputs = <$op as $crate::core::structured::Operator<'t, D, _>>::call(args, sink)?;
            Ok($crate::__results!(tuple $rets outputs))
        }
        $crate::__method! { functional $fn ($op) $rets [$($ty)*] {$(($pty $pn))*} }
    };
}

/// The out= form of a row: the outputs are the last parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __out_fn {
    ({ $fn:ident ($op:ty) $rets:tt [$($name:tt)*] } [$(($how:ident $ty:ident $n:tt))*] {$(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "` into tensors of the caller, which are resized where needed. ",
            "Errors are those of its meta function, and leave every argument as it was.")]
        pub fn $fn<'t, D: $crate::core::Device>($($pn: $crate::__param_type!('t D $pty),)*
            out: $crate::__results!(lent 't D $rets)) -> $crate::core::Result<$crate::__results!(lent 't D $rets)>
        where
            $op: $crate::core::structured::Operator<'t, D, ($($crate::__value_type!('t $ty),)*)>,
        {
            let args = ($($crate::__value!(D ($how $ty $n)),)*);
            let sink = $crate::core::structured::Out($crate::__results!(array $rets out));
            let outputs = <$op as $crate::core::structured::Operator<'t, D, _>>::call(args, sink)?;
            Ok($crate::__results!(tuple $rets outputs))
        }
    };
}

/// The in-place form of a row: the first argument is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __inplace_fn {
    ({ $fn:ident ($op:ty) [$($name:tt)*] } [(arg Tensor $this:ident) $(($how:ident $ty:ident $n:tt))*]
        {(Tensor $same:ident) $(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "` written to its first argument. Errors are those of its meta function.")]
        pub fn $fn<'t, D: $crate::core::Device>($this: &'t mut $crate::core::Tensor<D>,
            $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>>
        where
            $op: for<'s> $crate::core::structured::Operator<'s, D,
                ($crate::__value_type!('s Tensor), $($crate::__value_type!('s $ty),)*)>,
        {
            $crate::core::structured::in_place($this, move |input, sink, _| {
                let args = ($crate::core::structured::Operand::from(input), $($crate::__value!(D ($how $ty $n)),)*);
                <$op as $crate::core::structured::Operator<'_, D, _>>::call(args, sink)
            })
        }
        $crate::__method! { inplace $fn ($op) [Tensor $($ty)*] {(Tensor $same) $(($pty $pn))*} }
    };
}

/// The meta form of a row: shapes and dtypes only, whatever device the operands are on.
#[doc(hidden)]
#[macro_export]
macro_rules! __meta_fn {
    ({ $fn:ident ($op:ty) $rets:tt [$($name:tt)*] } [$(($how:ident $ty:ident $n:tt))*] {$(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "` without data: sizes, strides and dtype of the result, or the error.")]
        pub fn $fn<'t, D: $crate::core::Device>($($pn: $crate::__param_type!('t D $pty)),*)
            -> $crate::core::Result<$crate::__results!(owned_meta $rets)>
        where
            $op: $crate::core::structured::Operator<'t, $crate::core::Meta, ($($crate::__value_type!('t $ty),)*)>,
        {
            let args = ($($crate::__value!(D ($how $ty $n)),)*);
            let sink = $crate::core::structured::Functional::<$crate::core::Meta, { $crate::__results!(count $rets) }>::default();
            let outputs = <$op as $crate::core::structured::Operator<'t, $crate::core::Meta, _>>::call(args, sink)?;
            Ok($crate::__results!(tuple $rets outputs))
        }
    };
}

/// Expands the table into functions that check a call once and keep it.
#[doc(hidden)]
#[macro_export]
macro_rules! __prepared_functions {
    ([$($ctx:tt)*] $({ $($row:tt)* })*) => { $( $crate::__prepared_row! { $($row)* } )* };
}

/// The rows that are structured operators and have an out= form.
#[doc(hidden)]
#[macro_export]
macro_rules! __prepared_row {
    ($name:tt $args:tt -> $rets:tt : formula ($path:path) $forms:tt) => {
        $crate::__prepared_row! { @op ($crate::Op<$path>) $name $args $rets $forms }
    };
    ($name:tt $args:tt -> $rets:tt : fold ($path:path) $forms:tt) => {
        $crate::__prepared_row! { @op ($crate::reduce::Reduce<$path, $crate::pointwise::Prebuilt>) $name $args $rets $forms }
    };
    ($name:tt $args:tt -> $rets:tt : template ($op:ty) $forms:tt) => {
        $crate::__prepared_row! { @op ($op) $name $args $rets $forms }
    };
    (@op $op:tt $name:tt ($($args:tt)*) $rets:tt { functional $fn:ident; $($rest:tt)+ }) => {
        $crate::__schema_args! { @walk full no __prepared_fn {$fn $op $rets $name} ([] {}) $($args)* , }
    };
    ($($rest:tt)*) => {};
}

/// The prepared form of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! __prepared_fn {
    ({ $fn:ident ($op:ty) $rets:tt [$($name:tt)*] } [$(($how:ident $ty:ident $n:tt))*] {$(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "` checked once and kept: `run` then writes the output anew from the ",
            "present contents of the operands, with no check and no allocation.")]
        pub fn $fn<'t, D>($($pn: $crate::__param_type!('t D $pty),)*
            out: $crate::__results!(lent 't D $rets))
            -> $crate::core::Result<$crate::core::structured::Prepared<'t, $op, D, { $crate::__results!(count $rets) }>>
        where
            D: $crate::core::structured::Executes<$op>,
            <$op as $crate::core::structured::StructuredOp>::Inputs<'t>:
                $crate::core::structured::FromArgs<($($crate::__value_type!('t $ty),)*)>,
        {
            let args = ($($crate::__value!(D ($how $ty $n)),)*);
            let inputs = $crate::core::structured::FromArgs::from_args(args)?;
            $crate::core::structured::prepare::<$op, D, { $crate::__results!(count $rets) }>(
                &inputs, $crate::__results!(array $rets out))
        }
    };
}

/// What a row of geometries gives: a view or several, over the same storage or copied.
#[doc(hidden)]
#[macro_export]
macro_rules! __view_result {
    ($d:ident shared) => { $crate::core::Tensor<$d> };
    ($d:ident copied) => { $crate::core::Tensor<$d> };
    ($d:ident shared_parts) => { Vec<$crate::core::Tensor<$d>> };
    ($d:ident copied_parts) => { Vec<$crate::core::Tensor<$d>> };
}

/// A view: the function maps a geometry to geometries over the same storage.
#[doc(hidden)]
#[macro_export]
macro_rules! __view_fn {
    ({ $how_made:ident $fn:ident ($($op:tt)*) [$($name:tt)*] } [(arg Tensor $this:ident) $(($how:ident $ty:ident $n:tt))*]
        {(Tensor $same:ident) $(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "`: ", $crate::__view_doc!($how_made))]
        #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
        pub fn $fn<'t, D: $crate::core::Device>($this: &'t $crate::core::Tensor<D>, $($pn: $crate::__param_type!('t D $pty)),*)
            -> $crate::core::Result<$crate::__view_result!(D $how_made)>
        {
            let _span = $crate::core::observe::operator(stringify!($fn), [$this.geometry()]);
            $($op)*($this.geometry(), $($crate::__value!(D ($how $ty $n))),*)
                .and_then(|geometry| $crate::table::$how_made($this, geometry))
                .map_err(|e| e.of(stringify!($fn)))
        }
        $crate::__method! { view $how_made $fn () [Tensor $($ty)*] {(Tensor $same) $(($pty $pn))*} }
    };
}

/// What the documentation of such a function says.
#[doc(hidden)]
#[macro_export]
macro_rules! __view_doc {
    (shared) => {
        "a view that shares the storage. Errors if there is no such view."
    };
    (copied) => {
        "a contiguous copy of this view. Errors if there is no such view."
    };
    (shared_parts) => {
        "views that share the storage. Errors if there are none such."
    };
    (copied_parts) => {
        "contiguous copies of these views. Errors if there are none such."
    };
}

/// The same on the tensor's own geometry.
#[doc(hidden)]
#[macro_export]
macro_rules! __inplace_view_fn {
    ({ $fn:ident ($($op:tt)*) [$($name:tt)*] } [(arg Tensor $this:ident) $(($how:ident $ty:ident $n:tt))*]
        {(Tensor $same:ident) $(($pty:ident $pn:ident))*}) => {
        #[doc = concat!("`", $(stringify!($name),)* "` on the tensor itself: changes its sizes and strides, not its data.")]
        #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
        pub fn $fn<'t, D: $crate::core::Device>($this: &'t mut $crate::core::Tensor<D>,
            $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>>
        {
            let _span = $crate::core::observe::operator(stringify!($fn), [$this.geometry()]);
            let geometry = $($op)*($this.geometry(), $($crate::__value!(D ($how $ty $n))),*);
            geometry.and_then(|geometry| $this.set_view(geometry)).map_err(|e| e.of(concat!($(stringify!($name)),*)))?;
            Ok($this)
        }
        $crate::__method! { inplace_view $fn () [Tensor $($ty)*] {(Tensor $same) $(($pty $pn))*} }
    };
}

/// The method of a function whose first argument is `self`.
#[doc(hidden)]
#[macro_export]
macro_rules! __method {
    (functional $fn:ident ($op:ty) $rets:tt [Tensor $($ty:ident)*] {(Tensor this) $(($pty:ident $pn:ident))*}) => {
        #[allow(non_camel_case_types, reason = "a method trait has the name of its function, so that one `use` brings both")]
        #[doc = concat!("The method [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
        pub trait $fn<D: $crate::core::Device> {
            #[doc = concat!("See the function [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
            fn $fn<'t>(&'t self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<$crate::__results!(owned D $rets)>
            where
                D: 't,
                $op: $crate::core::structured::Operator<'t, D, ($crate::__value_type!('t Tensor), $($crate::__value_type!('t $ty),)*)>;
        }
        impl<D: $crate::core::Device> $fn<D> for $crate::core::Tensor<D> {
            fn $fn<'t>(&'t self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<$crate::__results!(owned D $rets)>
            where
                D: 't,
                $op: $crate::core::structured::Operator<'t, D, ($crate::__value_type!('t Tensor), $($crate::__value_type!('t $ty),)*)>,
            {
                $fn(self, $($pn),*)
            }
        }
    };
    (inplace $fn:ident ($op:ty) [Tensor $($ty:ident)*] {(Tensor $this:ident) $(($pty:ident $pn:ident))*}) => {
        #[allow(non_camel_case_types, reason = "a method trait has the name of its function, so that one `use` brings both")]
        #[doc = concat!("The method [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
        pub trait $fn<D: $crate::core::Device> {
            #[doc = concat!("See the function [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
            fn $fn<'t>(&'t mut self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>>
            where
                D: 't,
                $op: for<'s> $crate::core::structured::Operator<'s, D, ($crate::__value_type!('s Tensor), $($crate::__value_type!('s $ty),)*)>;
        }
        impl<D: $crate::core::Device> $fn<D> for $crate::core::Tensor<D> {
            fn $fn<'t>(&'t mut self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>>
            where
                D: 't,
                $op: for<'s> $crate::core::structured::Operator<'s, D, ($crate::__value_type!('s Tensor), $($crate::__value_type!('s $ty),)*)>,
            {
                $fn(self, $($pn),*)
            }
        }
    };
    (view $how_made:ident $fn:ident () [Tensor $($ty:ident)*] {(Tensor $this:ident) $(($pty:ident $pn:ident))*}) => {
        #[allow(non_camel_case_types, reason = "a method trait has the name of its function, so that one `use` brings both")]
        #[doc = concat!("The method [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
        pub trait $fn<D: $crate::core::Device> {
            #[doc = concat!("See the function [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
            #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
            fn $fn<'t>(&'t self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<$crate::__view_result!(D $how_made)>;
        }
        impl<D: $crate::core::Device> $fn<D> for $crate::core::Tensor<D> {
            #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
            fn $fn<'t>(&'t self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<$crate::__view_result!(D $how_made)> {
                $fn(self, $($pn),*)
            }
        }
    };
    (inplace_view $fn:ident () [Tensor $($ty:ident)*] {(Tensor $this:ident) $(($pty:ident $pn:ident))*}) => {
        #[allow(non_camel_case_types, reason = "a method trait has the name of its function, so that one `use` brings both")]
        #[doc = concat!("The method [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
        pub trait $fn<D: $crate::core::Device> {
            #[doc = concat!("See the function [`", stringify!($fn), "`](fn@", stringify!($fn), ").")]
            #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
            fn $fn<'t>(&'t mut self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>>;
        }
        impl<D: $crate::core::Device> $fn<D> for $crate::core::Tensor<D> {
            #[allow(clippy::needless_lifetimes, reason = "rows with a list argument need the name")]
            fn $fn<'t>(&'t mut self, $($pn: $crate::__param_type!('t D $pty)),*) -> $crate::core::Result<&'t mut $crate::core::Tensor<D>> {
                $fn(self, $($pn),*)
            }
        }
    };
    // The first argument is not `self`: a function only.
    ($($rest:tt)*) => {};
}
