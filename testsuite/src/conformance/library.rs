//! The library behind the oracle's border: replays calls through the boxed entry.

use super::replay::{Call, Outcome, Replayer};

/// Replays calls through the library's operator table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library;

impl Replayer for Library {
    fn call(&mut self, _call: &Call<'_>) -> Outcome {
        Outcome::Unsupported
    }
}

/// Every overload of the table, in its order.
pub fn overloads() -> Vec<String> {
    Vec::new()
}
