//! The pages of `docs/guide`, whose programs are tests of the documentation. There is no such module in the product.

#[doc = include_str!("../docs/guide/from-pytorch.md")]
mod from_pytorch {}

#[doc = include_str!("../docs/guide/from-candle.md")]
mod from_candle {}

#[doc = include_str!("../docs/guide/from-ndarray.md")]
mod from_ndarray {}

#[doc = include_str!("../docs/guide/performance.md")]
mod performance {}

#[doc = include_str!("../docs/guide/write-an-operator.md")]
mod write_an_operator {}
