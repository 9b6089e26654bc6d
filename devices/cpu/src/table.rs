//! The kernel table: the kernels of every in-tree formula and fold, compiled in this crate. A module for each family,
//! see [`for_each_family!`](monomorph_ops::for_each_family!).

macro_rules! prebuild {
    ($formula:path) => {
        crate::prebuilt! { $formula }
    };
}

macro_rules! prebuild_fold {
    ($fold:path) => {
        crate::prebuilt_reductions! { $fold }
    };
}
macro_rules! prebuild_family {
    ($family:ident $rows:ident) => {
        mod $family {
            monomorph_ops::$rows! { __each formula prebuild }
            monomorph_ops::$rows! { __each fold prebuild_fold }
        }
    };
}
monomorph_ops::for_each_family! { prebuild_family }
