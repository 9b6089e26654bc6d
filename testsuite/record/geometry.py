"""Records golden/geometry.json: what PyTorch makes of sizes and strides.

    python testsuite/record/geometry.py

Sections, one row per line; strides are in elements unless said otherwise, errors are {"error": message}:

view        [sizes, strides, requested sizes, strides of the view or error]
layouts     [sizes, strides, contiguous, channels_last, channels_last_3d, non-overlapping and dense,
            suggested memory format (0 contiguous, 2 channels_last, 3 channels_last_3d),
            internal overlap (0 no, 1 yes, 2 too hard), empty_like strides, clone strides]
iterate     {"flags", "outputs": [[sizes, strides] or null], "inputs": [[sizes, strides]]} and either "error" or
            "result": strides of each output, "shape" and "strides" (in bytes, outputs first): the coalesced iteration
            space of a TensorIterator over float32 operands. Flags: 1 check_mem_overlap, 2 resize_outputs,
            32 is_reduction, 64 enforce_linear_iteration, 256 check_all_same_dtype.
            Where an output is given its sizes after the call are in "sizes".
sum         [sizes, strides, dims, keepdim, result sizes, result strides]
overlap     {"out", "a", "b": [sizes, strides, offset] over one storage, "internal": of out, "status": of out with a
            (0 full, 1 partial, 2 none, 3 too hard), "add_out": null or message, "add_": null or message} where add_out is
            torch.add(a, b, out=out) and add_ is out.add_(a).
"""

import random

import torch
from facts import GOLDEN, load_probe, message, storage_extent, write
from layouts import broadcastable, sizes, strides, tensor


def views(rng, count):
    out = []
    while len(out) < count:
        shape = sizes(rng, 0, 5)
        stride = strides(rng, shape)
        t = tensor(shape, stride)
        n = t.numel()
        want = []
        if rng.random() < 0.6 and shape:
            # Merge or split neighbours: the interesting requests are near the old shape.
            want = list(shape)
            for _ in range(rng.randint(1, 3)):
                i = rng.randrange(len(want)) if want else 0
                if len(want) > 1 and rng.random() < 0.6:
                    i = rng.randrange(len(want) - 1)
                    want[i : i + 2] = [want[i] * want[i + 1]]
                elif want and want[i] > 1:
                    k = rng.choice([d for d in range(1, want[i] + 1) if want[i] % d == 0])
                    want[i : i + 1] = [k, want[i] // k]
                else:
                    want.insert(i, 1)
        else:
            left = n
            while left > 1 and rng.random() < 0.8:
                k = rng.choice([d for d in range(1, left + 1) if left % d == 0])
                want.append(k)
                left //= k
            want.append(left)
        if want and rng.random() < 0.25:
            want[rng.randrange(len(want))] = rng.choice([-1, -1, -1, 1, 7, -2])
        try:
            result = list(torch.ops.aten.view(t, want).stride())
        except Exception as error:
            result = {"error": message(error)}
        out.append([shape, stride, want, result])
    return out


def layout_rows(rng, probe, count):
    out = []
    for i in range(count):
        shape = sizes(rng, 0, 5) if i % 3 else sizes(rng, 3, 5)
        stride = strides(rng, shape)
        t = tensor(shape, stride)
        c, cl, cl3, dense, suggest, internal = probe.describe(t)
        like = torch.empty_like(t, memory_format=torch.preserve_format).stride()
        clone = t.clone(memory_format=torch.preserve_format).stride()
        out.append([shape, stride, bool(c), bool(cl), bool(cl3), bool(dense), suggest, internal, list(like), list(clone)])
    return out


def iterations(rng, probe, count):
    out = []
    while len(out) < count:
        arity = rng.choice([1, 1, 2, 2, 2, 2, 3, 3])
        shape = sizes(rng, 0, 5) if rng.random() < 0.8 else [rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), 1, 1]
        same = rng.random() < 0.5
        shapes = [list(shape) if same else broadcastable(rng, shape) for _ in range(arity)]
        shared = strides(rng, shape) if same and rng.random() < 0.35 else None
        inputs = [[s, shared or strides(rng, s)] for s in shapes]
        flags = 1 + 2 + 256
        outputs = [None]
        kind = rng.random()
        if kind < 0.3:
            full = list(torch.broadcast_shapes(*shapes))
            have = full if rng.random() < 0.7 else sizes(rng, 0, 4)
            outputs = [[have, strides(rng, have)]]
            flags = rng.choice([259, 259, 258, 257, 256, 257 + 64])
        elif kind < 0.4:
            # A reduction: the output has stride 0 where the input is reduced.
            full = list(torch.broadcast_shapes(*shapes))
            kept = [rng.random() < 0.5 for _ in full]
            have = [s if k else 1 for s, k in zip(full, kept)]
            stride = strides(rng, have, rng.choice(["plain", "permuted"]))
            outputs = [[have, [t if k else 0 for t, k in zip(stride, kept)]]]
            flags = 256 + 32
        elif kind < 0.45:
            flags += 64
        elif kind < 0.5:
            outputs = [None, None]
        fact = {"flags": flags, "outputs": outputs, "inputs": inputs}
        given = [None if o is None else tensor(*o) for o in outputs]
        operands = [tensor(*i) for i in inputs]
        try:
            results, flat = probe.iterate(given, operands, [], flags)
        except Exception as error:
            out.append(fact | {"error": message(error)})
            continue
        ndim, flat = flat[1], flat[2:]
        fact["result"] = [list(r.stride()) for r in results]
        if given[0] is not None:
            fact["sizes"] = [list(r.shape) for r in results]
        fact["shape"] = flat[:ndim]
        fact["strides"] = [flat[ndim * (k + 1) : ndim * (k + 2)] for k in range(len(outputs) + arity)]
        if outputs == [None] and arity == 2 and not flags & 64:
            # The operator must say what the iterator says.
            assert list(torch.add(*operands).stride()) == fact["result"][0]
        out.append(fact)
    return out


def sums(rng, count):
    out = []
    while len(out) < count:
        shape = [s or 2 for s in sizes(rng, 1, 5)]
        stride = strides(rng, shape)
        dims = sorted(d for d in range(len(shape)) if rng.random() < 0.4)
        if not dims and rng.random() < 0.8:
            continue
        keep = rng.random() < 0.5
        r = torch.sum(tensor(shape, stride), dims, keep)
        out.append([shape, stride, dims, keep, list(r.shape), list(r.stride())])
    return out


def overlaps(rng, probe, count):
    out = []
    while len(out) < count:
        shape = [s or 2 for s in sizes(rng, 0, 3, [1, 2, 2, 3, 4])]
        kinds = ["plain", "plain", "permuted", "stepped", "padded", "expanded", "free", "loose_ones"]

        def place(like=None):
            if like and rng.random() < 0.3:
                return list(like)
            return [shape, strides(rng, shape, rng.choice(kinds)), rng.choice([0, 0, 0, 1, 2, 3, 6, 12])]

        c = place()
        a, b = place(c), place(c)
        length = max(storage_extent(*g) for g in (a, b, c))

        def fresh():
            base = torch.zeros(length)
            return [base.as_strided(*g) for g in (c, a, b)]

        tc, ta, tb = fresh()
        fact = {"out": c, "a": a, "b": b, "internal": probe.describe(tc)[5], "status": probe.overlap(tc, ta)}

        def attempt(call):
            try:
                call()
            except Exception as error:
                return message(error)

        fact["add_out"] = attempt(lambda: torch.add(ta, tb, out=tc))
        tc, ta, tb = fresh()
        fact["add_"] = attempt(lambda: tc.add_(ta))
        out.append(fact)
    return out


def main():
    probe = load_probe()
    rng = random.Random(20240)
    sections = {
        "view": views(rng, 600),
        "layouts": layout_rows(rng, probe, 600),
        "iterate": iterations(rng, probe, 900),
        "sum": sums(rng, 200),
        "overlap": overlaps(rng, probe, 400),
    }
    write(GOLDEN / "geometry.json", {}, sections)


if __name__ == "__main__":
    main()
