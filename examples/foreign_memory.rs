//! TensorIter over memory that another library owns: arrays of `ndarray` are iterated, broadcast and reduced where they
//! lie. Copies nothing and needs no unsafe code.
//!
//! `cargo run --release --example foreign_memory`

use monomorph::Result;
use monomorph::crates::core::Element;
use monomorph::crates::iter::foreign::{ForeignView, ForeignViewMut, accumulate, fold, map2};
use ndarray::{Array, ArrayView, Dimension, array, s};

/// A view of `owner` as an operand. Its place is an offset into the owner's memory, so the bounds are checked, and a
/// view of some other array would be an error or wrong numbers, never a stray read.
fn operand<'a, T: Element<Stored = T>, O: Dimension, D: Dimension>(
    owner: &'a Array<T, O>,
    view: &ArrayView<'_, T, D>,
) -> Result<ForeignView<'a, T>> {
    let memory = owner.as_slice_memory_order().unwrap_or(&[]);
    let bytes = view.as_ptr().addr().wrapping_sub(memory.as_ptr().addr());
    ForeignView::from_slice(memory, view.shape(), view.strides(), bytes / size_of::<T>())
}

fn main() -> Result<()> {
    let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let row = array![10.0f32, 20.0, 30.0];

    // out = a, each row from its last element to the first, + row, broadcast over the rows.
    let mirrored = a.slice(s![.., ..;-1]);
    assert_eq!(mirrored.strides(), [3, -1]);
    let mut out = Array::<f32, _>::zeros((2, 3));
    let (sizes, strides) = (out.shape().to_vec(), out.strides().to_vec());
    let memory = out.as_slice_memory_order_mut().unwrap_or(&mut []);
    map2(
        ForeignViewMut::from_slice(memory, &sizes, &strides, 0)?,
        operand(&a, &mirrored)?,
        operand(&row, &row.view())?,
        |x, y| x + y,
    )?;
    println!("{mirrored} + {row} =\n{out}");
    assert_eq!(out, array![[13.0, 22.0, 31.0], [16.0, 25.0, 34.0]]);
    assert_eq!(out, &mirrored + &row, "ndarray itself agrees");

    // Sums of the columns: the output has size 1 where it reduces, and double precision because it asks for it.
    let mut sums = [0.0f64; 3];
    accumulate(ForeignViewMut::contiguous(&mut sums, &[1, 3])?, operand(&a, &mirrored)?, |sum, x: f32| {
        sum + f64::from(x)
    })?;
    println!("column sums {sums:?}");
    assert_eq!(sums, [9.0, 7.0, 5.0]);

    // One number from a transposed, stepped view; several threads where it is large, the same answer for any number of
    // them.
    let stepped = a.slice(s![.., ..;2]).reversed_axes();
    let largest = fold(operand(&a, &stepped)?, || f32::MIN, f32::max, f32::max)?;
    println!("largest of the outer columns {largest}");
    assert_eq!(largest, 6.0);

    // What does not fit is an error that says so.
    let error = ForeignView::from_slice(row.as_slice().unwrap_or(&[]), &[2, 3], &[3, 1], 0).map(drop).unwrap_err();
    println!("{error}");
    Ok(())
}
