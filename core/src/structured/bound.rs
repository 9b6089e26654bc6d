//! Committing a declared call: storages borrowed, outputs allocated or grown, the kernel bound to memory.

use super::alike::Alike;
use super::operand::Operand;
use super::state::{Form, Place, SinkState, Slot, contract};
use super::{Executes, StructuredOp};
use crate::borrow::{self, Home};
use crate::device::{Contents, Device, DeviceId, DeviceKind, Memory, Strided};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::Geometry;
use crate::storage::{Growth, Handle, Header, Held};
use crate::strides;
use crate::tensor::{Raw, TensorRef};
use smallvec::SmallVec;

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

impl TensorRef<'_> {
    /// The first element.
    ///
    /// # Safety
    ///
    /// The storage is borrowed as long as the pointer is used (inside [`Executes`]: E2), and has data.
    pub unsafe fn data(&self) -> *mut u8 {
        match self.header() {
            // SAFETY: the caller holds a borrow.
            Some(header) => unsafe { first_element(header, self.geometry()) },
            None => std::ptr::null_mut(),
        }
    }
}

/// The first element of a geometry in a storage.
///
/// # Safety
///
/// The caller holds a borrow of the storage, and the geometry was checked against it (T1).
unsafe fn first_element(header: &Header, geometry: &Geometry) -> *mut u8 {
    // SAFETY: the caller holds a borrow.
    let base = unsafe { header.data() };
    // An empty tensor may have an offset beyond the storage; nothing is accessed through it then.
    base.wrapping_add((geometry.offset() as usize).wrapping_mul(geometry.dtype().size()))
}

/// Where a proxy goes when the kernel is done.
struct Proxy {
    output: usize,
    from: Raw,
    to: Geometry,
    data: *mut u8,
}

/// The storages of a call, borrowed, and what has to be done with them when the kernel has run.
struct Committed<'t> {
    held: Borrows<'t>,
    written: usize,
    /// What few calls have, behind one pointer.
    rare: Option<Box<RareCommitted<'t>>>,
}

/// Borrows of different storages, those for writing first.
#[derive(Default)]
struct Borrows<'t> {
    /// The first of them, without gaps. An array of options, since few are asked for and none is asked for by its place.
    few: [Option<Held<'t>>; 4],
    #[allow(clippy::box_collection, reason = "most calls have no more, and ask that by one word")]
    more: Option<Box<Vec<Held<'t>>>>,
    /// Some of them are borrows only when they are confirmed.
    announced: bool,
}

impl<'t> Borrows<'t> {
    /// Adds what `borrow` gives, unless the storage is there; 1 if it was added.
    #[inline]
    fn add(&mut self, header: &Header, borrow: impl FnOnce() -> Result<Held<'t>>) -> Result<usize> {
        for place in &mut self.few {
            match place {
                None => {
                    let held = place.insert(borrow()?);
                    self.announced |= held.is_announced();
                    return Ok(1);
                }
                Some(held) if std::ptr::eq(held.header(), header) => return Ok(0),
                Some(_) => {}
            }
        }
        self.add_more(header, borrow)
    }

    #[cold]
    fn add_more(&mut self, header: &Header, borrow: impl FnOnce() -> Result<Held<'t>>) -> Result<usize> {
        let more = self.more.get_or_insert_default();
        if more.iter().any(|held| std::ptr::eq(held.header(), header)) {
            return Ok(0);
        }
        let held = borrow()?;
        self.announced |= held.is_announced();
        more.push(held);
        Ok(1)
    }

    /// Makes borrows of what was announced.
    #[inline]
    fn confirm(&self) -> Result<()> {
        if !self.announced {
            return Ok(());
        }
        borrow::fence();
        for held in self.few.iter().flatten() {
            held.confirm()?;
        }
        match &self.more {
            None => Ok(()),
            Some(more) => more.iter().try_for_each(Held::confirm),
        }
    }

    /// Counts a write of each of the first `written`.
    #[inline]
    fn count_writes(&self, written: usize) {
        for held in self.few.iter().take(written).flatten() {
            held.header().bump_version();
        }
        if written > self.few.len() {
            for held in self.more.iter().flat_map(|more| more.iter()).take(written - self.few.len()) {
                held.header().bump_version();
            }
        }
    }
}

/// What has to be done where outputs do not suit the kernel, or are resized.
#[derive(Default)]
struct RareCommitted<'t> {
    proxies: Vec<Proxy>,
    /// Dropped only once nothing can fail any more: until then the outputs can go back to what they were.
    growths: Vec<Growth<'t>>,
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
        let Borrows { few, more, .. } = &mut self.committed.held;
        few.iter_mut()
            .flatten()
            .chain(more.iter_mut().flat_map(|more| more.iter_mut()))
            .find(|held| std::ptr::eq(held.header(), header))
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
    // SAFETY: C1: both geometries were checked against their storages, the output is write-borrowed and the proxy is ours.
    // C2: the output has been checked for internal overlap by the operator; the proxy is a storage of its own.
    unsafe { D::copy(index, proxy.to.sizes(), to, from) }
}

/// Checks that the tensors of a call are on one device, of kind `kind`, and returns it; `None` if no tensor is on such a
/// device (there are only numbers, or 0-dim CPU tensors that may join any device).
#[inline]
fn common_device(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    match &state.alike {
        Some(alike) if alike.device().kind == kind => Ok(Some(alike.device())),
        _ => device_of_each(operands, state, cpu_scalars, kind),
    }
}

/// [`common_device`] of tensors that are not alike.
#[inline(never)]
fn device_of_each(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    let mut first: Option<DeviceId> = None;
    let mut differ = 0;
    for slot in &*state.slots {
        if let Place::Existing(out) = &slot.place {
            differ |= out.device().bits() ^ first.get_or_insert(out.device()).bits();
        }
    }
    for operand in operands {
        if let Operand::Tensor(t) = operand {
            differ |= t.device().bits() ^ first.get_or_insert(t.device()).bits();
        }
    }
    match first {
        Some(device) if differ == 0 && device.kind == kind => Ok(first),
        _ => mixed_devices(operands, state, cpu_scalars, kind),
    }
}

/// [`common_device`] where not all tensors are on one device.
#[cold]
fn mixed_devices(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    kind: DeviceKind,
) -> Result<Option<DeviceId>> {
    let outputs = || (0..state.slots.len()).filter_map(|i| state.existing(i).map(|t| (i, t)));
    let inputs = || operands.iter().enumerate().filter_map(|(i, o)| o.tensor().map(|t| (i, t)));
    let may_stay = |t: &TensorRef<'_>| cpu_scalars && t.device().is_cpu() && t.geometry().ndim() == 0;
    let mut devices = outputs().chain(inputs()).map(|(_, t)| t.device());
    let Some(device) = devices.find(|d| d.kind == kind) else {
        // No tensor is where the call runs, so any that may not stay elsewhere is misplaced.
        let want = DeviceId { kind, index: 0 };
        return match inputs().find(|(_, t)| !may_stay(t)) {
            Some((i, t)) => Err(misplaced(format!("{i}"), t.device(), want)),
            None => Ok(None),
        };
    };
    if let Some((i, t)) = outputs().find(|(_, t)| t.device() != device) {
        return Err(misplaced(format!("out {i}"), t.device(), device));
    }
    match inputs().find(|(_, t)| t.device() != device && !may_stay(t)) {
        Some((i, t)) => Err(misplaced(format!("{i}"), t.device(), device)),
        None => Ok(Some(device)),
    }
}

#[cold]
fn misplaced(arg: String, got: DeviceId, want: DeviceId) -> Error {
    ErrorKind::DeviceMismatch { arg: arg.into(), got, want }.into()
}

/// The device on which the outputs were declared, which must be that of the operands where they have one. An error unless
/// every output was declared.
fn declared_device(state: &SinkState<'_>, kind: DeviceKind, operands: Option<DeviceId>) -> Result<DeviceId> {
    let mut device = operands;
    let mut elsewhere = None;
    for (index, slot) in state.slots.iter().enumerate() {
        let Some(declared) = slot.declared else { return Err(contract(index, "did not declare an output")) };
        let want = *device.get_or_insert(declared);
        if declared != want || want.kind != kind {
            elsewhere = elsewhere.or(Some(index));
        }
    }
    match elsewhere {
        Some(index) => Err(contract(index, "declared an output on another device than that of the call")),
        None => Ok(device.unwrap_or(DeviceId { kind, index: 0 })),
    }
}

/// Lets `meta` write the plan and declare every output, and returns the device of the call.
#[inline]
fn planned<'t, Op: StructuredOp, D: Executes<Op>>(
    inputs: &Op::Inputs<'t>,
    plan: &mut Op::Plan,
    state: &mut SinkState<'_>,
) -> Result<DeviceId> {
    if Op::OUTPUTS == 1 {
        state.alike = Alike::look(Op::operands(inputs), state.slots);
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

/// Declares the outputs, commits, runs and concludes. The generic part is this shell; the work is in functions that are not
/// generic, and nothing large is moved.
pub(super) fn run<Op: StructuredOp, D: Executes<Op>>(inputs: &Op::Inputs<'_>, state: &mut SinkState<'_>) -> Result<()> {
    let mut plan = Op::Plan::default();
    let device = planned::<Op, D>(inputs, &mut plan, state)?;
    let Some(memory) = D::MEMORY else {
        commit_meta(state);
        return Ok(());
    };
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
        // SAFETY: E1: the plan was just written for these; E2: `committed` borrows every storage and lives longer.
        unsafe { D::ready(&plan, inputs, &Outputs { entries }) }
    };
    // By reference: moving a bound kernel out of its result would copy it.
    let ran = match &mut ready {
        // SAFETY: E2 still holds, and this is the plan (E3).
        Ok(ready) => unsafe { D::run(ready, &plan) },
        Err(error) => {
            let error = error.clone();
            // SAFETY: nothing was bound, so no pointer into a grown block is used again.
            unsafe { committed.undo(state) };
            return Err(error);
        }
    };
    let done = committed.conclude(ran, device.index, copy_back::<D>);
    if done.is_err() {
        // What was written stays unspecified.
        exchange_geometries(state);
    }
    done
}

/// Declares the outputs, commits and binds, for a call that is kept.
pub(super) fn bind<'t, Op: StructuredOp, D: Executes<Op>>(
    inputs: &Op::Inputs<'t>,
    state: &mut SinkState<'_>,
) -> Result<Bound<'t, Op, D>> {
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
    // SAFETY: E1: the plan was just written for these; E2: `committed` borrows every storage and moves into the result.
    let ready = unsafe { D::ready(&plan, inputs, &Outputs { entries: &committed.entries(state) }) };
    match ready {
        Ok(ready) => {
            if let Some(rare) = &mut committed.rare {
                rare.growths.clear();
            }
            Ok(Bound { ready, plan, committed, index })
        }
        Err(error) => {
            // SAFETY: nothing was bound, so no pointer into a grown block is used again.
            unsafe { committed.undo(state) };
            Err(error)
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

/// Exchanges the geometry of each resized output with the one in its declaration: to commit it, or to take it back where the
/// kernel failed.
#[cold]
fn exchange_geometries(state: &mut SinkState<'_>) {
    for (i, slot) in state.slots.iter_mut().enumerate() {
        if let (Place::Existing(out), Some(geometry)) = (&mut slot.place, state.rare.change_mut(i)) {
            out.swap_geometry(geometry);
        }
    }
}

impl Default for Committed<'_> {
    #[inline]
    fn default() -> Self {
        Committed { held: Borrows::default(), written: 0, rare: None }
    }
}

impl<'t> Committed<'t> {
    /// Borrows, allocates, then changes the outputs: everything that can fail comes before the first change. An output that
    /// changes has its former geometry in its declaration afterwards. Reads of storages that are at home `here` are announced:
    /// they must end before the call does.
    fn commit(
        &mut self,
        operands: &[Operand<'t>],
        state: &mut SinkState<'_>,
        memory: &'static Memory,
        here: Home,
    ) -> Result<()> {
        self.borrow(operands, state, here)?;
        for slot in &mut *state.slots {
            if let (Place::New(Some(raw)), Some(device)) = (&mut slot.place, slot.declared) {
                let handle = new_storage(raw.geometry(), memory, device)?;
                raw.settle(handle);
            }
        }
        if state.rare.is_empty() { Ok(()) } else { self.commit_rare(state, memory) }
    }

    /// Borrows the storages: all are announced, then confirmed.
    #[inline]
    fn borrow(&mut self, operands: &[Operand<'t>], state: &SinkState<'_>, here: Home) -> Result<()> {
        let form = state.form();
        for slot in &*state.slots {
            let Some(handle) = slot.existing().and_then(Raw::handle) else { continue };
            // SAFETY: S3: the output's owner keeps its handle for as long as the call's result can be used.
            let header: &'t Header = unsafe { handle.header_for() };
            // An in-place call has lent its tensor as an input, perhaps to other threads, so it never counts as unique.
            let borrow = || Held::announce_write(header, form != Form::InPlace);
            self.written += self.held.add(header, borrow)?;
        }
        for operand in operands {
            let Operand::Tensor(tensor) = operand else { continue };
            let Some(header) = tensor.header() else { continue };
            self.held.add(header, || Held::announce_read(header, here))?;
        }
        self.held.confirm()
    }

    /// Makes proxies, and gives outputs that are resized their storage and geometry.
    #[cold]
    fn commit_rare(&mut self, state: &mut SinkState<'_>, memory: &'static Memory) -> Result<()> {
        let mut rare: Box<RareCommitted<'t>> = Box::default();
        for (i, slot) in state.slots.iter().enumerate() {
            let Place::Existing(out) = &slot.place else { continue };
            if let (Some(geometry), Some(handle)) = (state.rare.change_mut(i), out.handle()) {
                let need = geometry.bytes_needed()?;
                // SAFETY: S3: as in `borrow`.
                let header: &'t Header = unsafe { handle.header_for() };
                if need > header.bytes() {
                    // SAFETY: the storage is write-borrowed by `held`, which outlives the growth.
                    rare.growths.push(unsafe { header.prepare_growth(need) }?);
                }
            }
        }
        rare.make_proxies(state, memory)?;

        // From here on nothing fails.
        for growth in &mut rare.growths {
            // SAFETY: the write borrow still lasts, and pointers are taken only below.
            unsafe { growth.commit() };
        }
        exchange_geometries(state);
        for proxy in &mut rare.proxies {
            let Some(raw) = state.slots[proxy.output].tensor() else { continue };
            proxy.to = raw.geometry().clone();
            // SAFETY: existing outputs are write-borrowed by `held`, new ones are known to nobody else.
            proxy.data = unsafe { raw.as_ref().data() };
        }
        self.rare = Some(rare);
        Ok(())
    }

    /// The proxies, if there are any.
    #[inline]
    fn proxies(&self) -> &[Proxy] {
        self.rare.as_ref().map_or(&[], |rare| &rare.proxies)
    }

    /// What the kernel is bound to for the only output, if it needs no proxy.
    #[inline]
    fn only_entry<'a>(&self, state: &'a SinkState<'_>) -> Option<(&'a Geometry, *mut u8)> {
        let ([slot], []) = (&*state.slots, self.proxies()) else { return None };
        let raw = slot.tensor()?;
        // SAFETY: an existing output is write-borrowed by `held`, a new one is known to nobody else.
        Some((raw.geometry(), unsafe { raw.as_ref().data() }))
    }

    /// What the kernel is bound to for each output.
    #[cold]
    fn entries<'a>(&'a self, state: &'a SinkState<'_>) -> SmallVec<[(&'a Geometry, *mut u8); 2]> {
        let mut entries = SmallVec::new();
        for (i, slot) in state.slots.iter().enumerate() {
            let proxy = self.proxies().iter().find(|proxy| proxy.output == i).map(|proxy| &proxy.from);
            if let Some(raw) = proxy.or(slot.tensor()) {
                // SAFETY: existing outputs are write-borrowed by `held`, new ones and proxies are known to nobody else.
                entries.push((raw.geometry(), unsafe { raw.as_ref().data() }));
            }
        }
        entries
    }

    /// Copies proxies back if the kernel `ran`, and counts the writes.
    #[inline]
    fn conclude(&self, ran: Result<()>, index: u8, copy_back: fn(&Proxy, u8) -> Result<()>) -> Result<()> {
        let mut ran = ran;
        for proxy in self.proxies() {
            ran = ran.and_then(|()| copy_back(proxy, index));
        }
        self.held.count_writes(self.written);
        ran
    }

    /// Gives every output the geometry and the block that it had.
    ///
    /// # Safety
    ///
    /// `state` is the one that was committed, and no pointer to an output is used again.
    #[cold]
    unsafe fn undo(mut self, state: &mut SinkState<'_>) {
        exchange_geometries(state);
        for growth in self.rare.take().into_iter().flat_map(|rare| rare.growths.into_iter().rev()) {
            // SAFETY: `held` lives until the end of this function; geometries were put back above; reverse order.
            unsafe { growth.undo() };
        }
    }
}

impl RareCommitted<'_> {
    fn make_proxies(&mut self, state: &mut SinkState<'_>, memory: &'static Memory) -> Result<()> {
        for (output, slot) in state.slots.iter().enumerate() {
            let Some(device) = slot.declared else { continue };
            let Some(geometry) = state.rare.get_mut(output).and_then(|rare| rare.proxy.take()) else { continue };
            let bytes = geometry.bytes_needed()?;
            let handle = Handle::allocate_with(memory, device, bytes, Contents::Zeroed)?;
            let to = geometry.clone();
            self.proxies.push(Proxy { output, from: Raw::over(handle, geometry), to, data: std::ptr::null_mut() });
        }
        Ok(())
    }
}

/// The storage of a new tensor for the kernel to fill.
fn new_storage(geometry: &Geometry, memory: &'static Memory, device: DeviceId) -> Result<Handle> {
    if let Some(bytes) = geometry.dense_bytes() {
        return Handle::allocate_with(memory, device, bytes, Contents::Unspecified);
    }
    let dense = geometry.is_contiguous() || strides::is_non_overlapping_and_dense(geometry.sizes(), geometry.strides());
    let contents = if dense { Contents::Unspecified } else { Contents::Zeroed };
    Handle::allocate_with(memory, device, geometry.bytes_needed()?, contents)
}
