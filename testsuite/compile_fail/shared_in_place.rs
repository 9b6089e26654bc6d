//! A tensor that is written in place next to a shared borrow of it.
use monomorph::prelude::*;

fn main() -> monomorph::Result<()> {
    let mut a = Tensor::<Cpu>::from_slice(&[1.0f32], [1])?;
    a.add_(&a)?;
    Ok(())
}
