//! A call bound to memory: from what `meta` declares to a kernel that has run, or that is kept to be run. The generic
//! part of every call; what is not generic is in `devices.rs` and `commit.rs`.

use super::alike::Alike;
use super::commit::{Committed, Proxy};
use super::devices::{common_device, declared_device};
use super::slot::{Place, Slot};
use super::state::SinkState;
use super::{Elementwise, Executes, StructuredOp};
use crate::error::Result;
use crate::geometry::Geometry;
use crate::options::DeviceId;
use crate::storage::borrow::Home;
use crate::storage::recorder;
use crate::storage::recording::BoundKernel;
use crate::storage::{Device, Header, Held, Strided, on_host};

/// The outputs that a kernel is bound to, in order.
pub struct Outputs<'a> {
    entries: &'a [(&'a Geometry, *mut u8)],
}

impl Outputs<'_> {
    /// The geometry that the kernel writes for output `i`.
    pub fn geometry(&self, i: usize) -> &Geometry {
        self.entries[i].0
    }

    /// The first element of output `i`.
    #[inline]
    pub fn data(&self, i: usize) -> *mut u8 {
        self.entries[i].1
    }
}

/// A call that is kept: its outputs exist and their storages are borrowed.
pub struct Bound<'t, Op: StructuredOp, D: Executes<Op>> {
    ready: D::Ready,
    plan: Op::Plan,
    committed: Committed<'t>,
    index: u8,
}

impl<'t, Op: StructuredOp, D: Executes<Op>> Bound<'t, Op, D> {
    /// The borrow of the storage with this header.
    pub(super) fn held(&mut self, header: &Header) -> Option<&mut Held<'t>> {
        self.committed.held.of(header)
    }

    /// Runs the kernel, copies proxies back and counts the writes, also those of a kernel that failed on the way.
    pub(super) fn run(&mut self) -> Result<()> {
        let _guard = D::enter(self.index);
        // SAFETY: `committed` still borrows every storage (E2), and this is the plan (E3).
        let ran = unsafe { D::run(&mut self.ready, &self.plan) };
        self.committed.conclude(ran, self.index, copy_back::<D>)
    }
}

#[cold]
fn copy_back<D: Device>(proxy: &Proxy, index: u8) -> Result<()> {
    let side = |g: &Geometry, data| (g.dtype(), g.is_conj(), g.is_neg(), data);
    let (dtype, conj, neg, data) = side(&proxy.to, proxy.data);
    let to = Strided { data, strides: proxy.to.strides(), dtype, conj, neg };
    let source = proxy.from.geometry();
    // SAFETY: the proxy is owned by this call, so nobody writes it.
    let data = unsafe { proxy.from.as_ref().data() };
    let from = Strided {
        data,
        strides: source.strides(),
        dtype: source.dtype(),
        conj: source.is_conj(),
        neg: source.is_neg(),
    };
    // SAFETY: C1: both geometries were checked against their storages, the output is write-borrowed and the proxy is
    // ours. C2: the output has been checked for internal overlap by the operator; the proxy is a storage of its own.
    unsafe { D::copy(index, proxy.to.sizes(), to, from) }
}

/// Lets `meta` write the plan and declare every output, and returns the device of the call.
#[inline]
fn planned<'t, Op: StructuredOp, D: Executes<Op>>(
    inputs: &Op::Inputs<'t>,
    plan: &mut Op::Plan,
    state: &mut SinkState<'_>,
) -> Result<DeviceId> {
    if Op::OUTPUTS == 1 {
        Alike::look(Op::operands(inputs), state.slots, &mut state.alike);
    }
    let of_operands =
        if state.is_meta() { None } else { common_device(Op::operands(inputs), state, Op::CPU_SCALARS, D::KIND)? };
    Op::meta(inputs, state, plan)?;
    match (&*state.slots, of_operands) {
        ([Slot { declared: Some(declared), .. }], device)
            if declared.kind == D::KIND && device.is_none_or(|device| *declared == device) =>
        {
            Ok(*declared)
        }
        _ => declared_device(state, D::KIND, of_operands),
    }
}

/// A kernel that has run, to be run again.
struct Again<Op: StructuredOp, D: Executes<Op>> {
    ready: D::Ready,
    plan: Op::Plan,
    index: u8,
}

// SAFETY: another thread may run and drop `ready`, by the promise of `Executes`; the rest is `Send`.
unsafe impl<Op: StructuredOp, D: Executes<Op>> Send for Again<Op, D> {}

impl<Op: StructuredOp, D: Executes<Op>> BoundKernel for Again<Op, D> {
    unsafe fn run(&mut self) -> Result<()> {
        let _guard = D::enter(self.index);
        // SAFETY: nobody else uses the storages, which are where they were (the caller's promise, E2), and this is the
        // plan (E3).
        unsafe { D::run(&mut self.ready, &self.plan) }.map_err(|e| e.of(Op::NAME))
    }

    fn elementwise(&self) -> Option<Elementwise> {
        D::elementwise(&self.ready, &self.plan)
    }
}

/// Gives a kernel that has run to what is being recorded.
#[cold]
fn keep<Op: StructuredOp, D: Executes<Op>>(
    ready: Result<D::Ready>,
    plan: Op::Plan,
    index: u8,
    committed: &Committed<'_>,
) {
    match (ready, committed.storages()) {
        (Ok(ready), Some((headers, written))) if const { on_host::<D>() } => {
            recorder::keep(Box::new(Again::<Op, D> { ready, plan, index }), headers, written);
        }
        _ => recorder::refuse(),
    }
}

/// Calls, compiled where their operators are: the compiler puts a method in the unit of its type's module.
pub(super) trait Calling {
    /// Declares the outputs, commits, runs and concludes. The generic part is this shell; the work is in functions that
    /// are not generic, and nothing large is moved.
    fn run<Op: StructuredOp, D: Executes<Op>>(inputs: &Op::Inputs<'_>, state: &mut SinkState<'_>) -> Result<()>;

    /// Declares the outputs, commits and binds, for a call that is kept.
    fn bind<'t, Op: StructuredOp, D: Executes<Op>>(
        inputs: &Op::Inputs<'t>,
        state: &mut SinkState<'_>,
    ) -> Result<Bound<'t, Op, D>>;
}

impl<H: ?Sized> Calling for H {
    fn run<Op: StructuredOp, D: Executes<Op>>(inputs: &Op::Inputs<'_>, state: &mut SinkState<'_>) -> Result<()> {
        let mut plan = Op::Plan::default();
        let device = planned::<Op, D>(inputs, &mut plan, state)?;
        // Asked of a constant, so that what follows is not compiled for devices without memory.
        if const { D::MEMORY.is_none() } {
            commit_meta(state);
            return Ok(());
        }
        let Some(memory) = D::MEMORY else { return Ok(()) };
        let _guard = D::enter(device.index);
        let mut committed = Committed::default();
        committed.commit(Op::operands(inputs), state, memory, Home::here())?;
        let mut ready = {
            let (one, many);
            let entries: &[(&Geometry, *mut u8)] = match committed.only_entry(state) {
                Some(entry) => {
                    one = [entry];
                    &one
                }
                None => {
                    many = committed.entries(state);
                    &many
                }
            };
            if recorder::is_recording() {
                recorder::binds(true);
            }
            // SAFETY: E1: the plan was just written for these; E2: `committed` borrows every storage and lives longer.
            unsafe { D::ready(&plan, inputs, &Outputs { entries }) }
        };
        // By reference: moving a bound kernel out of its result would copy it.
        if recorder::is_recording() {
            recorder::binds(false);
        }
        let ran = match &mut ready {
            // SAFETY: E2 still holds, and this is the plan (E3).
            Ok(ready) => unsafe { D::run(ready, &plan) },
            Err(error) => {
                let error = error.clone();
                // SAFETY: this is the state that was committed, and the call ends here. `ready` failed, so it holds no
                // pointer; those given to it ended with that call.
                unsafe { committed.settle(state, false) };
                return Err(error);
            }
        };
        let done = committed.conclude(ran, device.index, copy_back::<D>);
        // SAFETY: this is the state that was committed, and the call ends here: the bound kernel, which has the
        // pointers, is only dropped, and a device frees memory behind the work that uses it. The borrows last until
        // then (E2).
        unsafe { committed.settle(state, done.is_ok()) };
        if recorder::is_recording() {
            keep::<Op, D>(done.clone().and(ready), plan, device.index, &committed);
        }
        done
    }

    fn bind<'t, Op: StructuredOp, D: Executes<Op>>(
        inputs: &Op::Inputs<'t>,
        state: &mut SinkState<'_>,
    ) -> Result<Bound<'t, Op, D>> {
        // It runs later than what is being recorded.
        recorder::refuse();
        let mut plan = Op::Plan::default();
        let device = planned::<Op, D>(inputs, &mut plan, state)?;
        let index = device.index;
        let _guard = D::enter(index);
        let mut committed = Committed::default();
        match D::MEMORY {
            None => commit_meta(state),
            // At home nowhere: the borrows outlive the call, and may end on another thread.
            Some(memory) => committed.commit(Op::operands(inputs), state, memory, Home::NOWHERE)?,
        }
        // SAFETY: E1: the plan was just written for these; E2: `committed` borrows every storage and moves into the
        // result.
        let ready = unsafe { D::ready(&plan, inputs, &Outputs { entries: &committed.entries(state) }) };
        match ready {
            Ok(ready) => {
                // SAFETY: this is the state that was committed, and nothing of this call can fail any more.
                unsafe { committed.settle(state, true) };
                Ok(Bound { ready, plan, committed, index })
            }
            Err(error) => {
                // SAFETY: this is the state that was committed, and the call ends here. `ready` failed, so it holds no
                // pointer; those given to it ended with that call.
                unsafe { committed.settle(state, false) };
                Err(error)
            }
        }
    }
}

/// Commits a call whose outputs are on the meta device: nothing can fail.
fn commit_meta(state: &mut SinkState<'_>) {
    for (i, slot) in state.slots.iter_mut().enumerate() {
        if slot.declared.is_none() {
            continue;
        }
        match &mut slot.place {
            Place::New(None) => {}
            Place::New(Some(raw)) => raw.become_meta(),
            Place::Existing(out) => {
                if let Some(geometry) = state.rare.change_mut(i) {
                    if let Ok(bytes) = geometry.bytes_needed() {
                        out.grow_meta(bytes);
                    }
                    out.swap_geometry(geometry);
                }
                out.bump_version();
            }
        }
    }
}
