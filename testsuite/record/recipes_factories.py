"""What arguments to give factories, and the operators that set sizes, storages and parts of a tensor.

As in recipes.py: `arguments(pool, base, overload)` returns argument values by name, without outs, or None where the draw makes
no sense.
"""

import math

import torch
from facts import DTYPES, dtype

SPACED = ("linspace", "logspace")
WINDOWS = ("bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window")
FREQUENCIES = ("fft_fftfreq", "fft_rfftfreq")
TRIANGLES = ("tril_indices", "triu_indices")
NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")
SCATTERS = ("as_strided_scatter", "diagonal_scatter", "select_scatter", "slice_scatter")
SIZED = ("resize", "resize_as", "set")
COPIED = ("_to_copy", "_unsafe_view", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "zero")
MADE = (*SPACED, *WINDOWS, *FREQUENCIES, *TRIANGLES, "eye", "range", "empty_permuted")
BASES = (*MADE, *NEW, *SCATTERS, *SIZED, *COPIED)

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def options(pool, names, odd=0.08):
    """The options of a new tensor; the dtype mostly from `names`."""
    v = {"dtype": None if pool.chance(0.3) else dtype(pool.dtype(DTYPES if pool.chance(odd) else names))}
    v["layout"] = torch.strided if pool.chance(0.15) else None
    v["device"] = torch.device("cpu") if pool.chance(0.2) else None
    v["pin_memory"] = False if pool.chance(0.15) else None
    return v


def spaced(pool, base, overload):
    r = pool.rng
    ends = [0, 1, -2, 3, 4.3, 0.5, -3, 7, 2.75]
    v = {"start": r.choice(ends), "end": r.choice(ends), "steps": r.choice([0, 1, 2, 3, 5, 8, 17, 50])}
    if pool.chance(0.1):
        v[r.choice(["start", "end"])] = r.choice([True, 1 + 2j, float("nan"), float("inf"), 1e300, 300, -1j])
    if pool.chance(0.05):
        v["steps"] = -1
    kinds = overload.removesuffix("_out").split("_") if "Tensor" in overload else ["Scalar", "Scalar"]
    for name, kind in zip(("start", "end"), kinds):
        if kind == "Tensor":
            v[name] = torch.tensor([v[name]] if pool.chance(0.05) else v[name])
    if base == "logspace":
        v["base"] = r.choice([10.0, 2.0, 2.5, 0.5, -2.0 if pool.chance(0.3) else 3.0])
        # Powers beyond an integer dtype are undefined in C++.
        v |= {k: abs(x) % 2 for k, x in v.items() if k in ("start", "end") and isinstance(x, (int, float)) and abs(x) > 3}
    return v


def ranged(pool):
    r = pool.rng
    step = r.choice([1, 2, -1, 3, 0.5, -0.25, 0.1, 0 if pool.chance(0.2) else 1])
    start = r.choice([0, 1, -3, 0.5, 2.0, 7])
    end = start + step * r.randint(0, 9) if pool.chance(0.8) else r.choice([0, 5, -4.5, float("inf"), float("nan")])
    return {"start": start, "end": end, "step": step}


def made(pool, base, overload):
    r = pool.rng
    if base in SPACED:
        v = spaced(pool, base, overload)
        names = ["uint8", "int8", "int16", "int32", "int64", *FLOATS, "complex64", "complex128"]
        if base == "logspace":
            names = names[3:]
        return v | options(pool, names)
    if base == "range":
        v = ranged(pool)
        if "out" in overload and abs(v["step"]) < 1:
            return None
        # PyTorch divides by a step that an integer dtype cuts off to zero, and dies.
        return v | options(pool, ["int8", "int16", "int32", "int64", *FLOATS] if abs(v["step"]) >= 1 else FLOATS, 0)
    if base == "eye":
        v = {"n": r.choice([0, 1, 2, 3, 5, -1 if pool.chance(0.2) else 4]), "m": r.choice([0, 1, 2, 4, 7, -2 if pool.chance(0.2) else 3])}
        return v | options(pool, DTYPES)
    if base in TRIANGLES:
        v = {"row": r.choice([0, 1, 2, 3, 5, 6]), "col": r.choice([0, 1, 2, 3, 4, 7]), "offset": r.choice([0, 0, 1, -1, 2, -3, 9, -9])}
        if pool.chance(0.1):
            v[r.choice(["row", "col"])] = -1
        return v | options(pool, ["int32", "int64"])
    if base in WINDOWS:
        v = {"window_length": r.choice([0, 1, 2, 3, 4, 5, 8, 13, 64, -1 if pool.chance(0.3) else 6]), "periodic": pool.chance(0.5)}
        v |= {"alpha": r.choice([0.54, 0.3, 1.0]), "beta": r.choice([0.46, 0.7, 3.0, 12.0, 0.0])}
        return v | options(pool, FLOATS)
    if base in FREQUENCIES:
        v = {"n": r.choice([0, 1, 2, 3, 4, 5, 8, 9, -1 if pool.chance(0.3) else 6]), "d": r.choice([1.0, 0.5, 0.1, -2.0, 0.0])}
        return v | options(pool, FLOATS)
    shape = pool.shape()
    order = r.sample(range(len(shape)), len(shape))
    if order and pool.chance(0.15):
        order[0] = r.choice([-1, len(order), order[-1]])
    return {"size": shape, "physical_layout": order + [0] * pool.chance(0.05)} | options(pool, DTYPES)


def new(pool, base):
    v = {"self": pool.tensor(), "size": pool.shape()} | options(pool, DTYPES)
    if pool.chance(0.04) and v["size"]:
        v["size"][0] = -1
    v["stride"] = [pool.rng.choice([0, 1, 2, 3, 6]) for _ in v["size"]]
    v["fill_value"] = pool.scalar()
    return v


def scatters(pool, base):
    r = pool.rng
    t = pool.tensor()
    n, sizes = t.dim(), list(t.shape)
    d = pool.dim(n)
    size = sizes[d] if sizes and -n <= d < n else 1
    if base == "select_scatter":
        v = {"dim": d, "index": r.randint(-size - 1, size)}
        view = torch.ops.aten.select.int
    elif base == "slice_scatter":
        pick = lambda: None if pool.chance(0.25) else r.choice([-9, -2, -1, 0, 1, 2, 3, 9])  # noqa: E731
        v = {"dim": d, "start": pick(), "end": pick(), "step": r.choice([1, 1, 2, 3])}
        view = torch.ops.aten.slice.Tensor
    elif base == "diagonal_scatter":
        v = {"offset": r.choice([0, 0, 1, -1, 2, -9]), "dim1": pool.dim(n), "dim2": pool.dim(n)}
        view = torch.ops.aten.diagonal.default
    else:
        shape = pool.shape(0, 3)
        v = {"size": shape, "stride": [r.choice([1, 1, 2, 3, 5]) for _ in shape], "storage_offset": r.choice([None, 0, 1])}
        view = torch.ops.aten.as_strided.default
    try:
        part = view(t, *v.values())
        if base == "as_strided_scatter" and torch._debug_has_internal_overlap(part) != 0:
            return None
        # Of two indices that reach one element it is undefined which one wins.
        if base == "as_strided_scatter" and len(set(torch.ops.aten.as_strided(torch.arange(99999), part.shape, part.stride()).flatten().tolist())) < part.numel():
            return None
        shape = list(part.shape)
    except Exception:
        shape = pool.shape(0, 3)
    if pool.chance(0.06):
        shape = shape + [1]
    return {"self": t, "src": pool.tensor(shape, None if pool.chance(0.3) else str(t.dtype)[6:])} | v


def fits(t, shape, strides, offset):
    """Whether the storage holds the geometry: what it grows by is undefined."""
    if 0 in shape:
        return True
    strides = strides or [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    last = offset + sum((s - 1) * x for s, x in zip(shape, strides))
    return (last + 1) * t.element_size() <= t.untyped_storage().nbytes()


def sized(pool, base, overload):
    """Sizes and storages: only such as the storage holds."""
    r = pool.rng
    t = pool.tensor(pool.shape(3, 5) if pool.chance(0.4) else None)
    formats = [None, None, torch.contiguous_format, torch.preserve_format]
    if base == "set":
        return {"self": t}
    shape = pool.shape(3, 5) if pool.chance(0.5) else pool.shape()
    if pool.chance(0.3):
        shape = list(t.shape)
    # The functional form works on a copy, which has no spare elements.
    if not fits(t, shape, [], t.storage_offset()) or math.prod(shape) > t.numel():
        return None
    if base == "resize":
        if len(shape) in (4, 5) or pool.chance(0.05):
            formats += [torch.channels_last] * 2 if len(shape) != 5 else [torch.channels_last_3d] * 2
        return {"self": t, "size": shape, "memory_format": r.choice(formats)}
    return {"self": t, "the_template": pool.tensor(shape), "memory_format": r.choice(formats)}


def copied(pool, base, overload):
    r = pool.rng
    t = pool.tensor(pool.shape(3, 5) if base == "_to_copy" and pool.chance(0.4) else None)
    n, sizes = t.dim(), list(t.shape)
    v = {"self": t}
    if base == "_to_copy":
        v |= options(pool, DTYPES) | {"non_blocking": pool.chance(0.1)}
        formats = [None, None, torch.preserve_format, torch.contiguous_format]
        v["memory_format"] = r.choice(formats + [torch.channels_last] * 3 * (n == 4) + [torch.channels_last_3d] * 3 * (n == 5))
    elif base == "_unsafe_view":
        want = list(sizes)
        if len(want) > 1:
            i = r.randrange(len(want) - 1)
            want[i : i + 2] = [want[i] * want[i + 1]]
        if want and pool.chance(0.3):
            want[r.randrange(len(want))] = r.choice([-1, -1, 5])
        v["size"] = want
    elif base != "zero":
        d = pool.dim(n)
        size = sizes[d] if sizes and -n <= d < n else 1
        v |= {"dim": d, "chunks": r.choice([1, 2, 3, 0 if pool.chance(0.2) else 5]), "split_size": r.choice([1, 2, 3, -1 if pool.chance(0.2) else 4])}
        if base == "unsafe_split_with_sizes":
            cut = r.randint(0, size)
            v["split_sizes"] = [cut, size - cut] if pool.chance(0.9) else [cut, size]
    return v


def arguments(pool, base, overload):
    if base in MADE:
        return made(pool, base, overload)
    if base in NEW:
        return new(pool, base)
    if base in SCATTERS:
        return scatters(pool, base)
    return sized(pool, base, overload) if base in SIZED else copied(pool, base, overload)
