//! Exported programs against what PyTorch computed with them: a directory of archives with recorded inputs, outputs and
//! buffers (`record`), each run on every set of inputs (`run`) and compared within its tolerances (`compare`), and run
//! by plans as well, which must give the same bits (`planned`). Owns the
//! judgement; how a program is run is the library's.

mod compare;
mod planned;
mod record;
mod report;
mod run;

pub use record::Record;
pub use report::{Report, Tally};
pub use run::{Checked, Verdict, check, inputs};
