//! A program that links every operator in every form, so that `cargo xtask bloat` has something to weigh. Prints how
//! many.
#![forbid(unsafe_code)]

fn main() {
    println!("{} overloads", monomorph::dispatcher().operators().len());
}
