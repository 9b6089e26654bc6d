//! Indices as callers write them: integers, ranges, new dimensions.

use super::sizes::Integer;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// What an index says of one dimension. Negative numbers count from the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexItem {
    /// One element of the dimension, which goes.
    At(i64),
    /// Those from `start` up to `end`, every `step`-th. What is not said is the end of the dimension.
    Range {
        /// The first.
        start: Option<i64>,
        /// The one behind the last.
        end: Option<i64>,
        /// How far one is from the next.
        step: i64,
    },
    /// A dimension of size 1 that was not there.
    NewDim,
    /// All dimensions that the other items do not name.
    Rest,
}

/// Of an index: all dimensions that its other items do not name. `...` in Python.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

/// The type of `None` in an index, which stands for a new dimension.
#[derive(Clone, Copy, Debug)]
pub enum NewDim {}

/// What can stand in an index: an integer, a range, a range with a step ([`By::by`]), `None`, [`Ellipsis`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in an index",
    note = "accepted are integers, ranges, `range.by(step)`, `None` for a new dimension, and `Ellipsis`"
)]
pub trait IndexArg {
    /// The item.
    fn item(self) -> IndexItem;
}

impl IndexArg for IndexItem {
    fn item(self) -> IndexItem {
        self
    }
}

impl IndexArg for Ellipsis {
    fn item(self) -> IndexItem {
        IndexItem::Rest
    }
}

impl IndexArg for Option<NewDim> {
    fn item(self) -> IndexItem {
        IndexItem::NewDim
    }
}

impl<T: Integer> IndexArg for T {
    fn item(self) -> IndexItem {
        IndexItem::At(self.to_i64())
    }
}

impl IndexArg for RangeFull {
    fn item(self) -> IndexItem {
        range(None, None)
    }
}

const fn range(start: Option<i64>, end: Option<i64>) -> IndexItem {
    IndexItem::Range { start, end, step: 1 }
}

/// The place behind a last one; `None` behind the last of all.
fn behind(last: i64) -> Option<i64> {
    if last == -1 { None } else { Some(last.saturating_add(1)) }
}

/// Ranges of integers.
macro_rules! from_ranges {
    ($($range:ident, |$r:ident| $start:expr, $end:expr;)*) => {$(
        impl<T: Integer> IndexArg for $range<T> {
            fn item(self) -> IndexItem {
                let $r = self;
                range($start, $end)
            }
        }
    )*};
}
from_ranges! {
    Range, |r| Some(r.start.to_i64()), Some(r.end.to_i64());
    RangeFrom, |r| Some(r.start.to_i64()), None;
    RangeTo, |r| None, Some(r.end.to_i64());
    RangeInclusive, |r| Some(r.start().to_i64()), behind(r.end().to_i64());
    RangeToInclusive, |r| None, behind(r.end.to_i64());
}

/// Ranges with a step.
pub trait By: IndexArg + Sized {
    /// Every `step`-th of the range: `(1..9).by(2)`, `(..).by(3)`.
    fn by(self, step: i64) -> IndexItem;
}

macro_rules! with_steps {
    ($(($($generics:tt)*) $range:ty;)*) => {$(
        impl<$($generics)*> By for $range {
            fn by(self, step: i64) -> IndexItem {
                match self.item() {
                    IndexItem::Range { start, end, .. } => IndexItem::Range { start, end, step },
                    other => other,
                }
            }
        }
    )*};
}
with_steps! {
    () RangeFull;
    (T: Integer) Range<T>;
    (T: Integer) RangeFrom<T>;
    (T: Integer) RangeTo<T>;
    (T: Integer) RangeInclusive<T>;
    (T: Integer) RangeToInclusive<T>;
}

/// An index of a tensor: one item, or a tuple of up to eight.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    items: [IndexItem; 8],
    len: usize,
}

impl Index {
    /// The items, in order.
    pub fn items(&self) -> &[IndexItem] {
        &self.items[..self.len]
    }
}

impl<A: IndexArg> From<A> for Index {
    fn from(item: A) -> Index {
        Index::from((item,))
    }
}

macro_rules! from_tuples {
    ($($count:literal ($($name:ident: $item:ident),*))*) => {$(
        impl<$($item: IndexArg),*> From<($($item,)*)> for Index {
            fn from(($($name,)*): ($($item,)*)) -> Index {
                let mut items = [IndexItem::Rest; 8];
                for (place, item) in items.iter_mut().zip([$($name.item()),*]) {
                    *place = item;
                }
                Index { items, len: $count }
            }
        }
    )*};
}
from_tuples! {
    1 (a: A)
    2 (a: A, b: B)
    3 (a: A, b: B, c: C)
    4 (a: A, b: B, c: C, d: D)
    5 (a: A, b: B, c: C, d: D, e: E)
    6 (a: A, b: B, c: C, d: D, e: E, f: F)
    7 (a: A, b: B, c: C, d: D, e: E, f: F, g: G)
    8 (a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(index: impl Into<Index>) -> Vec<IndexItem> {
        index.into().items().to_vec()
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "negative ends count from the end")]
    fn indices_in_every_way() {
        assert_eq!(items(-1), [IndexItem::At(-1)]);
        assert_eq!(items(2usize), [IndexItem::At(2)]);
        let every = IndexItem::Range { start: Some(1), end: Some(-1), step: 2 };
        assert_eq!(items((.., (1..-1).by(2), None)), [range(None, None), every, IndexItem::NewDim]);
        assert_eq!(items((Ellipsis, 3..)), [IndexItem::Rest, range(Some(3), None)]);
        assert_eq!(items((..=4, 2..=-1, ..3usize)), [range(None, Some(5)), range(Some(2), None), range(None, Some(3))]);
    }
}
