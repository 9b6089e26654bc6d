//! The kernels of the formulas on CUDA, checked on a machine without a GPU. Owns the list of what there is to check:
//! every formula of the table at every dtype of its domain, and chains of some; a new formula is in it by being in the
//! table.

pub mod compiles;
pub mod computes;
pub mod fake;
pub mod faults;
pub mod folds;
mod jobs;
pub mod nearest;

use crate::formulas::{Formula, formulas};
use monomorph::crates::ops::algebra::sym::{Function, c_suffix};
use monomorph::crates::ops::arithmetic::{AddFn, DivFn, MulFn, NegFn};
use monomorph::crates::ops::comparison::LtFn;
use monomorph::crates::ops::exponential::ExpFn;
use monomorph::crates::ops::pointwise::{PointwiseFn, SymDomain, ThenFn, symbolic};
use monomorph::{
    Cpu, DType, Scalar, Tensor,
    ops::{add_with, div, exp, lt, mul, neg, options::Add},
};
use monomorph_cuda::{CompileError, Functor, Nvrtc};
use std::path::Path;
use std::sync::Arc;

/// What pointwise kernels have to reach of the bandwidth of a copy in the same run, in per cent.
pub const POINTWISE_SHARE: f64 = 85.0;

/// The same of reductions to one element.
pub const REDUCTION_SHARE: f64 = 80.0;

/// What both checks are made of: a formula at a dtype, a fold, or a kernel without either.
pub trait Checked: Sized + Sync {
    /// The name of the case.
    fn name(&self) -> String;

    /// The name of the formula or the fold.
    fn family(&self) -> &str;

    /// The text of its kernels, and of what they share with others of their kind alone.
    fn text(&self) -> String;

    /// Whether a finding is about this case.
    fn is_of(&self, finding: &Finding) -> bool;

    /// The first check.
    ///
    /// # Errors
    /// Those of a compiler that cannot be used at all.
    fn compiles(nvrtc: &Nvrtc, cases: &[Self]) -> Result<Vec<Finding>, CompileError>;

    /// The second check, with programs below a folder.
    ///
    /// # Errors
    /// No compiler, or no room.
    fn computes(cases: &[Self], folder: &Path) -> Result<Vec<Finding>, String>;
}

/// One formula at one dtype.
pub struct Case {
    /// The name of the formula.
    pub formula: String,
    /// The dtype that it computes in.
    pub dtype: DType,
    /// Its kernels.
    pub functor: Functor,
    /// What they should compute.
    pub subject: Subject,
}

/// The operators of a chain one after another on the CPU.
pub type InTurn = fn(&[Tensor<Cpu>], &[Scalar]) -> monomorph::Result<Tensor<Cpu>>;

/// What kernels should compute.
#[derive(Clone)]
pub enum Subject {
    /// A formula of the table.
    Formula(Arc<Formula>),
    /// Formulas one after another.
    Chain(InTurn),
}

impl Case {
    fn new(formula: &str, dtype: DType, function: Function, subject: Subject) -> Case {
        let functor = Functor::new(&format!("{formula}_{}", c_suffix(dtype)), function);
        Case { formula: formula.to_owned(), dtype, functor, subject }
    }
}

impl Checked for Case {
    fn name(&self) -> String {
        format!("{} {}", self.formula, c_suffix(self.dtype))
    }
    fn family(&self) -> &str {
        &self.formula
    }
    fn text(&self) -> String {
        self.functor.text()
    }
    fn is_of(&self, finding: &Finding) -> bool {
        let kernels = format!("{}_{}_", self.formula, c_suffix(self.dtype));
        finding.place.starts_with(&kernels) || finding.place.split(", ").any(|name| name == self.name())
    }
    fn compiles(nvrtc: &Nvrtc, cases: &[Case]) -> Result<Vec<Finding>, CompileError> {
        compiles::check(nvrtc, cases)
    }
    fn computes(cases: &[Case], folder: &Path) -> Result<Vec<Finding>, String> {
        computes::check(cases, folder)
    }
}

/// A chain at every dtype of its domain.
fn chain<F: PointwiseFn>(name: &str, in_turn: InTurn) -> Vec<Case>
where
    F::Domain: SymDomain<F>,
{
    let case = |dtype| Some(Case::new(name, dtype, symbolic::<F>(dtype)?, Subject::Chain(in_turn)));
    DType::ALL.into_iter().filter_map(case).collect()
}

/// Every case.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for formula in formulas().into_iter().map(Arc::new) {
        let name = formula.path.rsplit("::").next().unwrap_or_default().trim();
        for dtype in formula.domain() {
            let Some(function) = (formula.symbolic)(dtype) else { continue };
            let case = Case::new(name, dtype, function, Subject::Formula(formula.clone()));
            let functor = case.functor.with_fault((formula.symbolic_fault)(dtype)).with_light(formula.light_on_cuda);
            cases.push(Case { functor, ..case });
        }
    }
    cases.extend(chain::<ThenFn<MulFn, AddFn>>("MulThenAdd", |x, p| {
        add_with(&mul(&x[0], &x[1])?, &x[2], Add { alpha: p[0], ..Add::default() })
    }));
    cases.extend(chain::<ThenFn<ThenFn<MulFn, AddFn>, NegFn>>("MulThenAddThenNeg", |x, p| {
        neg(&add_with(&mul(&x[0], &x[1])?, &x[2], Add { alpha: p[0], ..Add::default() })?)
    }));
    cases.extend(chain::<ThenFn<DivFn, LtFn>>("DivThenLt", |x, _| lt(&div(&x[0], &x[1])?, &x[2])));
    cases.extend(chain::<ThenFn<MulFn, ExpFn>>("MulThenExp", |x, _| exp(&mul(&x[0], &x[1])?)));
    cases
}

/// What is wrong with a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kernel, or the case.
    pub place: String,
    /// What is wrong and what would be right.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
