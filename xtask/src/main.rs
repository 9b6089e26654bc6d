//! Drives every check of the workspace.
fn main() {}
