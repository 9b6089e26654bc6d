//! Drives every check of the workspace.
#![forbid(unsafe_code)]

fn main() {}
