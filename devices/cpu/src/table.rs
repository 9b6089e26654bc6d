//! The kernel table: the bodies of every in-tree formula and fold, compiled in this crate.

macro_rules! prebuild {
    ($formula:path) => {
        crate::prebuilt! { $formula }
    };
}
monomorph_ops::for_each_formula! { prebuild }

macro_rules! prebuild_fold {
    ($fold:path) => {
        crate::prebuilt_reductions! { $fold }
    };
}
monomorph_ops::for_each_fold! { prebuild_fold }
