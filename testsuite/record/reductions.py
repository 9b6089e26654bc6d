"""Records reductions and upsample_nearest1d: dims, dtypes, layouts, out= and errors, each with its result.

Writes ../../devices/cpu/tests/reduce/recorded.txt, one call per line:

    op | dtype sizes strides offset | values | arguments | out ... | -> | result ... or error KIND

`values` are hexadecimal elements that fill the storage by turns (element i is values[(7 i + i // 5) % n]). An output, given
or resulting, is `dtype sizes strides offset`; a result adds its elements in row-major order, in hexadecimal.
"""

import itertools
import os
import random
import struct
import warnings

import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
TO = os.path.join(HERE, "../../devices/cpu/tests/reduce/recorded.txt")
ATEN = torch.ops.aten

DTYPES = {
    "bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32,
    "int64": torch.int64, "float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32,
    "float64": torch.float64, "complex64": torch.complex64, "complex128": torch.complex128,
}
NAMES = {v: k for k, v in DTYPES.items()}
INF, NAN = float("inf"), float("nan")
FLOATS = [[0.5, -1.25, 3.0, 2.0, -4.5, 0.75, 8.0], [0.0, -0.0], [-INF, 1.0, -2.0], [1.0, NAN, INF, -3.0, 7.0],
          [-INF], [0.1, 0.2, 0.3, 1e4, -1e4, 7.7]]
INTS = [[3, 1, 2, 7, 5, 0, 6], [0], [1, 100, 127, 2], [5, 5, 5]]

ERRORS = [
    ("Dimension out of range", "DimOutOfRange"), ("appears multiple times", "DimRepeated"),
    ("to have non-zero size", "EmptyReduction"), ("input.numel() == 0", "EmptyInput"),
    ("over an empty dimension", "EmptyInput"), ("up to 64 dims", "DimCount"),
    ("could not infer output dtype", "DTypeNotSupported"), ("input types can't be cast", "Cast"),
    ("Expected out tensor to have dtype", "OutputDType"), ("dtype for input and out to match", "OutputDType"), ("only supports bool tensor", "OutputDType"),
    ("does not support", "DTypeNotSupported"), ("not implemented for", "DTypeNotSupported"),
    ("more than one element of the written-to", "InternalOverlap"),
    ("must not overlap", "Overlap"), ("some elements of the input", "Overlap"),
    ("expected output_size equals to 1", "ListLength"), ("It is expected output_size", "ListLength"),
    ("It is expected input_size", "DimCount"), ("Non-empty 3D", "OutOfRange"),
    ("sizes should be greater than 0", "OutOfRange"), ("exactly one of", "ArgumentRule"),
    ("spatial_dimensions to be true", "ListLength"), ("without overflow", "NumberRange"),
]


def hexes(t):
    flat = torch.empty(t.numel(), dtype=t.dtype)
    flat.copy_(t.reshape(-1))
    raw = bytes(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else b""
    size = t.element_size()
    return ",".join(raw[i:i + size].hex() for i in range(0, len(raw), size))


def shape(t):
    word = lambda xs: "x".join(map(str, xs)) or "-"
    return f"{NAMES[t.dtype]} {word(t.shape)} {word(t.stride())} {t.storage_offset()}"


def values(dtype, rng):
    if dtype == torch.bool:
        return torch.tensor(rng.choice([[0, 1, 2], [0], [1, 1], [0, 0, 0, 0, 200]]), dtype=torch.uint8).view(torch.bool)
    if dtype.is_complex:
        re, im = rng.choice([0, 5]), rng.choice([0, 5])
        n = min(len(FLOATS[re]), len(FLOATS[im]))
        return torch.complex(torch.tensor(FLOATS[re][:n], dtype=torch.float64),
                             torch.tensor(FLOATS[im][:n], dtype=torch.float64)).to(dtype)
    if dtype.is_floating_point:
        return torch.tensor(rng.choice(FLOATS), dtype=torch.float64).to(dtype)
    v = rng.choice(INTS + [[torch.iinfo(dtype).max, torch.iinfo(dtype).min, 1]])
    return torch.tensor(v, dtype=torch.int64).to(dtype)


def fill(vals, n):
    return vals[[(7 * i + i // 5) % len(vals) for i in range(n)]] if n else vals[:0]


def tensor(dtype, sizes, layout, rng):
    """A tensor of these sizes and its values, by layout."""
    vals = values(dtype, rng)
    numel = 1
    for s in sizes:
        numel *= s
    strides = list(torch.empty(sizes, device="meta").stride())
    offset = 0
    if layout == "permuted" and len(sizes) > 1:
        order = list(range(len(sizes)))
        rng.shuffle(order)
        step = 1
        for d in order:
            strides[d] = step
            step *= max(sizes[d], 1)
    elif layout == "stepped":
        strides, offset = [2 * s for s in strides], 3
    elif layout == "expanded" and sizes:
        strides[rng.randrange(len(sizes))] = 0
    need = offset + 1 + sum(max(s - 1, 0) * t for s, t in zip(sizes, strides))
    base = fill(vals, need)
    return base.as_strided(sizes, strides, offset), vals


def out_tensor(dtype, sizes, rng):
    layout = rng.choice(["same", "same", "empty", "other", "stepped"])
    if layout == "empty":
        return torch.zeros(0, dtype=dtype)
    if layout == "other":
        return torch.zeros(list(sizes) + [2], dtype=dtype)
    if layout == "stepped" and len(sizes):
        strides = [2 * s for s in torch.empty(sizes, device="meta").stride()]
        n = 4 + sum(max(s - 1, 0) * t for s, t in zip(sizes, strides))
        return torch.zeros(n, dtype=dtype).as_strided(sizes, strides, 1)
    return torch.zeros(sizes, dtype=dtype)


def record(lines, op, x, vals, args, call, outs=()):
    out_text = " ; ".join(shape(o) for o in outs) or "-"
    head = f"{op} | {shape(x)} | {hexes(vals)} | {args} | {out_text} | "
    try:
        results = call()
    except Exception as error:  # every refusal of PyTorch's is a fact to record
        text = str(error)
        kind = next((k for phrase, k in ERRORS if phrase in text), None)
        assert kind, (head, text)
        lines.append(head + f"error {kind}")
        return
    results = results if isinstance(results, tuple) else (results,)
    lines.append(head + " ; ".join(f"{shape(r)} = {hexes(r)}" for r in results))


SHAPES = [[], [1], [5], [0], [3, 4], [1, 6], [2, 0, 3], [0, 3], [2, 3, 4], [4, 1, 3], [7, 2, 5], [3, 40], [40, 3], [2, 1, 1, 3],
          [300], [17, 33]]


def dims_of(ndim, rng):
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.2:
        return []
    if kind < 0.27:
        return [ndim + rng.randrange(2)]
    if kind < 0.33 and ndim:
        return [0, -ndim]
    n = max(ndim, 1)
    picked = rng.sample(range(n), rng.randrange(1, n + 1))
    return [d - n if rng.random() < 0.4 else d for d in picked]


def text(value):
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(str, value)) + "]"
    return NAMES[value] if isinstance(value, torch.dtype) else str(value).lower()


def main():
    rng = random.Random(int(os.environ.get("SEED", "11")))
    lines = []
    layouts = ["plain", "permuted", "stepped", "expanded"]
    for round_, (name, dtype), sizes in itertools.product(range(int(os.environ.get("ROUNDS", "1"))), DTYPES.items(), SHAPES):
        layout = rng.choice(layouts)
        x, vals = tensor(dtype, sizes, layout, rng)
        ndim = len(sizes)
        dims, keep = dims_of(ndim, rng), rng.random() < 0.5
        asked = rng.choice([None, None, None] + list(DTYPES.values()))
        special = bool(vals.is_floating_point() and not torch.isfinite(vals).all())
        if asked is not None and special and not (asked.is_floating_point or asked.is_complex):
            asked = None
        given = rng.random() < 0.4
        # sum
        call = lambda out=None: (ATEN.sum.dim_IntList(x, dims, keep, dtype=asked) if out is None
                                 else ATEN.sum.IntList_out(x, dims, keep, dtype=asked, out=out))
        outs = []
        if given:
            wanted = asked or (torch.int64 if not (dtype.is_floating_point or dtype.is_complex) else dtype)
            real = dtype.is_floating_point and not special
            other = rng.choice([wanted, wanted, torch.float64 if real else wanted])
            try:
                sizes_out = call().shape
            except Exception:
                sizes_out = [2]
            outs = [out_tensor(other, list(sizes_out), rng)]
        record(lines, "sum.dim_IntList", x, vals, f"{text(dims)} {text(keep)} {text(asked)}",
               lambda: call(outs[0]) if outs else call(), outs)
        if round_ == 0:
            record(lines, "sum", x, vals, text(asked), lambda: ATEN.sum(x, dtype=asked))
        # any
        which = rng.choice(["any", "any.dim", "any.dims", "any.dims"])
        one = rng.choice(dims) if dims else 0
        bytebool = [torch.zeros(0, dtype=rng.choice([torch.bool, torch.bool, torch.uint8, dtype]))] if given else []
        if which == "any":
            record(lines, which, x, vals, "", lambda: ATEN.any.all_out(x, out=bytebool[0]) if given else ATEN.any(x), bytebool)
        elif which == "any.dim":
            record(lines, which, x, vals, f"{one} {text(keep)}",
                   lambda: ATEN.any.out(x, one, keep, out=bytebool[0]) if given else ATEN.any.dim(x, one, keep), bytebool)
        else:
            record(lines, which, x, vals, f"{text(dims)} {text(keep)}",
                   lambda: ATEN.any.dims_out(x, dims, keep, out=bytebool[0]) if given else ATEN.any.dims(x, dims, keep),
                   bytebool)
        # argmax, aminmax
        dim = one if dims and rng.random() < 0.8 else None
        index = [out_tensor(rng.choice([torch.int64, torch.int64, dtype]), [3], rng)] if given else []
        record(lines, "argmax", x, vals, f"{text(dim)} {text(keep)}",
               lambda: ATEN.argmax.out(x, dim, keep, out=index[0]) if given else ATEN.argmax(x, dim, keep), index)
        both = [out_tensor(dtype, [3], rng), out_tensor(rng.choice([dtype, dtype, dtype, torch.float64]), [3], rng)] if given else []
        record(lines, "aminmax", x, vals, f"{text(dim)} {text(keep)}",
               lambda: ATEN.aminmax.out(x, dim=dim, keepdim=keep, min=both[0], max=both[1]) if given
               else ATEN.aminmax(x, dim=dim, keepdim=keep), both)

    fractional_and_largest(lines, layouts)

    # More dimensions than a mask has.
    for ndim in (64, 65):
        x, vals = tensor(torch.float32, [1] * ndim, "plain", rng)
        record(lines, "sum", x, vals, "none", lambda: ATEN.sum(x))
        record(lines, "sum.dim_IntList", x, vals, "[] false none", lambda: ATEN.sum(x, []))
        record(lines, "sum.dim_IntList", x, vals, "[0] false none", lambda: ATEN.sum(x, [0]))
        record(lines, "any", x, vals, "", lambda: ATEN.any(x))
        record(lines, "any.dim", x, vals, "0 false", lambda: ATEN.any.dim(x, 0))
        record(lines, "any.dims", x, vals, "[] true", lambda: ATEN.any.dims(x, [], True))
        record(lines, "argmax", x, vals, "none false", lambda: ATEN.argmax(x))
        record(lines, "argmax", x, vals, "0 true", lambda: ATEN.argmax(x, 0, True))
        record(lines, "aminmax", x, vals, "none false", lambda: ATEN.aminmax(x))
        record(lines, "aminmax", x, vals, "0 true", lambda: ATEN.aminmax(x, dim=0, keepdim=True))
    # Outputs of which several indices are one element.
    x, vals = tensor(torch.float32, [3, 5], "plain", rng)
    for op, dtype in (("sum.dim_IntList", torch.float32), ("any.dim", torch.bool), ("argmax", torch.int64)):
        out = torch.zeros(1, dtype=dtype).expand(3)
        args = {"sum.dim_IntList": "[1] false none", "any.dim": "1 false", "argmax": "1 false"}[op]
        call = {"sum.dim_IntList": lambda: ATEN.sum.IntList_out(x, [1], out=out),
                "any.dim": lambda: ATEN.any.out(x, 1, out=out), "argmax": lambda: ATEN.argmax.out(x, 1, out=out)}[op]
        record(lines, op, x, vals, args, call, [out])
    for low, high in ((torch.zeros(1).expand(3), torch.zeros(3)), (torch.zeros(3), torch.zeros(1).expand(3))):
        record(lines, "aminmax", x, vals, "1 false", lambda: ATEN.aminmax.out(x, dim=1, min=low, max=high), [low, high])

    upsample(lines, rng)
    with open(TO, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(len(lines), "calls")


def fractional_and_largest(lines, layouts):
    """mean, amax and amin."""
    rng = random.Random(int(os.environ.get("SEED", "11")) + 1)
    rounds = range(int(os.environ.get("ROUNDS", "1")))
    for _, (name, dtype), sizes in itertools.product(rounds, DTYPES.items(), SHAPES):
        x, vals = tensor(dtype, sizes, rng.choice(layouts), rng)
        dims, keep, given = dims_of(len(sizes), rng), rng.random() < 0.5, rng.random() < 0.5
        special = bool(vals.is_floating_point() and not torch.isfinite(vals).all())
        asked = rng.choice([None, None, None, torch.float64] + list(DTYPES.values()))
        if given and dtype.is_complex and asked is not None and not asked.is_complex:
            asked = None
        mean = lambda out=None: (ATEN.mean.dim(x, dims, keep, dtype=asked) if out is None
                                 else ATEN.mean.out(x, dims, keep, dtype=asked, out=out))
        outs = []
        if given:
            try:
                sizes_out = mean().shape
            except Exception:
                sizes_out = [2]
            floating = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex128]
            other = rng.choice([asked or dtype, asked or dtype] + floating[4 * dtype.is_complex:])
            # An output of integers is refused only after it was written.
            outs = [out_tensor(other, list(sizes_out), rng)] if other.is_floating_point or other.is_complex else []
        record(lines, "mean.dim", x, vals, f"{text(dims)} {text(keep)} {text(asked)}",
               lambda: mean(outs[0]) if outs else mean(), outs)
        outs = []
        if given:
            outs = [out_tensor(rng.choice([asked or dtype, asked or dtype, torch.float32]), [], rng)]
        record(lines, "mean", x, vals, text(asked),
               lambda: ATEN.mean.dtype_out(x, dtype=asked, out=outs[0]) if outs else ATEN.mean(x, dtype=asked), outs)
        listed = dims or []
        for op, call in (("amax", ATEN.amax), ("amin", ATEN.amin)):
            outs = [out_tensor(rng.choice([dtype, dtype, dtype, torch.float64]), [3], rng)] if rng.random() < 0.5 else []
            record(lines, op, x, vals, f"{text(listed)} {text(keep)}",
                   lambda: call.out(x, listed, keep, out=outs[0]) if outs else call(x, listed, keep), outs)
    x, vals = tensor(torch.float32, [3, 5], "plain", rng)
    for op, call in (("amax", ATEN.amax), ("mean.dim", ATEN.mean)):
        out = torch.zeros(1).expand(3)
        record(lines, op, x, vals, "[1] false" + (" none" if op != "amax" else ""), lambda: call.out(x, [1], out=out), [out])


# Widths, sizes and scales at which the source index differs with the precision of the step.
TELLING_STEPS = [(26, 22, None), (39, 33, None), (14, 46, None), (5, 42, 10.25), (5, 48, 11.75), (16, 70, 4.6)]


def upsample(lines, rng):
    op = ATEN.upsample_nearest1d
    kinds = [torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64]
    scales = [None, None, 0.3, 0.999, 1.0, 1.3, 1.7, 2.0, 2.9, 3.0, 7.3, 0.0, -1.0, INF, NAN, 1e-3, 1e9, 1 / 3, 5 / 7]
    for dtype, width, layout in itertools.product(kinds, [1, 3, 7, 13], ["plain", "permuted", "stepped", "expanded"]):
        vals = torch.arange(23).to(dtype)
        x, _ = tensor(dtype, [2, 3, width], layout, rng)
        need = x.storage_offset() + 1 + sum(max(s - 1, 0) * t for s, t in zip(x.shape, x.stride()))
        x = fill(vals, need).as_strided(x.shape, x.stride(), x.storage_offset())
        size, scale = rng.choice([1, 2, 3, 5, 7, 14, 26, 29]), rng.choice(scales)
        outs = [out_tensor(rng.choice([dtype, dtype, dtype, torch.float64]), [2, 3, size], rng)] if rng.random() < 0.4 else []
        record(lines, "upsample_nearest1d", x, vals, f"[{size}] {scale}".lower(),
               lambda: op.out(x, [size], scale, out=outs[0]) if outs else op(x, [size], scale), outs)
        factor = rng.choice([0.5, 1.0, 1.7, 2.0, 2.9, 0.2, NAN, 1e19, 3.3])
        if 0 < width * factor < 30 or not width * factor < 1e18:
            record(lines, "upsample_nearest1d.vec", x, vals, f"none [{factor}]".lower(), lambda: op.vec(x, None, [factor]))
        record(lines, "upsample_nearest1d.vec", x, vals, f"[{size}] none", lambda: op.vec(x, [size], None))
    for (width, size, scale), dtype in itertools.product(TELLING_STEPS, [torch.float32, torch.float64, torch.bfloat16]):
        vals = torch.arange(61).to(dtype)
        x = fill(vals, width).reshape(1, 1, width)
        record(lines, "upsample_nearest1d", x, vals, f"[{size}] {scale}".lower(), lambda: op(x, [size], scale))
    vals = torch.arange(23.0)
    plain = lambda sizes, dtype=torch.float32: fill(vals.to(dtype), max(1, torch.Size(sizes).numel())).as_strided(
        sizes, torch.empty(sizes, device="meta").stride())
    for sizes, size in (([1, 3, 4], [6, 2]), ([1, 3, 4], []), ([1, 3, 4], [0]), ([1, 3, 4], [-1]), ([3, 4], [6]), ([0, 3, 4], [6]),
                        ([1, 0, 4], [6]), ([1, 3, 0], [6]), ([0, 3, 0], [6]), ([2, 1, 3, 4], [6])):
        x = plain(sizes)
        record(lines, "upsample_nearest1d", x, vals, f"{text(size)} none", lambda: op(x, size))
    x = plain([1, 3, 4])
    for size, factors in ((None, None), ([6], [1.5]), ([6, 7], None), (None, [1.7, 2.0]), (None, []), ([], None), (None, [0.0]),
                          (None, [-1.0]), (None, [INF])):
        record(lines, "upsample_nearest1d.vec", x, vals, f"{text(size)} {text(factors)}", lambda: op.vec(x, size, factors))
    for dtype in DTYPES.values():
        x = plain([1, 3, 4]).to(dtype)
        record(lines, "upsample_nearest1d", x, vals.to(dtype), "[3] none", lambda: op(x, [3]))
    out = torch.zeros(1, 3, 1).expand(1, 3, 5)
    x = plain([1, 3, 4])
    record(lines, "upsample_nearest1d", x, vals, "[5] none", lambda: op.out(x, [5], out=out), [out])


if __name__ == "__main__":
    main()
