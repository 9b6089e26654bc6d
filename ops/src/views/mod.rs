//! Views as functions from geometry to geometry, what changes a tensor's own geometry, and copies.

pub mod complex_view;
pub mod copies;
pub mod indexing;
pub mod parts;
pub mod rearrange;
pub mod resize;
pub mod scatter;
pub mod view;
