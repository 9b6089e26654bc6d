//! Committing a declared call: storages borrowed, outputs allocated or grown, the kernel bound to memory.

use super::operand::Operand;
use super::state::{Declared, SinkState};
use super::{Executes, StructuredOp};
use crate::device::{Contents, Device, DeviceId, Strided};
use crate::error::{ErrorKind, Result};
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
    base.wrapping_add(geometry.offset() as usize * geometry.dtype().size())
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
    index: u8,
    op: PhantomData<Op>,
}

/// New tensors of a functional call.
#[derive(Default)]
pub struct Produced(pub(super) SmallVec<[Raw; 2]>);

impl<Op: StructuredOp, D: Executes<Op>> Bound<'_, Op, D> {
    /// Runs the kernel, copies proxies back and counts the writes.
    pub(super) fn run(&mut self) -> Result<()> {
        // SAFETY: `held` still borrows every storage (E2).
        unsafe { D::run(&mut self.ready) }?;
        for proxy in &self.proxies {
            copy_back::<D>(proxy, self.index)?;
        }
        for held in &self.held {
            if held.is_write() {
                held.header().bump_version();
            }
        }
        Ok(())
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

/// Checks that the tensors of a call are on one device of the kind of `fallback` and returns it; `fallback` if there is no
/// tensor.
fn common_device(
    operands: &[Operand<'_>],
    state: &SinkState<'_>,
    cpu_scalars: bool,
    fallback: DeviceId,
) -> Result<DeviceId> {
    let outputs = (0..state.slots.len()).filter_map(|i| state.existing(i).map(|t| (t, true)));
    let tensors = outputs.chain(operands.iter().filter_map(|o| o.tensor()).map(|t| (t, false)));
    let may_stay = |t: &TensorRef<'_>| cpu_scalars && t.device().is_cpu() && t.geometry().ndim() == 0;
    let mut device = None;
    for (t, _) in tensors.clone() {
        if !may_stay(&t) {
            device = Some(device.unwrap_or(t.device()));
        }
    }
    let want = device.or_else(|| tensors.clone().next().map(|(t, _)| t.device())).unwrap_or(fallback);
    let want = if want.kind == fallback.kind { want } else { fallback };
    for (i, (t, is_output)) in tensors.enumerate() {
        if t.device() != want && (is_output || !may_stay(&t)) {
            let arg = if is_output { format!("out {i}").into() } else { format!("{i}").into() };
            return Err(ErrorKind::DeviceMismatch { arg, got: t.device(), want }.into());
        }
    }
    Ok(want)
}

/// Declares the outputs, commits and binds. The generic part is this shell; the work is in functions that are not generic.
pub(super) fn bind<'t, Op: StructuredOp, D: Executes<Op>>(
    inputs: &Op::Inputs<'t>,
    mut state: SinkState<'_>,
) -> Result<(Bound<'t, Op, D>, Produced)> {
    let operands = Op::operands(inputs);
    let fallback = DeviceId { kind: D::KIND, index: 0 };
    let device = if state.is_meta() { fallback } else { common_device(operands, &state, Op::CPU_SCALARS, fallback)? };
    let mut plan = Op::Plan::default();
    Op::meta(inputs, &mut state, &mut plan)?;
    state.check_complete()?;
    if D::MEMORY.is_none() {
        let produced = commit_meta(state);
        // SAFETY: a device without memory has no data to read or write; E1 holds and E2 holds vacuously.
        let ready = unsafe { D::ready(&plan, inputs, &Outputs { entries: &[] }) }?;
        return Ok((
            Bound { ready, proxies: SmallVec::new(), held: SmallVec::new(), index: 0, op: PhantomData },
            produced,
        ));
    }
    let committed = commit(operands, state, Raw::allocate::<D>)?;
    // SAFETY: E1: the plan was just written for these; E2: `held` borrows every storage and moves into the result.
    let ready = unsafe { D::ready(&plan, inputs, &Outputs { entries: &committed.entries }) }?;
    let Committed { held, proxies, produced, .. } = committed;
    Ok((Bound { ready, proxies, held, index: device.index, op: PhantomData }, produced))
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
}

/// Borrows, allocates, then changes the outputs: everything that can fail comes before the first change.
fn commit<'t>(
    operands: &[Operand<'t>],
    mut state: SinkState<'_>,
    allocate: fn(Geometry, u8, Contents) -> Result<Raw>,
) -> Result<Committed<'t>> {
    let mut held: SmallVec<[Held<'t>; 4]> = SmallVec::new();
    let is_held = |held: &[Held<'_>], header: &Header| held.iter().any(|h| std::ptr::eq(h.header(), header));
    for slot in &state.slots {
        let Some(handle) = slot.existing.as_ref().and_then(|raw| raw.handle()) else { continue };
        if !is_held(&held, handle.header()) {
            // SAFETY: S3: the output's owner keeps its handle for as long as the call's result can be used.
            held.push(Held::write(unsafe { handle.header_for() }, true, "out")?);
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
    let mut growths: SmallVec<[Option<Growth<'_>>; 2]> = SmallVec::new();
    for slot in &state.slots {
        let Some(Declared { geometry, proxy, device }) = &slot.declared else { continue };
        let index = device.index;
        match slot.existing.as_ref().and_then(|raw| raw.handle()) {
            None => {
                let dense = strides::is_non_overlapping_and_dense(geometry.sizes(), geometry.strides());
                let contents = if dense { Contents::Unspecified } else { Contents::Zeroed };
                produced.0.push(allocate(geometry.clone(), index, contents)?);
                growths.push(None);
            }
            Some(handle) => {
                let need = geometry.bytes_needed()?;
                // SAFETY: S3, as above.
                let header: &Header = unsafe { handle.header_for() };
                // SAFETY: the storage is write-borrowed by `held`, which outlives the growth.
                let grow = |bytes| unsafe { header.prepare_growth(bytes) };
                growths.push(if need > header.bytes() { Some(grow(need)?) } else { None });
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
    for growth in growths.into_iter().flatten() {
        // SAFETY: the write borrow still lasts, and pointers are taken only below.
        unsafe { growth.commit() };
    }
    let mut fresh = produced.0.iter();
    for (slot, proxy) in state.slots.iter_mut().zip(proxies) {
        let Some(declared) = slot.declared.take() else { continue };
        let raw: &Raw = match &mut slot.existing {
            Some(out) => {
                out.set_geometry(declared.geometry);
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
    Ok(Committed { held, proxies: pending, produced, entries })
}
