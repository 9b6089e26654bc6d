//! The kernels of the formulas on CUDA, checked on a machine without a GPU. Owns the list of what there is to check: every
//! formula of the table at every dtype of its domain, and chains of some; a new formula is in it by being in the table.

pub mod compiles;

use crate::formulas::formulas;
use monomorph::DType;
use monomorph::ops::algebra::sym::{Function, c_suffix};
use monomorph::ops::arithmetic::{AddFn, DivFn, MulFn, NegFn};
use monomorph::ops::comparison::LtFn;
use monomorph::ops::exponential::ExpFn;
use monomorph::ops::pointwise::{SymDomain, ThenFn, symbolic};
use monomorph_cuda::Functor;

/// One formula at one dtype.
pub struct Case {
    /// The name of the formula.
    pub formula: String,
    /// The dtype that it computes in.
    pub dtype: DType,
    /// Its kernels.
    pub functor: Functor,
}

impl Case {
    fn new(formula: &str, dtype: DType, function: Function) -> Case {
        let functor = Functor::new(&format!("{formula}_{}", c_suffix(dtype)), function);
        Case { formula: formula.to_owned(), dtype, functor }
    }

    /// The name of the case.
    pub fn name(&self) -> String {
        format!("{} {}", self.formula, c_suffix(self.dtype))
    }
}

/// A chain at every dtype of its domain.
fn chain<F: monomorph::ops::pointwise::PointwiseFn>(name: &str) -> Vec<Case>
where
    F::Domain: SymDomain<F>,
{
    DType::ALL.into_iter().filter_map(|dtype| Some(Case::new(name, dtype, symbolic::<F>(dtype)?))).collect()
}

/// Every case.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for formula in formulas() {
        let name = formula.path.rsplit("::").next().unwrap_or_default().trim();
        for dtype in formula.domain() {
            let Some(function) = (formula.symbolic)(dtype) else { continue };
            let case = Case::new(name, dtype, function);
            let functor = case.functor.with_fault((formula.symbolic_fault)(dtype)).with_light(formula.light);
            cases.push(Case { functor, ..case });
        }
    }
    cases.extend(chain::<ThenFn<MulFn, AddFn>>("MulThenAdd"));
    cases.extend(chain::<ThenFn<ThenFn<MulFn, AddFn>, NegFn>>("MulThenAddThenNeg"));
    cases.extend(chain::<ThenFn<DivFn, LtFn>>("DivThenLt"));
    cases.extend(chain::<ThenFn<MulFn, ExpFn>>("MulThenExp"));
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
