//! Safe iteration over memory that is not a tensor.
