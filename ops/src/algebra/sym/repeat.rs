//! Loops of symbolic values. Owns what a loop is in the graph and which nodes belong to its steps; the text of it is
//! that of `text.rs`.
//!
//! The steps are recorded once, on nodes that stand for what the loop carries. A node belongs to the innermost loop
//! that it depends on, not to the one it was recorded in: equal subexpressions merge, so what no step changes may be
//! used outside.

use super::element::Floating;
use super::graph::{Graph, Handle, Node, Source, record_leaf, recording};
use super::{Compute, Sym};
use crate::algebra::{Bundle, FromIndex, Repeat};
use monomorph_core::DType;

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Loop {
    /// The loop whose steps contain it.
    pub(super) parent: Option<u32>,
    /// The node of the most steps.
    pub(super) count: u32,
    /// The nodes of what it carries at first.
    pub(super) start: Vec<u32>,
    /// The node that says whether another step is taken.
    pub(super) goes_on: u32,
    /// The nodes of what a step gives.
    pub(super) next: Vec<u32>,
}

/// The loop that each node belongs to.
pub(super) fn homes(nodes: &[Node], loops: &[Loop]) -> Vec<Option<u32>> {
    let mut homes: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        homes.push(match node.source {
            Source::Carried { of, .. } | Source::Index { of } => Some(of),
            Source::Result { of, .. } => loops[of as usize].parent,
            Source::Apply { arity, args, .. } => {
                let of_args = args[..arity].iter().map(|&arg| homes[arg as usize]);
                of_args.max_by_key(|&home| depth(loops, home)).flatten()
            }
            Source::Input(_) | Source::Param(_) | Source::Constant(_) => None,
        });
    }
    homes
}

/// How many loops contain what belongs to `home`.
fn depth(loops: &[Loop], home: Option<u32>) -> usize {
    std::iter::successors(home, |&of| loops[of as usize].parent).count()
}

/// Whether what belongs to `outer` can be seen by what belongs to `inner`.
fn sees(loops: &[Loop], inner: Option<u32>, outer: Option<u32>) -> bool {
    outer.is_none() || std::iter::successors(inner, |&of| loops[of as usize].parent).any(|of| Some(of) == outer)
}

/// Whether something that a loop carries is used outside of it.
pub(super) fn escapes(nodes: &[Node], loops: &[Loop], outputs: &[u32]) -> bool {
    let homes = homes(nodes, loops);
    let lost = |inner: Option<u32>, node: &u32| !sees(loops, inner, homes[*node as usize]);
    let of_nodes = nodes.iter().zip(&homes).any(|(node, &home)| match &node.source {
        Source::Apply { arity, args, .. } => args[..*arity].iter().any(|arg| lost(home, arg)),
        _ => false,
    });
    let of_loops = (0..).zip(loops).any(|(of, each)| {
        each.start.iter().chain([&each.count]).any(|node| lost(each.parent, node))
            || each.next.iter().chain([&each.goes_on]).any(|node| lost(Some(of), node))
    });
    of_nodes || of_loops || outputs.iter().any(|node| lost(None, node))
}

/// The handles of a bundle.
fn handles<C: Compute, S: Bundle<Sym<C>>>(bundle: S) -> Vec<Handle> {
    let mut all = Vec::new();
    bundle.map_values(&mut |x| {
        all.push(x.node);
        x
    });
    all
}

/// A bundle like another one, of the nodes that `source` names by their places.
fn placed<C: Compute, S: Bundle<Sym<C>>>(like: S, source: impl Fn(u32) -> Source) -> S {
    let mut places = 0..;
    like.map_values(&mut |_| {
        let source = source(places.next().unwrap_or_default());
        Sym::of(record_leaf(Node { dtype: C::DTYPE, source }))
    })
}

impl Graph {
    fn indices(&mut self, handles: Vec<Handle>) -> Vec<u32> {
        handles.into_iter().map(|handle| self.index_of(handle)).collect()
    }
}

impl<C: Floating> Repeat for Sym<C> {
    fn repeat<S: Bundle<Self>>(
        count: Self,
        start: S,
        goes_on: impl Fn(S) -> Self::Mask,
        step: impl Fn(Self, S) -> S,
    ) -> S {
        let opened = recording(|g| {
            let of = g.loops.len() as u32;
            let (count, start) = (g.index_of(count.node), g.indices(handles(start)));
            g.loops.push(Loop { parent: g.open.last().copied(), count, start, ..Loop::default() });
            g.open.push(of);
            of
        });
        let of = opened.unwrap_or_default();
        let carried = placed(start, |place| Source::Carried { of, place });
        let index = record_leaf(Node { dtype: DType::I64, source: Source::Index { of } });
        let goes_on = goes_on(carried);
        let next = step(Self::from_index(Sym::of(index)), carried);
        recording(|g| {
            let (goes_on, next) = (g.index_of(goes_on.node), g.indices(handles(next)));
            let each = &mut g.loops[of as usize];
            (each.goes_on, each.next) = (goes_on, next);
            g.open.pop();
        });
        placed(start, |place| Source::Result { of, place })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TraceError, Tracer, trace};
    use super::*;
    use crate::algebra::{Equal, Num, Ordered, Value};
    use std::cell::Cell;

    type F = Sym<f64>;

    #[test]
    fn a_loop_carries_its_state_together_and_keeps_what_no_step_changes_outside() {
        let function = trace(|t| {
            let (x, n) = (t.input::<f64>(), t.input());
            let [p, q] = F::repeat(n, [F::one(), x], |[_, q]| q.lt(n), |k, [p, q]| [q, (x + x) * q - k * p]);
            t.output(p + q * (x + x));
        })
        .unwrap();
        assert_eq!(
            function.c_source("f"),
            "K_FN k_f64 f(k_f64 x0, k_f64 x1) {
    const k_f64 v8 = k_add_f64(x0, x0);
    k_f64 v12 = 1e0;
    k_f64 v13 = x0;
    for (k_i64 i0 = 0, n0 = k_steps_f64(x1); i0 < n0; i0++) {
        const k_bool v6 = k_lt_f64(v13, x1);
        if (!v6) break;
        const k_f64 v7 = k_from_index_f64(i0);
        const k_f64 v9 = k_mul_f64(v8, v13);
        const k_f64 v10 = k_mul_f64(v7, v12);
        const k_f64 v11 = k_sub_f64(v9, v10);
        const k_f64 next12 = v13;
        const k_f64 next13 = v11;
        v12 = next12;
        v13 = next13;
    }
    const k_f64 v14 = k_mul_f64(v13, v8);
    const k_f64 v15 = k_add_f64(v12, v14);
    return v15;
}
"
        );
    }

    #[test]
    fn a_loop_in_a_loop_is_within_its_steps() {
        let function = trace(|t| {
            let x = t.input::<f64>();
            let inner = |[a]: [F; 1]| F::repeat(x, [a], |[a]| a.lt(x), |k, [a]| [a * k]);
            let [y] = F::repeat(x, [x], |_| Sym::from_bool(true), |_, state| inner(state));
            t.output(y);
        })
        .unwrap();
        let text = function.c_source("f");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("for (")).collect();
        let depths: Vec<usize> = lines.iter().map(|line| line.len() - line.trim_start().len()).collect();
        assert_eq!(depths, [4, 8], "{text}");
    }

    #[test]
    fn what_a_loop_carries_is_foreign_outside() {
        let leak = |used: fn(&mut Tracer, F)| {
            trace(|t| {
                let x = t.input::<f64>();
                let kept = Cell::new(x);
                let keep = |[a]: [F; 1]| {
                    kept.set(a + x);
                    a.eq(x)
                };
                let [y] = F::repeat(x, [x], keep, |_, state| state);
                t.output(y);
                used(t, kept.get());
            })
        };
        assert_eq!(leak(|t, a| t.output(a)), Err(TraceError::ForeignNode));
        let in_another = leak(|t, a| t.output(F::repeat(a, [a], |[b]| b.eq(b), |_, [b]| [b])[0]));
        assert_eq!(in_another, Err(TraceError::ForeignNode));
        let beside = leak(|t, a| t.output(F::repeat(F::one(), [F::one()], |[b]| b.eq(b), |_, [b]| [a + b])[0]));
        assert_eq!(beside, Err(TraceError::ForeignNode));
        assert!(leak(|_, _| ()).is_ok());
    }
}
