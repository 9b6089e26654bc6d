//! Iteration over memory that is not a tensor: slices, arrays of other libraries, raw buffers. Owns the checks that
//! make it safe: bounds, alignment, and that a written view reaches each element once. Converts nothing: closures get
//! and return elements of the views' own types.
//!
//! ```
//! use monomorph_iter::foreign::{ForeignView, ForeignViewMut, map2};
//!
//! let (column, row) = ([1.0f32, 2.0], [10.0f32, 20.0, 30.0]);
//! let mut sums = [0.0f32; 6];
//! map2(
//!     ForeignViewMut::contiguous(&mut sums, &[2, 3])?,
//!     ForeignView::contiguous(&column, &[2, 1])?,
//!     // The row, last element first.
//!     ForeignView::from_slice(&row, &[3], &[-1], 2)?,
//!     |x, y| x + y,
//! )?;
//! assert_eq!(sums, [31.0, 21.0, 11.0, 32.0, 22.0, 12.0]);
//! # Ok::<(), monomorph_core::Error>(())
//! ```

mod apply;
mod reduce;
mod view;

pub use apply::{ForeignIter, ForeignPlan, map1, map2, map3};
pub use reduce::{accumulate, fold, update};
pub use view::{ForeignView, ForeignViewMut};
