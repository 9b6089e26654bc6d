//! Committing a declared call: storages borrowed, outputs allocated or grown, proxies made, and all of it concluded or
//! taken back. Everything that can fail comes before the first change. Owns no kernel; what is bound to the memory is
//! in `bound.rs`.

use super::borrows::Borrows;
use super::operand::Operand;
use super::slot::Place;
use super::state::{Form, SinkState};
use crate::error::Result;
use crate::geometry::{Geometry, strides};
use crate::options::DeviceId;
use crate::storage::borrow::Home;
use crate::storage::{Contents, Growth, Handle, Header, Held, Memory};
use crate::tensor::Raw;
use smallvec::SmallVec;

/// Exchanges the geometry of each resized output with the one in its declaration: to commit it, or to take it back
/// where the kernel failed.
#[cold]
pub(super) fn exchange_geometries(state: &mut SinkState<'_>) {
    for (i, slot) in state.slots.iter_mut().enumerate() {
        if let (Place::Existing(out), Some(geometry)) = (&mut slot.place, state.rare.change_mut(i)) {
            out.swap_geometry(geometry);
        }
    }
}

/// Where a proxy goes when the kernel is done.
pub(super) struct Proxy {
    output: usize,
    pub(super) from: Raw,
    pub(super) to: Geometry,
    pub(super) data: *mut u8,
}

/// The storages of a call, borrowed, and what has to be done with them when the kernel has run.
pub(super) struct Committed<'t> {
    /// What few calls have, behind one pointer. Dropped before the borrows, under which storages grow.
    rare: Option<Box<RareCommitted<'t>>>,
    pub(super) held: Borrows<'t>,
    written: usize,
}

/// What has to be done where outputs do not suit the kernel, or are resized.
#[derive(Default)]
pub(super) struct RareCommitted<'t> {
    proxies: Vec<Proxy>,
    /// Promised only once nothing can fail any more: until then the outputs can go back to what they were.
    growths: Vec<Growth<'t>>,
}

impl Default for Committed<'_> {
    #[inline]
    fn default() -> Self {
        Committed { rare: None, held: Borrows::default(), written: 0 }
    }
}

impl<'t> Committed<'t> {
    /// Borrows, allocates, then changes the outputs: everything that can fail comes before the first change. An output
    /// that changes has its former geometry in its declaration afterwards. Reads of storages that are at home `here`
    /// are announced: they must end before the call does.
    pub(super) fn commit(
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

    /// The borrowed storages, and how many of them, the first, are written; none of a call that does more than run its
    /// kernel.
    pub(super) fn storages(&self) -> Option<(impl Iterator<Item = &Header>, usize)> {
        self.rare.is_none().then(|| (self.held.headers(), self.written))
    }

    /// What the kernel is bound to for the only output, if it needs no proxy.
    #[inline]
    pub(super) fn only_entry<'a>(&self, state: &'a SinkState<'_>) -> Option<(&'a Geometry, *mut u8)> {
        let ([slot], []) = (&*state.slots, self.proxies()) else { return None };
        let raw = slot.tensor()?;
        // SAFETY: an existing output is write-borrowed by `held`, a new one is known to nobody else.
        Some((raw.geometry(), unsafe { raw.as_ref().data() }))
    }

    /// What the kernel is bound to for each output.
    #[cold]
    pub(super) fn entries<'a>(&'a self, state: &'a SinkState<'_>) -> SmallVec<[(&'a Geometry, *mut u8); 2]> {
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
    pub(super) fn conclude(&self, ran: Result<()>, index: u8, copy_back: fn(&Proxy, u8) -> Result<()>) -> Result<()> {
        let mut ran = ran;
        for proxy in self.proxies() {
            ran = ran.and_then(|()| copy_back(proxy, index));
        }
        self.held.count_writes(self.written);
        ran
    }

    /// Ends a call in which storages may have grown: if it succeeded they keep that, and the blocks that they had are
    /// freed; otherwise every output has the geometry and the block that it had.
    ///
    /// # Safety
    ///
    /// `state` is the one that was committed, this is called once, and after a failure no pointer that was taken from
    /// an output is used again.
    #[inline]
    pub(super) unsafe fn settle(&mut self, state: &mut SinkState<'_>, succeeded: bool) {
        // Outputs change their geometry only together with what is rare.
        if self.rare.is_some() {
            // SAFETY: the caller's promises are those of this function.
            unsafe { self.settle_rare(state, succeeded) }
        }
    }

    /// # Safety
    ///
    /// As for [`settle`](Committed::settle).
    #[cold]
    unsafe fn settle_rare(&mut self, state: &mut SinkState<'_>, succeeded: bool) {
        let Some(rare) = &mut self.rare else { return };
        if succeeded {
            rare.growths.iter_mut().for_each(Growth::promise);
        } else {
            exchange_geometries(state);
            for growth in rare.growths.iter_mut().rev() {
                // SAFETY: * `held` lives as long as `self`, so the write borrow lasts.
                // * No pointer into the new block is used again, by the caller's promise.
                // * The geometries that needed it were just exchanged for the former ones; other tensors over the
                //   storage reach no further than what was promised, which is the old block.
                // * Reverse order.
                unsafe { growth.undo() };
            }
        }
        rare.growths.clear();
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
