//! Reductions and nearest-neighbour upsampling on the CPU: what PyTorch was recorded to do, a naive twin over layouts
//! and sizes, accuracy of sums, and the same bits for any number of threads and any level.

mod accuracy;
mod chunks;
mod forms;
mod here;
mod nothing;
mod recorded;
mod repeatable;
