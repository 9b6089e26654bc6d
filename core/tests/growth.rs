//! What other tensors of a storage may see of it while an operator grows it for an output, and afterwards if the
//! operator fails.

mod host;

use host::Host;
use monomorph_core::structured::{Executes, Operand, Out, Outputs, SinkState, StructuredOp, call};
use monomorph_core::{DType, ErrorKind, Geometry, Options, Result, Tensor};
use std::cell::RefCell;

/// An operator whose output has 50,000 elements, and whose kernel does what [`KERNEL`] says.
struct Grows;

thread_local! {
    static KERNEL: RefCell<Box<dyn FnMut() -> Result<()>>> = RefCell::new(Box::new(|| Ok(())));
}

impl StructuredOp for Grows {
    const NAME: &'static str = "grows";
    const OUTPUTS: usize = 1;
    type Inputs<'t> = ();
    type Plan = ();
    type Home = Self;

    fn operands<'t>((): &()) -> &[Operand<'t>] {
        &[]
    }

    fn meta((): &(), sink: &mut SinkState<'_>, (): &mut ()) -> Result<()> {
        let device = sink.existing(0).map(|out| out.device()).expect("an out= call");
        sink.set_output_raw_strided(0, &[50_000], None, Options::new(DType::F32, device), None)
    }
}

// SAFETY: nothing is read or written; the output of an out= call is initialised.
unsafe impl Executes<Grows> for Host {
    type Ready = ();

    unsafe fn ready((): &(), (): &(), _: &Outputs<'_>) -> Result<()> {
        Ok(())
    }

    unsafe fn run((): &mut (), (): &()) -> Result<()> {
        KERNEL.with_borrow_mut(|kernel| kernel())
    }
}

/// A tensor of one element, and a view of its storage.
fn shared() -> (Tensor<Host>, Tensor<Host>) {
    let out = Tensor::<Host>::zeros_contiguous(DType::F32, &[1]).expect("a tensor");
    let view = out.clone();
    (out, view)
}

/// All that the grown storage would have room for.
fn long() -> Geometry {
    Geometry::new(DType::F32, &[50_000], &[1], 0).expect("legal")
}

#[test]
fn a_view_cannot_reach_into_a_growth_that_may_be_taken_back() {
    let (mut out, view) = shared();
    let other = view.clone();
    KERNEL.set(Box::new(move || {
        let error = other.with_geometry(long()).expect_err("the storage is not as long as that yet");
        assert!(matches!(error.kind(), ErrorKind::OutOfStorage { have: 4, .. }), "{error}");
        Err(ErrorKind::DivisionByZero.into())
    }));
    let failed = call::<Grows, Host, _>(&(), Out([&mut out])).map(|_| ());
    assert!(failed.is_err_and(|error| *error.kind() == ErrorKind::DivisionByZero));
    assert_eq!((out.sizes(), out.storage_bytes(), view.storage_bytes()), (&[1][..], 4, 4));
    assert!(view.with_geometry(long()).is_err());
    assert_eq!(view.to_vec::<f32>(), Ok(vec![0.0]));
}

#[test]
fn a_growth_is_everybodys_once_the_operator_has_succeeded() {
    let (mut out, view) = shared();
    KERNEL.set(Box::new(|| Ok(())));
    call::<Grows, Host, _>(&(), Out([&mut out])).map(|_| ()).expect("it succeeds");
    assert_eq!((out.sizes(), out.storage_bytes()), (&[50_000][..], 200_000));
    let long = view.with_geometry(long()).expect("as long as the storage");
    assert_eq!(long.to_vec::<f32>().expect("data").len(), 50_000);
}

/// A kernel that unwinds leaves an output that its storage holds: the growth stays.
#[test]
fn a_panic_of_the_kernel_leaves_the_output_inside_its_storage() {
    let (mut out, view) = shared();
    KERNEL.set(Box::new(|| panic!("the kernel's own")));
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        call::<Grows, Host, _>(&(), Out([&mut out])).map(|_| ())
    }));
    assert!(unwound.is_err());
    assert_eq!((out.sizes(), view.storage_bytes()), (&[50_000][..], 200_000));
    assert_eq!(out.to_vec::<f32>().map(|data| data.len()), Ok(50_000));
    out.data_mut::<f32>().expect("no borrow is left").fill(1.0);
    assert_eq!(view.to_vec::<f32>(), Ok(vec![1.0]));
}
