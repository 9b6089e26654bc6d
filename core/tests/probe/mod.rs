//! A probe: a structured operator whose `meta` makes the sink calls it is told to make and whose kernel writes 1, 2, 3,
//! ... in logical order to every output, and notes which geometry it was handed. Owns no device.

use crate::host::{self, Host};
use monomorph_core::structured::{Executes, Operand, Outputs, SinkState, StructuredOp};
use monomorph_core::{ErrorKind, Geometry, Names, Options, Result, Scalar};
use std::cell::RefCell;

/// Which declaration `meta` makes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum How {
    /// set_output_raw_strided.
    Raw,
    /// set_output_strided.
    Strided,
    /// set_output_contiguous.
    Contiguous,
}

/// One declaration.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) how: How,
    pub(crate) index: usize,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Option<Vec<i64>>,
    pub(crate) options: Options,
    pub(crate) names: Option<Names>,
}

impl Call {
    /// Output 0 with any strides.
    pub(crate) fn raw(sizes: &[i64], options: Options) -> Call {
        Call { how: How::Raw, index: 0, sizes: sizes.to_vec(), strides: None, options, names: None }
    }

    /// The same with exactly these strides.
    pub(crate) fn strided(self, strides: &[i64]) -> Call {
        Call { how: How::Strided, strides: Some(strides.to_vec()), ..self }
    }

    /// The same with exactly contiguous ones.
    pub(crate) fn contiguous(self) -> Call {
        Call { how: How::Contiguous, ..self }
    }

    /// The same for another output.
    pub(crate) fn at(self, index: usize) -> Call {
        Call { index, ..self }
    }
}

/// Where a call is to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Fail {
    /// Nowhere.
    #[default]
    Never,
    /// When the kernel is bound.
    Ready,
    /// In the kernel, which has written by then.
    Run,
}

/// The arguments of a probe.
#[derive(Clone)]
pub(crate) struct Ask<'t> {
    pub(crate) operands: Vec<Operand<'t>>,
    pub(crate) calls: Vec<Call>,
    pub(crate) fail: Fail,
}

impl<'t> Ask<'t> {
    /// Declarations without operands.
    pub(crate) fn calls(calls: &[Call]) -> Ask<'t> {
        Ask { operands: vec![], calls: calls.to_vec(), fail: Fail::Never }
    }

    /// The same with operands.
    pub(crate) fn of(self, operands: &[Operand<'t>]) -> Ask<'t> {
        Ask { operands: operands.to_vec(), ..self }
    }

    /// The same, failing.
    pub(crate) fn failing(self, fail: Fail) -> Ask<'t> {
        Ask { fail, ..self }
    }
}

/// A probe with `N` outputs.
pub(crate) struct Probe<const N: usize, const SCALARS: bool = false>;

impl<const N: usize, const SCALARS: bool> StructuredOp for Probe<N, SCALARS> {
    const NAME: &'static str = "probe";
    const OUTPUTS: usize = N;
    const CPU_SCALARS: bool = SCALARS;
    type Inputs<'t> = Ask<'t>;
    type Plan = Fail;
    type Home = Self;

    fn operands<'a, 't>(ask: &'a Self::Inputs<'t>) -> &'a [Operand<'t>] {
        &ask.operands
    }

    fn meta(ask: &Ask<'_>, sink: &mut SinkState<'_>, plan: &mut Fail) -> Result<()> {
        assert_eq!(sink.noutputs(), N);
        for Call { how, index, sizes, strides, options, names } in ask.calls.iter().cloned() {
            match (how, &strides) {
                (How::Raw, hint) => sink.set_output_raw_strided(index, &sizes, hint.as_deref(), options, names)?,
                (How::Strided, Some(strides)) => sink.set_output_strided(index, &sizes, strides, options, names)?,
                (How::Strided, None) => unreachable!("an exact-strides call without strides"),
                (How::Contiguous, _) => sink.set_output_contiguous(index, &sizes, options, names)?,
            }
            assert_eq!(sink.written(index).map(Geometry::sizes), Some(sizes.as_slice()));
        }
        *plan = ask.fail;
        Ok(())
    }
}

/// A bound probe: outputs, and a failure to come.
pub(crate) struct Bound {
    pub(crate) outputs: Vec<(Geometry, *mut u8)>,
    pub(crate) fail: Fail,
}

thread_local! {
    /// Geometries that the last kernel on this thread was bound to.
    pub(crate) static SEEN: RefCell<Vec<Geometry>> = const { RefCell::new(Vec::new()) };
}

/// Binds a probe of `n` outputs.
pub(crate) fn bind(n: usize, fail: Fail, outputs: &Outputs<'_>) -> Result<Bound> {
    if fail == Fail::Ready {
        return Err(ErrorKind::EmptyInput.into());
    }
    let outputs: Vec<_> = (0..n).map(|i| (outputs.geometry(i).clone(), outputs.data(i))).collect();
    SEEN.set(outputs.iter().map(|(g, _)| g.clone()).collect());
    Ok(Bound { outputs, fail })
}

/// Writes 1, 2, 3, ... in logical order.
///
/// # Safety
///
/// `data` is the first element of memory that the host can follow and the geometry fits.
pub(crate) unsafe fn count(geometry: &Geometry, data: *mut u8) {
    for (n, index) in host::indices(geometry.sizes()).iter().enumerate() {
        let place = data.wrapping_offset(host::offset(index, geometry.strides(), geometry.dtype()));
        // SAFETY: the caller's promise.
        unsafe { host::store(place, geometry.dtype(), Scalar::Int(n as i64 + 1)) };
    }
}

/// What the kernel returns.
pub(crate) fn outcome(fail: Fail) -> Result<()> {
    if fail == Fail::Run { Err(ErrorKind::DivisionByZero.into()) } else { Ok(()) }
}

// SAFETY: writes every element of every output and reads nothing.
unsafe impl<const N: usize, const SCALARS: bool> Executes<Probe<N, SCALARS>> for Host {
    type Ready = Bound;

    unsafe fn ready(fail: &Fail, _: &Ask<'_>, outputs: &Outputs<'_>) -> Result<Bound> {
        bind(N, *fail, outputs)
    }

    unsafe fn run(bound: &mut Bound, _: &Fail) -> Result<()> {
        for (geometry, data) in &bound.outputs {
            // SAFETY: E2: borrowed, and the geometry was checked.
            unsafe { count(geometry, *data) };
        }
        outcome(bound.fail)
    }
}
