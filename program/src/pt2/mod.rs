//! Archives of `torch.export.save` (.pt2, schema major 8): from bytes to a [`Program`](crate::Program). Nothing is
//! unpickled, every number of the file is checked before it is used, and what is not understood is an error.
//!
//! | file | owns |
//! | --- | --- |
//! | `archive` | the zip: where entries lie, what they hold, how much may be inflated |
//! | `model` | the JSON as structures |
//! | `numbers` | the numbers by which the JSON means dtypes, layouts and memory formats |
//! | `weights` | tensors over the records of an archive |
//! | `literal` | arguments of nodes as arguments of schemas |
//! | `target` | what a node calls |
//! | `graph` | one graph of the JSON as a [`Graph`](crate::Graph) |
//! | `read` | the whole |

mod archive;
mod graph;
mod literal;
mod model;
mod numbers;
mod read;
mod target;
mod weights;

pub(crate) use read::read;
