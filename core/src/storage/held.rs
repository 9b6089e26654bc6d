//! Borrows of one storage as values that end with their drop. Owns which proof is given back how; the protocol is in
//! `borrow.rs`.

use super::borrow::{Home, ReadProof, Refused, WriteProof};
use super::{Header, recorder};
use crate::error::{Error, ErrorKind, Result};

/// A read or write borrow of one storage, ended by its drop.
pub(crate) struct Held<'h> {
    header: &'h Header,
    proof: Proof,
}

enum Proof {
    Read(ReadProof),
    Write(WriteProof),
    /// The write of a read that another borrow counts.
    Upgrade,
    /// Another borrow lends it.
    Lent,
}

impl<'h> Held<'h> {
    /// Borrows for reading. What is being recorded is given up: only kernels are run again.
    #[inline]
    pub(crate) fn read(header: &'h Header, arg: &'static str) -> Result<Held<'h>> {
        recorder::refuse();
        Held::read_of_kernel(header, arg)
    }

    /// The same for a kernel, which is kept by what is being recorded.
    #[inline]
    pub(crate) fn read_of_kernel(header: &'h Header, arg: &'static str) -> Result<Held<'h>> {
        let proof = header.borrow.begin_read().map_err(|refused| borrow_error(refused, arg))?;
        Ok(Held { header, proof: Proof::Read(proof) })
    }

    /// Borrows for writing; `unique_holder` as in [`BorrowState::begin_write`].
    #[inline]
    pub(crate) fn write(header: &'h Header, unique_holder: bool, arg: &'static str) -> Result<Held<'h>> {
        recorder::refuse();
        Held::write_of_kernel(header, unique_holder, arg)
    }

    /// The same for a kernel, which is kept by what is being recorded.
    #[inline]
    pub(crate) fn write_of_kernel(header: &'h Header, unique_holder: bool, arg: &'static str) -> Result<Held<'h>> {
        let proof = header.borrow.begin_write(unique_holder).map_err(|refused| borrow_error(refused, arg))?;
        Ok(Held { header, proof: Proof::Write(proof) })
    }

    /// Announces a read of a call on the thread `here`, which is a borrow once it is [confirmed](Held::confirm).
    #[inline]
    pub(crate) fn announce_read(header: &'h Header, here: Home) -> Result<Held<'h>> {
        let proof = header.borrow.announce_read(here).map_err(|refused| borrow_error(refused, "an input"))?;
        Ok(Held { header, proof: Proof::Read(proof) })
    }

    /// Announces a write, likewise.
    #[inline]
    pub(crate) fn announce_write(header: &'h Header, unique_holder: bool) -> Result<Held<'h>> {
        let proof = header.borrow.announce_write(unique_holder).map_err(|refused| borrow_error(refused, "out"))?;
        Ok(Held { header, proof: Proof::Write(proof) })
    }

    /// True if the borrow is not one before it is confirmed.
    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        matches!(self.proof, Proof::Read(ReadProof::Announced) | Proof::Write(WriteProof::Marked))
    }

    /// Makes a borrow of an announcement, after a fence.
    #[inline]
    pub(crate) fn confirm(&self) -> Result<()> {
        let (confirmed, arg) = match &self.proof {
            Proof::Read(proof) => (self.header.borrow.confirm_read(proof), "an input"),
            Proof::Write(proof) => (self.header.borrow.confirm_write(proof), "out"),
            Proof::Upgrade | Proof::Lent => return Ok(()),
        };
        confirmed.map_err(|refused| borrow_error(refused, arg))
    }

    /// The borrowed storage.
    pub(crate) fn header(&self) -> &'h Header {
        self.header
    }

    /// Borrows for writing what this borrow holds already, for as long as it is lent: a read must be the only one.
    pub(crate) fn write_through(&mut self, arg: &'static str) -> Result<Held<'_>> {
        let proof = match &self.proof {
            Proof::Read(proof) => match self.header.borrow.upgrade(proof) {
                Ok(()) => Proof::Upgrade,
                Err(refused) => return Err(borrow_error(refused, arg)),
            },
            // The write borrow is this one.
            _ => Proof::Lent,
        };
        Ok(Held { header: self.header, proof })
    }

    /// A borrow for reading of what this borrow holds already, for as long as it is lent.
    pub(crate) fn read_through(&self) -> Held<'_> {
        Held { header: self.header, proof: Proof::Lent }
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        match std::mem::replace(&mut self.proof, Proof::Lent) {
            Proof::Read(proof) => self.header.borrow.end_read(proof),
            Proof::Write(proof) => self.header.borrow.end_write(proof),
            Proof::Upgrade => self.header.borrow.end_upgrade(),
            Proof::Lent => {}
        }
    }
}

#[cold]
pub(super) fn borrow_error(refused: Refused, arg: &'static str) -> Error {
    match refused {
        Refused::Written => ErrorKind::Borrowed { arg, state: "written" }.into(),
        Refused::Read => ErrorKind::Borrowed { arg, state: "read" }.into(),
        Refused::Frozen => ErrorKind::Frozen.into(),
    }
}
