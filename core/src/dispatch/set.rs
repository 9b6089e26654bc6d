//! Sets of dispatch keys as one word, and what a thread adds to and removes from every call. The highest key of a set
//! is the one that a call is dispatched to.

use super::key::{Backend, DispatchKey};
use crate::options::DeviceKind;
use std::cell::Cell;
use std::marker::PhantomData;
use std::{fmt, ops};

/// A set of run-time keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KeySet(u32);

const _: () = assert!(DispatchKey::COUNT <= u32::BITS as usize);

impl KeySet {
    /// No key.
    pub const EMPTY: KeySet = KeySet(0);
    /// Every key but [`DispatchKey::UNDEFINED`], which is no member of any set: it is what the empty set means.
    pub const ALL: KeySet = KeySet(((1 << DispatchKey::COUNT) - 1) & !1);

    /// One key. [`DispatchKey::UNDEFINED`] gives the empty set.
    pub const fn of(key: DispatchKey) -> KeySet {
        KeySet((1 << key.index()) & !1)
    }

    /// The keys of a tensor on a device of this kind: dense and, for the devices of other crates, `Common`. Empty for a
    /// kind that dispatch has no room for.
    #[inline]
    pub const fn of_device(kind: DeviceKind) -> KeySet {
        match Backend::of(kind) {
            Some(b) => KeySet((1 << DispatchKey::dense(b).index()) | (1 << DispatchKey::common(b).index())),
            None => KeySet::EMPTY,
        }
    }

    /// True if the key is a member.
    pub const fn contains(self, key: DispatchKey) -> bool {
        self.0 & KeySet::of(key).0 != 0
    }

    /// True if there is no member.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The key that a call with this set is dispatched to.
    #[inline]
    pub const fn highest(self) -> DispatchKey {
        // A member of index 0 does not exist, so 31 - 31 means "empty".
        DispatchKey::from_index((self.0 | 1).ilog2() as usize)
    }

    /// The members below a key: where a kernel of that key hands a call on to.
    pub const fn below(self, key: DispatchKey) -> KeySet {
        KeySet(self.0 & ((1 << key.index()) - 1))
    }

    /// The members, from the last to run to the first.
    pub fn iter(self) -> impl Iterator<Item = DispatchKey> {
        DispatchKey::all().filter(move |key| self.contains(*key))
    }
}

impl ops::BitOr for KeySet {
    type Output = KeySet;
    #[inline]
    fn bitor(self, other: KeySet) -> KeySet {
        KeySet(self.0 | other.0)
    }
}

impl ops::BitAnd for KeySet {
    type Output = KeySet;
    #[inline]
    fn bitand(self, other: KeySet) -> KeySet {
        KeySet(self.0 & other.0)
    }
}

impl ops::Sub for KeySet {
    type Output = KeySet;
    #[inline]
    fn sub(self, other: KeySet) -> KeySet {
        KeySet(self.0 & !other.0)
    }
}

impl FromIterator<DispatchKey> for KeySet {
    fn from_iter<I: IntoIterator<Item = DispatchKey>>(keys: I) -> KeySet {
        keys.into_iter().fold(KeySet::EMPTY, |set, key| set | KeySet::of(key))
    }
}

impl From<DispatchKey> for KeySet {
    fn from(key: DispatchKey) -> KeySet {
        KeySet::of(key)
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What the thread includes in and excludes from each call's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Local {
    included: KeySet,
    excluded: KeySet,
}

thread_local! {
    static LOCAL: Cell<Local> = const { Cell::new(Local { included: KeySet::EMPTY, excluded: KeySet::EMPTY }) };
}

/// A call's keys after what the thread includes and excludes; excluding wins.
#[inline]
pub(super) fn localized(keys: KeySet) -> KeySet {
    let local = LOCAL.get();
    (keys | local.included) - local.excluded
}

/// Includes or excludes keys for the calls of this thread while it lives.
#[must_use = "the keys are included or excluded only while the guard lives"]
#[derive(Debug)]
pub struct KeyGuard {
    /// What this guard added, and so takes back: keys that were there before stay.
    added: Local,
    /// The state belongs to the thread.
    not_send: PhantomData<*const ()>,
}

impl KeyGuard {
    /// Adds keys to every call's, but for those that are excluded.
    pub fn include(keys: impl Into<KeySet>) -> KeyGuard {
        KeyGuard::add(keys.into(), KeySet::EMPTY)
    }

    /// Takes keys from every call's.
    pub fn exclude(keys: impl Into<KeySet>) -> KeyGuard {
        KeyGuard::add(KeySet::EMPTY, keys.into())
    }

    fn add(included: KeySet, excluded: KeySet) -> KeyGuard {
        let local = LOCAL.get();
        let added = Local { included: included - local.included, excluded: excluded - local.excluded };
        LOCAL.set(Local { included: local.included | included, excluded: local.excluded | excluded });
        KeyGuard { added, not_send: PhantomData }
    }
}

impl Drop for KeyGuard {
    fn drop(&mut self) {
        let local = LOCAL.get();
        LOCAL.set(Local {
            included: local.included - self.added.included,
            excluded: local.excluded - self.added.excluded,
        });
    }
}
