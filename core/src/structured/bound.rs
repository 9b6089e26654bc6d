//! Committing a declared call: storages borrowed, outputs allocated or grown, the kernel bound to memory.

use super::operand::Operand;
use super::state::{Declared, Form, SinkState, Slot};
use super::{Executes, StructuredOp};
use crate::device::{Contents, Device, DeviceId, DeviceKind, Strided};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::Geometry;
use crate::storage::{Growth, Header, Held};
use crate::strides;
use crate::tensor::{Raw, TensorRef};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The outputs that a kernel is bound to, in order.
pub struct Outputs<'a> {
    entries: &'a [(Geometry, *mut u8)],
}

impl Outputs<'_> {
    /// The geometry that the kernel writes for output `i`.
    pub fn geometry(&self, i: usize) -> &Geometry {
        &self.entries[i].0
    }

    /// The first element of output `i`.
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
    from: Raw,
    to: Geometry,
    data: *mut u8,
}

/// A call whose outputs exist and whose storages are borrowed.
pub struct Bound<'t, Op: StructuredOp, D: Executes<Op>> {
    ready: D::Ready,
    proxies: SmallVec<[Proxy; 1]>,
    held: SmallVec<[Held<'t>; 4]>,
    /// What resized outputs were before, for a kernel that fails.
    resized: SmallVec<[(usize, Geometry); 1]>,
    index: u8,
    op: PhantomData<Op>,
}

/// New tensors of a functional call.
#[derive(Default)]
pub struct Produced(pub(super) SmallVec<[Raw; 2]>);

impl<Op: StructuredOp, D: Executes<Op>> Bound<'_, Op, D> {
    /// What output `i` was before it was resized, if it was.
    pub(super) fn former_geometry(&self, i: usize) -> Option<&Geometry> {
        self.resized.iter().find(|(k, _)| *k == i).map(|(_, g)| g)
    }

    /// Runs the kernel, copies proxies back and counts the writes, also those of a kernel that failed on the way.
    pub(super) fn run(&mut self) -> Result<()> {
        let _guard = D::enter(self.index);
        // SAFETY: `held` still borrows every storage (E2).
        let mut ran = unsafe { D::run(&mut self.ready) };
        for proxy in &self.proxies {
            ran = ran.and_then(|()| copy_back::<D>(proxy, self.index));
        }
        for held in &self.held {
            if held.is_write() {
                held.header().bump_version();
            }
        }
        ran
    }
}

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
fn common_device(
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

/// The device on which the outputs were declared, which must be that of the operands where they have one.
fn declared_device(state: &SinkState<'_>, kind: DeviceKind, operands: Option<DeviceId>) -> Result<DeviceId> {
    let mut device = operands;
    for (index, slot) in state.slots.iter().enumerate() {
        let Some(declared) = &slot.declared else { continue };
        let want = *device.get_or_insert(declared.device);
        if declared.device != want || want.kind != kind {
            let rule = "declared an output on another device than that of the call";
            return Err(ErrorKind::MetaContract { index, rule }.into());
        }
    }
    Ok(device.unwrap_or(DeviceId { kind, index: 0 }))
}

/// Declares the outputs, commits and binds. The generic part is this shell; the work is in functions that are not generic.
pub(super) fn bind<'t, Op: StructuredOp, D: Executes<Op>>(
    inputs: &Op::Inputs<'t>,
    mut state: SinkState<'_>,
) -> Result<(Bound<'t, Op, D>, Produced)> {
    let operands = Op::operands(inputs);
    let of_operands = if state.is_meta() { None } else { common_device(operands, &state, Op::CPU_SCALARS, D::KIND)? };
    let mut plan = Op::Plan::default();
    Op::meta(inputs, &mut state, &mut plan)?;
    state.check_complete()?;
    let index = declared_device(&state, D::KIND, of_operands)?.index;
    if D::MEMORY.is_none() {
        // SAFETY: a device without memory has no data to read or write; E1 holds and E2 holds vacuously.
        let ready = unsafe { D::ready(&plan, inputs, &Outputs { entries: &[] }) }?;
        let produced = commit_meta(state);
        return Ok((
            Bound {
                ready,
                proxies: SmallVec::new(),
                held: SmallVec::new(),
                resized: SmallVec::new(),
                index,
                op: PhantomData,
            },
            produced,
        ));
    }
    let _guard = D::enter(index);
    let committed = commit(operands, &mut state, Raw::allocate::<D>)?;
    // SAFETY: E1: the plan was just written for these; E2: `held` borrows every storage and moves into the result.
    match unsafe { D::ready(&plan, inputs, &Outputs { entries: &committed.entries }) } {
        Ok(ready) => {
            let Committed { held, proxies, produced, .. } = committed;
            Ok((Bound { ready, proxies, held, resized: resized(state), index, op: PhantomData }, produced))
        }
        Err(error) => {
            // SAFETY: nothing was bound, so no pointer into a grown block is used again.
            unsafe { committed.undo(&mut state) };
            Err(error)
        }
    }
}

/// The former geometries of outputs that a committed call resized: `commit` left them in the declarations.
fn resized(state: SinkState<'_>) -> SmallVec<[(usize, Geometry); 1]> {
    let former = |(i, slot): (usize, Slot<'_>)| match (slot.existing, slot.declared) {
        (Some(out), Some(former)) if out.geometry().sizes() != former.geometry.sizes() => Some((i, former.geometry)),
        _ => None,
    };
    state.slots.into_iter().enumerate().filter_map(former).collect()
}

/// Commits a call whose outputs are on the meta device: nothing can fail.
fn commit_meta(state: SinkState<'_>) -> Produced {
    let mut produced = Produced::default();
    for slot in state.slots {
        let Some(declared) = slot.declared else { continue };
        match slot.existing {
            None => produced.0.push(Raw::new_meta(declared.geometry)),
            Some(out) => {
                if let Ok(bytes) = declared.geometry.bytes_needed() {
                    out.grow_meta(bytes);
                }
                out.set_geometry(declared.geometry);
                out.bump_version();
            }
        }
    }
    produced
}

struct Committed<'t> {
    held: SmallVec<[Held<'t>; 4]>,
    proxies: SmallVec<[Proxy; 1]>,
    produced: Produced,
    entries: SmallVec<[(Geometry, *mut u8); 2]>,
    /// Dropped only once nothing can fail any more: until then the outputs can go back to what they were.
    growths: SmallVec<[Growth<'t>; 1]>,
}

impl Committed<'_> {
    /// Gives every output the geometry and the block that it had.
    ///
    /// # Safety
    ///
    /// `state` is the one that was committed, and no pointer to an output is used again.
    #[cold]
    unsafe fn undo(self, state: &mut SinkState<'_>) {
        for slot in &mut state.slots {
            if let (Some(out), Some(declared)) = (&mut slot.existing, &mut slot.declared) {
                out.swap_geometry(&mut declared.geometry);
            }
        }
        for growth in self.growths.into_iter().rev() {
            // SAFETY: `held` lives until the end of this function; geometries were put back above; reverse order.
            unsafe { growth.undo() };
        }
    }
}

/// Borrows, allocates, then changes the outputs: everything that can fail comes before the first change.
fn commit<'t>(
    operands: &[Operand<'t>],
    state: &mut SinkState<'_>,
    allocate: fn(Geometry, u8, Contents) -> Result<Raw>,
) -> Result<Committed<'t>> {
    let mut held: SmallVec<[Held<'t>; 4]> = SmallVec::new();
    let is_held = |held: &[Held<'_>], header: &Header| held.iter().any(|h| std::ptr::eq(h.header(), header));
    for slot in &state.slots {
        let Some(handle) = slot.existing.as_ref().and_then(|raw| raw.handle()) else { continue };
        if !is_held(&held, handle.header()) {
            // SAFETY: S3: the output's owner keeps its handle for as long as the call's result can be used.
            let header = unsafe { handle.header_for() };
            // An in-place call has lent its tensor as an input, perhaps to other threads, so it never counts as unique.
            held.push(Held::write(header, state.form() != Form::InPlace, "out")?);
        }
    }
    for tensor in operands.iter().filter_map(Operand::tensor) {
        let Some(header) = tensor.header() else { continue };
        if !is_held(&held, header) {
            held.push(Held::read(header, "an input")?);
        }
    }

    let mut produced = Produced::default();
    let mut proxies: SmallVec<[Option<Raw>; 2]> = SmallVec::new();
    let mut growths: SmallVec<[Growth<'t>; 1]> = SmallVec::new();
    for slot in &state.slots {
        let Some(Declared { geometry, proxy, device }) = &slot.declared else { continue };
        let index = device.index;
        match slot.existing.as_ref().and_then(|raw| raw.handle()) {
            None => {
                let dense = strides::is_non_overlapping_and_dense(geometry.sizes(), geometry.strides());
                let contents = if dense { Contents::Unspecified } else { Contents::Zeroed };
                produced.0.push(allocate(geometry.clone(), index, contents)?);
            }
            Some(handle) => {
                let need = geometry.bytes_needed()?;
                // SAFETY: S3, as above.
                let header: &'t Header = unsafe { handle.header_for() };
                if need > header.bytes() {
                    // SAFETY: the storage is write-borrowed by `held`, which outlives the growth.
                    growths.push(unsafe { header.prepare_growth(need) }?);
                }
            }
        }
        proxies.push(match proxy {
            Some(proxy) => Some(allocate(proxy.clone(), index, Contents::Zeroed)?),
            None => None,
        });
    }

    // From here on nothing fails.
    let mut entries: SmallVec<[(Geometry, *mut u8); 2]> = SmallVec::new();
    let mut pending: SmallVec<[Proxy; 1]> = SmallVec::new();
    for growth in &mut growths {
        // SAFETY: the write borrow still lasts, and pointers are taken only below.
        unsafe { growth.commit() };
    }
    let mut fresh = produced.0.iter();
    for (slot, proxy) in state.slots.iter_mut().zip(proxies) {
        let Some(declared) = &mut slot.declared else { continue };
        let raw: &Raw = match &mut slot.existing {
            Some(out) => {
                out.swap_geometry(&mut declared.geometry);
                out
            }
            None => match fresh.next() {
                Some(raw) => raw,
                None => continue,
            },
        };
        // SAFETY: existing outputs are write-borrowed by `held`, new ones are known to nobody else.
        let data = unsafe { raw.as_ref().data() };
        match proxy {
            None => entries.push((raw.geometry().clone(), data)),
            Some(proxy) => {
                // SAFETY: the proxy is known to nobody else.
                let proxy_data = unsafe { proxy.as_ref().data() };
                entries.push((proxy.geometry().clone(), proxy_data));
                pending.push(Proxy { from: proxy, to: raw.geometry().clone(), data });
            }
        }
    }
    Ok(Committed { held, proxies: pending, produced, entries, growths })
}
