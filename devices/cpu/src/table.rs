//! The kernel table: the kernels of every in-tree formula and fold, compiled in this crate. A module for each family, see
//! [`for_each_kernel!`](monomorph_ops::for_each_kernel!).

macro_rules! prebuild {
    ($formula:ty, $name:literal) => {
        crate::prebuilt! { $formula }
    };
}

macro_rules! prebuild_fold {
    ($fold:ty, $name:literal) => {
        crate::prebuilt_reductions! { $fold }
    };
}

mod pointwise {
    monomorph_ops::for_each_kernel! { modules Pointwise prebuild }
}
mod reduce {
    monomorph_ops::for_each_kernel! { modules Reduce prebuild_fold }
}
