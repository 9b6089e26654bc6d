//! Exported programs: the golden ones against what PyTorch computed, sessions and their buffers, and archives that
//! nobody can trust.

mod archive;
mod fuzz;
mod golden;
mod hostile;
mod memory;
mod relaxed;
mod sessions;
mod traced;
