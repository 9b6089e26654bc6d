//! A device out of this library's tree, mocked: two indices, memory behind tagged pointers that the host cannot follow
//! (or can, in the second variant), a count of what is allocated, and allocations that fail when told to. What the core
//! owes a device is checked here: the right index and guard, one device per call, no leak and no change when memory
//! runs out.

mod host;
mod probe;

use host::Host;
use monomorph_core::structured::{Executes, Functional, Operand, Out, Outputs, call, in_place, prepare};
use monomorph_core::{
    Access, Contents, DType, Device, DeviceId, DeviceKind, ErrorKind, Geometry, Memory, Meta, Options, Reach, Result,
    Scalar, Strided, Tensor,
};
use probe::{Ask, Bound, Call, Fail, Probe};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// One block: which index it is on, its bytes, and where they really are.
struct Block {
    index: u8,
    bytes: usize,
    real: NonNull<u8>,
    device: NonNull<u8>,
}

// Each test has its own thread, and so its own devices.
thread_local! {
    static BLOCKS: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
    static MADE: Cell<usize> = const { Cell::new(0) };
    static FAIL_AT: Cell<Option<usize>> = const { Cell::new(None) };
    static REFUSAL: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Reads and their bytes, and how many more there may be.
    static READ: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static READS_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static CURRENT: Cell<u8> = const { Cell::new(0) };
    static ENTERED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A device of two; `NEAR` if the host can follow its pointers.
#[derive(Clone, Copy, Debug)]
struct Mock<const NEAR: bool>;

type Far = Mock<false>;
type Near = Mock<true>;

fn make(near: bool, index: u8, bytes: usize, contents: Contents) -> Option<NonNull<u8>> {
    assert!(index < 2, "there are two devices");
    let n = MADE.get();
    MADE.set(n + 1);
    if FAIL_AT.get() == Some(n) {
        return None;
    }
    let real = host::allocate(bytes, contents)?;
    let tag = 1 << 62 | usize::from(index) << 56 | n << 32;
    let device = if near { real } else { NonNull::new(std::ptr::without_provenance_mut(tag))? };
    BLOCKS.with_borrow_mut(|blocks| blocks.push(Block { index, bytes, real, device }));
    Some(device)
}

unsafe fn unmake(index: u8, block: NonNull<u8>, bytes: usize) {
    let block = BLOCKS.with_borrow_mut(|blocks| {
        let at = blocks.iter().position(|b| b.device == block).expect("a live block");
        blocks.swap_remove(at)
    });
    assert_eq!((block.index, block.bytes), (index, bytes), "freed as something else");
    // SAFETY: it was allocated with that size.
    unsafe { host::free(block.real, bytes) };
}

/// Where the memory of a device really is. The pointer must lie in a live block of device `index`.
fn real(index: u8, device: *mut u8) -> *mut u8 {
    BLOCKS.with_borrow(|blocks| {
        let inside = |b: &&Block| (b.device.addr().get()..=b.device.addr().get() + b.bytes).contains(&device.addr());
        // Real blocks may touch: the one that begins latest is meant.
        let block = blocks.iter().filter(inside).max_by_key(|b| b.device).expect("a pointer into a live block");
        assert_eq!(block.index, index, "memory of another device");
        block.real.as_ptr().wrapping_add(device.addr() - block.device.addr().get())
    })
}

unsafe fn copy_blocks(index: u8, to: NonNull<u8>, from: NonNull<u8>, bytes: usize) {
    let (to, from) = (real(index, to.as_ptr()), real(index, from.as_ptr()));
    // SAFETY: M2: two live blocks of at least that size.
    unsafe { to.copy_from_nonoverlapping(from, bytes) };
}

/// The host's side of the block of device `index` that has `bytes` bytes from an address on.
fn within(index: u8, address: *const u8, bytes: usize) -> *mut u8 {
    let first = real(index, address.cast_mut());
    assert_eq!(real(index, address.wrapping_add(bytes).cast_mut()), first.wrapping_add(bytes), "past the block");
    first
}

unsafe fn write(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    // SAFETY: M4, and `within` finds the block.
    unsafe { within(index, to, bytes).copy_from_nonoverlapping(from, bytes) };
    Ok(())
}

unsafe fn read(index: u8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
    let device = DeviceId { kind: DeviceKind(16), index };
    let left = READS_LEFT.get().checked_sub(1).ok_or(ErrorKind::Device { device, message: "lost".to_owned() })?;
    READS_LEFT.set(left);
    READ.set((READ.get().0 + 1, READ.get().1 + bytes));
    // SAFETY: M4, and `within` finds the block.
    unsafe { to.copy_from_nonoverlapping(within(index, from, bytes), bytes) };
    Ok(())
}

/// Why there is no memory, if a test has words for it.
fn refusal(index: u8) -> Option<monomorph_core::Error> {
    let device = DeviceId { kind: DeviceKind(16), index };
    REFUSAL.take().map(|message| ErrorKind::Device { device, message: message.to_owned() }.into())
}

static FAR: Memory = Memory {
    allocate: |i, n, c| make(false, i, n, c),
    free: unmake,
    copy: copy_blocks,
    reach: Reach::Transfer { write, read, refusal },
};
static NEAR: Memory =
    Memory { allocate: |i, n, c| make(true, i, n, c), free: unmake, copy: copy_blocks, reach: Reach::Host };

/// Restores the current device.
struct Guard(u8);

impl Drop for Guard {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

// SAFETY: kinds 16 and 17 are this test's; blocks come from the system allocator, zeroed where asked.
unsafe impl<const HOST: bool> Device for Mock<HOST> {
    const KIND: DeviceKind = DeviceKind(16 + HOST as u8);
    const MEMORY: Option<&'static Memory> = Some(if HOST { &NEAR } else { &FAR });
    type Guard = Guard;
    type StdOps = ();

    fn enter(index: u8) -> Guard {
        ENTERED.with_borrow_mut(|e| e.push(index));
        Guard(CURRENT.replace(index))
    }

    unsafe fn copy(index: u8, sizes: &[i64], to: Strided<'_>, from: Strided<'_>) -> Result<()> {
        assert_eq!(CURRENT.get(), index, "a copy outside of its device guard");
        let to = Strided { data: real(index, to.data), ..to };
        let from = Strided { data: real(index, from.data), ..from };
        // SAFETY: C1 and C2, passed on.
        unsafe { host::copy_elements(sizes, to, from) };
        Ok(())
    }
}

// SAFETY: writes every element of every output and reads nothing.
unsafe impl<const HOST: bool, const N: usize, const SCALARS: bool> Executes<Probe<N, SCALARS>> for Mock<HOST> {
    type Ready = (Bound, u8);

    unsafe fn ready(fail: &Fail, _: &Ask<'_>, outputs: &Outputs<'_>) -> Result<(Bound, u8)> {
        Ok((probe::bind(N, *fail, outputs)?, CURRENT.get()))
    }

    unsafe fn run((bound, index): &mut (Bound, u8), _: &Fail) -> Result<()> {
        assert_eq!(CURRENT.get(), *index, "a kernel outside of its device guard");
        for (geometry, data) in &bound.outputs {
            // SAFETY: `real` checks that the pointer lies in a block of the current device; E2 for the rest.
            unsafe { probe::count(geometry, real(*index, *data)) };
        }
        probe::outcome(bound.fail)
    }
}

const fn far(index: u8) -> DeviceId {
    DeviceId { kind: DeviceKind(16), index }
}

fn on(device: DeviceId) -> Options {
    Options::new(DType::F32, device)
}

fn tensor<D: Device>(sizes: &[i64], index: u8) -> Tensor<D> {
    let strides = monomorph_core::strides::contiguous_strides(sizes);
    Tensor::zeroed(DType::F32, sizes, &strides, index).expect("memory")
}

/// The values of a tensor on any device, looked up behind the core's back.
fn peek<const HOST: bool>(t: &Tensor<Mock<HOST>>) -> Vec<f64> {
    let index = t.device().index;
    let whole =
        t.with_geometry(Geometry::new(DType::F32, t.sizes(), t.strides(), t.offset()).expect("legal")).expect("a view");
    let mut near = tensor::<Host>(t.sizes(), 0);
    // SAFETY: nobody else borrows the storage in these tests.
    let data = real(index, unsafe { whole.as_operand().data() });
    let mut into = near.data_mut::<f32>().expect("host data");
    for (n, i) in host::indices(t.sizes()).iter().enumerate() {
        // SAFETY: in bounds of the block that `real` found.
        into[n] = unsafe { host::load(data.wrapping_offset(host::offset(i, t.strides(), DType::F32)), DType::F32) }
            .to_f64() as f32;
    }
    into.iter().map(|x| f64::from(*x)).collect()
}

fn live() -> usize {
    BLOCKS.with_borrow(Vec::len)
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.kind().clone(),
    }
}

fn counting(n: usize) -> Vec<f64> {
    (1..=n).map(|i| i as f64).collect()
}

type Plain = Probe<1>;
type Scalars = Probe<1, true>;

#[test]
fn mixed_devices_name_the_argument() {
    let (a0, b1) = (tensor::<Far>(&[2], 0), tensor::<Far>(&[2], 1));
    let cpu = tensor::<Host>(&[2], 0);
    let number = Operand::from(Scalar::Int(1));
    let mismatch = |operands: &[Operand<'_>], arg: &str, got: DeviceId, want: DeviceId| {
        let ask = Ask::calls(&[Call::raw(&[2], on(want))]).of(operands);
        let want = ErrorKind::DeviceMismatch { arg: arg.to_owned().into(), got, want };
        assert_eq!(kind(call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default())), want);
        assert_eq!(kind(call::<Scalars, Far, _>(&ask, Functional::<Far, 1>::default())), want);
    };
    mismatch(&[(&a0).into(), (&b1).into()], "1", far(1), far(0));
    mismatch(&[(&b1).into(), (&a0).into()], "1", far(0), far(1));
    mismatch(&[(&a0).into(), number, Operand::Absent, (&b1).into()], "3", far(1), far(0));
    mismatch(&[(&a0).into(), (&cpu).into()], "1", DeviceId::CPU, far(0));
    mismatch(&[(&cpu).into(), (&a0).into()], "0", DeviceId::CPU, far(0));
    mismatch(&[number, (&cpu).into()], "1", DeviceId::CPU, far(0));
    // With an output that exists: positions of inputs do not shift, and outputs have names of their own.
    let mut out = tensor::<Far>(&[2], 0);
    let ask = Ask::calls(&[Call::raw(&[2], on(far(0)))]).of(&[number, (&b1).into()]);
    let want = ErrorKind::DeviceMismatch { arg: "1".into(), got: far(1), want: far(0) };
    assert_eq!(kind(call::<Plain, Far, _>(&ask, Out([&mut out]))), want);
    assert_eq!(kind(prepare::<Plain, Far, 1>(&ask, [&mut out])), want);
    assert_eq!(kind(in_place(&mut out, |_, sink, _| call::<Plain, Far, _>(&ask, sink))), want);
    let mut second = tensor::<Far>(&[2], 1);
    let calls = [Call::raw(&[2], on(far(0))), Call::raw(&[2], on(far(0))).at(1)];
    let want = ErrorKind::DeviceMismatch { arg: "out 1".into(), got: far(1), want: far(0) };
    assert_eq!(kind(call::<Probe<2>, Far, _>(&Ask::calls(&calls), Out([&mut out, &mut second]))), want);
    assert_eq!((out.version(), second.version()), (0, 0));
}

#[test]
fn zero_dim_cpu_tensors_join_where_the_operator_allows_it() {
    let (a, one, row) = (tensor::<Far>(&[2], 1), tensor::<Host>(&[], 0), tensor::<Host>(&[1], 0));
    let joined = |operands: &[Operand<'_>]| {
        let ask = Ask::calls(&[Call::raw(&[2], on(far(1)))]).of(operands);
        let plain = call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default()).map(|[t]| t);
        let scalars = call::<Scalars, Far, _>(&ask, Functional::<Far, 1>::default()).map(|[t]| t);
        (plain, scalars)
    };
    for operands in [[(&a).into(), (&one).into()], [(&one).into(), (&a).into()]] {
        let (plain, scalars) = joined(&operands);
        assert!(matches!(kind(plain), ErrorKind::DeviceMismatch { got: DeviceId::CPU, .. }));
        let new = scalars.expect("a 0-dim CPU tensor may join");
        assert_eq!(new.device(), far(1));
        assert_eq!(peek(&new), counting(2));
    }
    for operands in [[(&a).into(), (&row).into()], [(&row).into(), (&a).into()]] {
        let (plain, scalars) = joined(&operands);
        assert!(matches!(kind(plain), ErrorKind::DeviceMismatch { .. }));
        assert!(matches!(kind(scalars), ErrorKind::DeviceMismatch { .. }));
    }
    // Another index is another device, also for a 0-dim tensor.
    let other = tensor::<Far>(&[], 0);
    assert!(matches!(kind(joined(&[(&a).into(), (&other).into()]).1), ErrorKind::DeviceMismatch { .. }));
    // Only such tensors: the call runs where its outputs are declared.
    let new = joined(&[(&one).into()]).1.expect("a result");
    assert_eq!(new.device(), far(1));
}

#[test]
fn calls_without_tensors_run_where_they_declare() {
    for index in [0, 1] {
        let ask = Ask::calls(&[Call::raw(&[3], on(far(index)))]);
        ENTERED.take();
        let [new] = call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default()).expect("a result");
        assert_eq!(new.device(), far(index));
        assert_eq!(peek(&new), counting(3));
        assert!(ENTERED.take().iter().all(|i| *i == index));
    }
    // Elsewhere than the operands, or on another kind: the meta function is wrong.
    let a = tensor::<Far>(&[2], 0);
    let broken = [
        Ask::calls(&[Call::raw(&[2], on(far(1)))]).of(&[(&a).into()]),
        Ask::calls(&[Call::raw(&[2], on(DeviceId::CPU))]),
    ];
    for ask in broken {
        let error = kind(call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default()));
        assert!(matches!(error, ErrorKind::MetaContract { index: 0, .. }), "{error:?}");
    }
}

/// Kernels, their binding and the copies out of proxies run with the device of the call current; `Mock` asserts it. The
/// device that was current before is current again afterwards, also after an error.
#[test]
fn guards_hold_the_index_of_the_call() {
    for (index, fail) in [(0, Fail::Never), (1, Fail::Never), (1, Fail::Run), (1, Fail::Ready)] {
        for before in [0, 1] {
            CURRENT.set(before);
            let a = tensor::<Far>(&[2, 3], index);
            let mut out = tensor::<Far>(&[2, 3], index);
            let call_of = Call::raw(&[2, 3], on(far(index))).strided(&[1, 2]);
            let ask = Ask::calls(&[call_of]).of(&[(&a).into()]).failing(fail);
            ENTERED.take();
            let result = call::<Plain, Far, _>(&ask, Out([&mut out])).map(|_| ());
            assert_eq!(result.is_ok(), fail == Fail::Never);
            let result = call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default());
            assert_eq!(result.is_ok(), fail == Fail::Never);
            let entered = ENTERED.take();
            assert!(entered.len() >= 2 && entered.iter().all(|i| *i == index), "{entered:?}");
            assert_eq!(CURRENT.get(), before, "the device that was current is not restored");
            if fail == Fail::Never {
                assert_eq!(peek(&out), counting(6));
                let mut prepared = prepare::<Plain, Far, 1>(&ask, [&mut out]).expect("a call");
                assert_eq!(CURRENT.get(), before);
                prepared.run().expect("a run");
                assert_eq!(CURRENT.get(), before);
            }
        }
    }
    CURRENT.set(0);
    assert_eq!(live(), 0);
}

/// Makes the first, second, ... allocation of `attempt` fail, until it succeeds. After each failure nothing may be left
/// over and nothing changed; `observe` sees what there is to change.
fn starve<S, O: PartialEq + std::fmt::Debug>(
    setup: impl Fn() -> S,
    observe: impl Fn(&S) -> O,
    attempt: impl Fn(&mut S) -> Result<()>,
) -> usize {
    for failing in 0.. {
        let mut state = setup();
        let before = (observe(&state), live());
        FAIL_AT.set(Some(MADE.get() + failing));
        let result = attempt(&mut state);
        FAIL_AT.set(None);
        let Err(error) = result else {
            drop(state);
            assert_eq!(live(), 0, "leaked");
            return failing;
        };
        assert!(matches!(error.kind(), ErrorKind::Allocation { .. }), "{error}");
        assert_eq!((observe(&state), live()), before, "changed by allocation {failing} failing");
        drop(state);
        assert_eq!(live(), 0, "leaked");
    }
    0
}

fn starved<const HOST: bool>() {
    let id = |index| DeviceId { kind: <Mock<HOST>>::KIND, index };
    let two = |sizes: &[i64]| [Call::raw(sizes, on(id(1))), Call::raw(&[4, 5], on(id(1))).strided(&[1, 4]).at(1)];
    let fresh = || [tensor::<Mock<HOST>>(&[2, 3], 1), tensor::<Mock<HOST>>(&[4, 5], 1)];
    let seen = |state: &[Tensor<Mock<HOST>>; 2]| {
        state.each_ref().map(|t| (format!("{:?}", t.geometry()), t.storage_bytes(), t.version(), peek(t)))
    };
    // Functional: both outputs.
    let ask = Ask::calls(&two(&[2, 3]));
    let functional =
        |_: &mut ()| call::<Probe<2>, Mock<HOST>, _>(&ask, Functional::<Mock<HOST>, 2>::default()).map(|_| ());
    assert_eq!(starve(|| (), |()| (), functional), 2);
    // out=: a proxy for the second; growth of the first and a proxy; growth of both.
    for (sizes, allocations) in [(&[2, 3][..], 1), (&[5, 5], 2)] {
        let ask = Ask::calls(&two(sizes));
        let out = |[a, b]: &mut [Tensor<Mock<HOST>>; 2]| call::<Probe<2>, Mock<HOST>, _>(&ask, Out([a, b])).map(|_| ());
        assert_eq!(starve(fresh, seen, out), allocations);
        let kept = |[a, b]: &mut [Tensor<Mock<HOST>>; 2]| prepare::<Probe<2>, Mock<HOST>, 2>(&ask, [a, b])?.run();
        assert_eq!(starve(fresh, seen, kept), allocations);
    }
    let both = Ask::calls(&[Call::raw(&[30], on(id(1))), Call::raw(&[40], on(id(1))).at(1)]);
    let out = |[a, b]: &mut [Tensor<Mock<HOST>>; 2]| call::<Probe<2>, Mock<HOST>, _>(&both, Out([a, b])).map(|_| ());
    assert_eq!(starve(fresh, seen, out), 2);
    // In-place: a proxy.
    let ask = Ask::calls(&[Call::raw(&[2, 3], on(id(1))).strided(&[1, 2])]);
    let this = |[a, _]: &mut [Tensor<Mock<HOST>>; 2]| {
        in_place(a, |_, sink, _| call::<Plain, Mock<HOST>, _>(&ask, sink)).map(|_| ())
    };
    assert_eq!(starve(fresh, seen, this), 1);
    // Outside of operators: making, growing, and a copy that must be staged.
    let zeroed = |_: &mut ()| Tensor::<Mock<HOST>>::zeroed(DType::F32, &[3], &[1], 0).map(|_| ());
    assert_eq!(starve(|| (), |()| (), zeroed), 1);
    let grow = |[a, _]: &mut [Tensor<Mock<HOST>>; 2]| a.grow_to(Geometry::new(DType::F32, &[99], &[1], 0)?);
    assert_eq!(starve(fresh, seen, grow), 1);
    let staged = |[a, _]: &mut [Tensor<Mock<HOST>>; 2]| {
        let source = a.with_geometry(Geometry::new(DType::F32, &[2], &[2], 0)?)?;
        a.with_geometry(Geometry::new(DType::F32, &[2], &[2], 2)?)?.copy_from(&source)
    };
    assert_eq!(starve(fresh, seen, staged), 1);
}

#[test]
fn a_far_device_that_runs_out_of_memory() {
    starved::<false>();
}

#[test]
fn a_near_device_that_runs_out_of_memory() {
    starved::<true>();
}

/// A kernel that cannot be bound takes growth back, and frees what was made for it.
#[test]
fn failed_bindings_leak_nothing() {
    for fail in [Fail::Ready, Fail::Run] {
        let mut out = tensor::<Far>(&[2, 3], 1);
        let ask = Ask::calls(&[Call::raw(&[5, 5], on(far(1))).contiguous()]).failing(fail);
        assert!(call::<Plain, Far, _>(&ask, Out([&mut out])).is_err());
        assert_eq!(out.storage_bytes(), 24);
        assert_eq!(live(), 1);
        assert!(call::<Plain, Far, _>(&ask, Functional::<Far, 1>::default()).is_err());
        assert_eq!(live(), 1);
        drop(out);
        assert_eq!(live(), 0);
    }
}

#[test]
fn growth_moves_the_bytes_of_a_far_storage() {
    let mut t = tensor::<Far>(&[2, 3], 1);
    call::<Plain, Far, _>(&Ask::calls(&[Call::raw(&[2, 3], on(far(1)))]), Out([&mut t])).expect("a result");
    let view = t.with_geometry(Geometry::new(DType::F32, &[3], &[1], 3).expect("legal")).expect("a view");
    t.grow_to(Geometry::new(DType::F32, &[8], &[1], 0).expect("legal")).expect("memory");
    assert_eq!(peek(&t), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
    assert_eq!(peek(&view), [4.0, 5.0, 6.0]);
    drop((t, view));
    assert_eq!(live(), 0);
}

#[test]
fn copies_stay_on_one_device() {
    let (mut a, b) = (tensor::<Far>(&[2, 2], 0), tensor::<Far>(&[2, 2], 1));
    let want = ErrorKind::DeviceMismatch { arg: "src".into(), got: far(1), want: far(0) };
    assert_eq!(kind(a.copy_from(&b)), want);
    let mut c = tensor::<Far>(&[2], 0);
    call::<Plain, Far, _>(&Ask::calls(&[Call::raw(&[2], on(far(0)))]), Out([&mut c])).expect("a result");
    CURRENT.set(1);
    a.copy_from(&c).expect("a broadcast copy");
    assert_eq!(CURRENT.replace(0), 1);
    assert_eq!(peek(&a), [1.0, 2.0, 1.0, 2.0]);
}

/// A tensor that is printed whole comes in one transfer, the ends of a larger one in few; what is lost is left out.
#[test]
fn printing_reads_little_of_far_memory() {
    let reads = |t: &Tensor<Far>, left: usize| {
        READ.set((0, 0));
        READS_LEFT.set(left);
        let text = t.to_string();
        READS_LEFT.set(usize::MAX);
        (text, READ.get())
    };
    let small = Tensor::<Far>::from_slice_on(0, &[1f64; 1000], [10, 100]).expect("memory");
    let turned =
        small.with_geometry(Geometry::new(DType::F64, &[100, 10], &[1, 100], 0).expect("legal")).expect("a view");
    assert_eq!(reads(&small, usize::MAX).1, (1, 8000));
    assert_eq!(reads(&turned, usize::MAX).1, (1, 8000));
    assert_eq!(reads(&small, 0).0, format!("tensor(..., device='{}', size=(10, 100), dtype=torch.float64)", far(0)));
    assert_eq!(format!("{small:?}"), format!("Tensor {{ dtype: float64, sizes: [10, 100], device: {} }}", far(0)));
    // Twice six rows of which both ends are shown.
    let large = Tensor::<Far>::from_slice_on(0, &vec![1u8; 100 * 40_000], [100, 40_000]).expect("memory");
    let (text, (transfers, bytes)) = reads(&large, usize::MAX);
    assert!(text.starts_with("tensor([[1, 1, 1,  ..., 1, 1, 1],"), "{text}");
    assert!(transfers <= 24 && bytes <= 24 * 16_000, "{transfers} of {bytes}");
    for left in 0..transfers {
        let (text, _) = reads(&large, left);
        assert!(text.contains(if left < transfers / 2 { "tensor(..., " } else { "?" }), "{left}: {text}");
        assert!(text.split("device").all(|part| !part.starts_with("tensor") || !part.contains('0')), "{left}: {text}");
    }
}

#[test]
fn the_host_cannot_look_into_far_memory_and_copies_out_of_it() {
    let mut t = Tensor::<Far>::from_slice_on(1, &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).expect("memory");
    let refused = ErrorKind::NoHostData { device: far(1) };
    assert_eq!(kind(t.data::<f32>()), refused);
    assert_eq!(kind(t.data_mut::<f32>()), refused);
    assert_eq!((t.device(), peek(&t), t.version()), (far(1), counting(6), 0));
    let view = t.with_geometry(Geometry::new(DType::F32, &[2, 2], &[1, 3], 1).expect("legal")).expect("a view");
    assert_eq!(view.to_vec::<f32>(), Ok(vec![2.0, 5.0, 3.0, 6.0]));
    assert_eq!(view.storage_to_vec().expect("bytes").len(), 24);
    assert_eq!(kind(view.to_vec::<f64>()), ErrorKind::ElementType { got: DType::F32, want: DType::F64 });
    assert_eq!(Tensor::<Far>::from_slice_on(0, &[7i64], ()).and_then(|t| t.item()), Ok(Scalar::Int(7)));
    let text = format!("tensor([[1., 2., 3.],\n        [4., 5., 6.]], device='{}')", far(1));
    assert_eq!(t.to_string(), text);
    let bytes = [1u8, 0, 0, 0, 2, 0, 0, 0];
    let stored = Tensor::<Far>::from_storage(&bytes, Geometry::contiguous(DType::I32, &[2]).expect("legal"));
    assert_eq!(stored.and_then(|t| t.to_vec::<i32>()), Ok(vec![1, 2]));
    assert_eq!(Tensor::<Far>::from_slice_on::<f32>(0, &[], 0).and_then(|t| t.to_vec::<f32>()), Ok(Vec::new()));
    drop(view);
    // Host memory of an out-of-tree device is as good as the CPU's.
    let near = Tensor::<Near>::from_slice_on(0, &[1.5f32, 2.5], [2]).expect("a tensor");
    assert_eq!(near.to_vec::<f32>(), Ok(vec![1.5, 2.5]));
    // Kinds do not mix by type either.
    assert!(near.clone().into_any().downcast::<Far>().is_none());
    assert!(near.into_any().downcast::<Near>().is_some());
    drop(t);
    assert_eq!(live(), 0);
}

#[test]
fn tensors_go_from_one_device_to_another() {
    let base = Tensor::<Host>::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).expect("memory");
    let to_far = |sizes: &[i64], strides: &[i64], offset| {
        let geometry = Geometry::new(DType::F32, sizes, strides, offset).expect("legal");
        Tensor::<Far>::from_any(base.with_geometry(geometry).expect("a view").as_any(), 1).expect("a tensor")
    };
    let turned = to_far(&[3, 2], &[1, 3], 0);
    assert_eq!((turned.strides(), turned.device()), (&[1, 3][..], far(1)), "dense strides stay");
    assert_eq!(peek(&turned), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let stepped = to_far(&[2, 2], &[3, 2], 0);
    assert_eq!((stepped.strides(), stepped.storage_bytes()), (&[2, 1][..], 16), "no gap comes along");
    assert_eq!(peek(&stepped), [1.0, 3.0, 4.0, 6.0]);
    let expanded = to_far(&[2, 2], &[0, 1], 4);
    assert_eq!((expanded.storage_bytes(), peek(&expanded)), (16, vec![5.0, 6.0, 5.0, 6.0]));
    assert_eq!(to_far(&[0, 3], &[3, 1], 0).sizes(), [0, 3]);
    let negated = turned.with_geometry(turned.geometry().clone().with_neg(true)).expect("a view");
    let back = Tensor::<Host>::from_any(negated.as_any(), 0).expect("a tensor");
    assert!(!back.is_neg());
    assert_eq!(back.to_vec::<f32>(), Ok(vec![-1.0, -4.0, -2.0, -5.0, -3.0, -6.0]));
    let other = Tensor::<Near>::from_any(turned.as_any(), 0).expect("a tensor");
    assert_eq!(other.to_vec::<f32>(), turned.to_vec::<f32>());
    let dry = Tensor::<Meta>::from_any(turned.as_any(), 0).expect("shapes");
    assert_eq!((dry.sizes(), dry.strides()), (&[3, 2][..], &[1, 3][..]));
    assert_eq!(kind(Tensor::<Far>::from_any(dry.as_any(), 0)), ErrorKind::NoHostData { device: DeviceId::META });
    FAIL_AT.set(Some(MADE.get()));
    assert!(matches!(kind(Tensor::<Far>::from_any(base.as_any(), 0)), ErrorKind::Allocation { .. }));
    // A device may know why.
    for refused in [
        || Tensor::<Far>::zeroed(DType::F32, &[2], &[1], 1).map(|_| ()),
        || {
            let mut small = Tensor::<Far>::zeroed(DType::F32, &[0], &[1], 1)?;
            small.grow_to(Geometry::new(DType::F32, &[2], &[1], 0)?)
        },
    ] {
        FAIL_AT.set(Some(MADE.get()));
        REFUSAL.set(Some("it is gone"));
        let error = refused().expect_err("no memory").to_string();
        assert!(error.contains(":1: it is gone"), "{error}");
    }
    FAIL_AT.set(None);
    drop((turned, stepped, expanded, negated, other));
    assert_eq!(live(), 0);
}

#[test]
fn a_hand_written_kernel_borrows_its_tensors_at_once() {
    let (a, b) = (tensor::<Far>(&[2], 1), tensor::<Far>(&[2], 1));
    let mut out = tensor::<Far>(&[2], 1);
    {
        let access = Access::new([&a, &b], [&mut out]).expect("free tensors");
        assert_eq!(CURRENT.get(), 1, "the device is current");
        // SAFETY: the address is only compared.
        assert_eq!(access.input::<1>().1, unsafe { b.as_operand().data() });
        assert_eq!(access.output::<0>().0.sizes(), [2]);
        assert!(a.to_vec::<f32>().is_ok(), "others may read inputs");
    }
    assert_eq!((CURRENT.get(), out.version(), a.version()), (0, 1, 0));
    // An input that shares the output's storage is borrowed with it, once.
    let alias = out.clone();
    drop(Access::new([&alias, &a], [&mut out]).expect("one borrow"));
    // What others use is refused.
    let elsewhere = tensor::<Far>(&[2], 0);
    let want = ErrorKind::DeviceMismatch { arg: "1".into(), got: far(0), want: far(1) };
    assert_eq!(kind(Access::new([&a, &elsewhere], [&mut out]).map(|_| ())), want);
    let (mut near, mut other) = (tensor::<Near>(&[2], 0), tensor::<Near>(&[2], 0));
    let (shared, guarded) = (near.clone(), near.clone());
    let reader = guarded.data::<f32>().expect("free");
    let refused = kind(Access::new([&other], [&mut near]).map(|_| ()));
    assert!(matches!(refused, ErrorKind::Borrowed { state: "read", .. }), "{refused:?}");
    assert_eq!(near.version(), 0);
    drop(reader);
    let writer = near.data_mut::<f32>().expect("free");
    let refused = kind(Access::new([&shared], [&mut other]).map(|_| ()));
    assert!(matches!(refused, ErrorKind::Borrowed { state: "written", .. }), "{refused:?}");
    assert_eq!(other.version(), 0);
    drop(writer);
}
