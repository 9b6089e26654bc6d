//! The kernel table: the bodies of every in-tree formula, compiled in this crate.

macro_rules! prebuild {
    ($formula:path) => {
        crate::prebuilt! { $formula }
    };
}

monomorph_ops::for_each_formula! { prebuild }
