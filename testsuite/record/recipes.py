"""What arguments to give each ATen overload the recorder covers.

`arguments(pool, function)` returns (positional values by name, keyword values by name) of one call, or None where the
draw makes no sense. Outs are drawn after a trial run of the functional form, so that their sizes are the result's.
"""

import recipes_factories
import torch
from case_file import Number
from facts import DTYPES, dtype
from operands import COMPLEX, INTEGERS, REAL_FLOATS, Pool

REALS = [d for d in DTYPES if d not in COMPLEX]
FORMATS = [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]
# Ops whose kernels look for overlap between out and inputs; for the others such a call has no defined answer.
OVERLAP_CHECKED = {"add", "sub", "mul", "div", "neg", "abs", "exp", "clamp", "eq", "lt", "where", "logical_not", "bitwise_and"}  # fmt: skip


def domain(base, overload):
    """The dtypes an op takes."""
    if base == "bitwise_and":
        return ["bool", *INTEGERS]
    if base in ("clamp", "lt", "amax", "amin", "aminmax", "argmax"):
        return REALS
    if base == "upsample_nearest1d":
        return [*REAL_FLOATS, "uint8"]
    if base == "div" and "mode" in overload:
        return REALS
    return DTYPES


def odd_dtypes(pool, names):
    """Mostly the domain; sometimes anything, so that refusals are recorded."""
    return DTYPES if pool.chance(0.06) else names


def scalar(pool, base):
    kinds = {"bitwise_and": ("bool", "int"), "clamp": ("int", "float"), "lt": ("bool", "int", "float")}.get(base)
    return pool.scalar(kinds or ("bool", "int", "float", "complex")) if not pool.chance(0.05) else pool.scalar()


def pointwise(pool, base, overload, names, inplace):
    """Values by argument name."""
    allowed = odd_dtypes(pool, domain(base, overload))
    tensors = [n for n, kind in names if kind in ("Tensor", "Tensor?")]
    values = {}
    if base == "where":
        operands = pool.operands(len(tensors), allowed)
        for n, x in zip(tensors, operands):
            values[n] = x
        cond = values["condition"]
        shape = cond.shape if isinstance(cond, torch.Tensor) else []
        values["condition"] = pool.tensor(shape, "bool" if pool.chance(0.85) else pool.rng.choice(["uint8", "float32"]))
    elif base == "copy":
        a, b = pool.operands(2, allowed, full_first=True)
        values = {"self": a, "src": b}
    elif base == "fill":
        values["self"] = pool.tensor(dt=pool.dtype(allowed))
        if "value" in tensors:
            values["value"] = Number(pool.scalar()) if pool.chance(0.3) else pool.tensor([] if pool.chance(0.9) else [1])
    else:
        for n, x in zip(tensors, pool.operands(len(tensors), allowed, full_first=inplace)):
            values[n] = x
    complex_in = any(isinstance(v, torch.Tensor) and v.is_complex() for v in values.values())
    for n, kind in names:
        if n in values:
            if kind == "Tensor?" and pool.chance(0.25):
                values[n] = None
        elif n == "alpha":
            values[n] = 1 if pool.chance(0.4) else pool.scalar(("int", "float") if not complex_in else ("int", "float", "complex"))
            real = all(
                not (v.is_floating_point() or v.is_complex()) if isinstance(v, torch.Tensor) else isinstance(v, Number) and isinstance(v.value, int)
                for k, v in values.items()
                if isinstance(v, (torch.Tensor, Number))
            )
            if real and pool.chance(0.9):
                values[n] = pool.rng.choice([1, 1, 2, -1, 3])
        elif kind.startswith("Scalar"):
            values[n] = None if kind.endswith("?") and pool.chance(0.25) else scalar(pool, base)
        elif n == "rounding_mode":
            values[n] = pool.rng.choice([None, "floor", "trunc", "floor", "trunc"])
    return values


def shaped(pool, base, overload):
    """Values for reductions, views and layout ops over one tensor."""
    names = odd_dtypes(pool, domain(base, overload))
    r, n = pool.rng, None
    t = pool.tensor(pool.shape(3, 5) if base in ("contiguous", "to", "clone") and pool.chance(0.4) else None, pool.dtype(names))
    n = t.dim()
    v = {"self": t}
    sizes = list(t.shape)
    if base in ("any", "sum") and overload.split("_")[0] in ("dim", "dims", "IntList", "out") and (base, overload) != ("sum", "out"):
        if base == "any" and overload in ("dim", "out"):
            v["dim"] = pool.dim(n)
        else:
            v["dim"] = None if pool.chance(0.1) else pool.dims(n)
        v["keepdim"] = pool.chance(0.5)
    elif base in ("amax", "amin") or base == "mean" and overload in ("dim", "out"):
        v["dim"] = pool.dims(n)
        v["keepdim"] = pool.chance(0.5)
    elif base in ("argmax", "aminmax"):
        v["dim"] = None if pool.chance(0.25) else pool.dim(n)
        v["keepdim"] = pool.chance(0.4)
    if base in ("sum", "mean"):
        v["dtype"] = None if pool.chance(0.6) else dtype(pool.dtype())
    if base in ("view", "reshape") and overload != "dtype":
        want, key = list(sizes), "size" if base == "view" else "shape"
        for _ in range(r.randint(0, 3)):
            if len(want) > 1 and pool.chance(0.6):
                i = r.randrange(len(want) - 1)
                want[i : i + 2] = [want[i] * want[i + 1]]
            elif want:
                i = r.randrange(len(want))
                k = r.choice([d for d in range(1, want[i] + 1) if want[i] % d == 0] or [1])
                want[i : i + 1] = [k, want[i] // k]
        if pool.chance(0.1):
            want = r.sample(want, len(want))
        if want and pool.chance(0.3):
            want[r.randrange(len(want))] = r.choice([-1, -1, -1, 5])
        v[key] = want
    if (base, overload) == ("view", "dtype"):
        v["dtype"] = dtype(pool.dtype())
    if base == "permute":
        v["dims"] = pool.dims(n, n)
    if base == "transpose":
        v |= {"dim0": pool.dim(n), "dim1": pool.dim(n)}
    if base == "expand":
        lead = [r.choice([1, 2, 3]) for _ in range(r.choice([0, 0, 1, 2]))]
        v["size"] = lead + [r.choice([2, 3]) if s == 1 else (-1 if pool.chance(0.3) else s) for s in sizes]
        if v["size"] and pool.chance(0.08):
            v["size"][r.randrange(len(v["size"]))] = r.choice([-1, 5, 7])
        v["implicit"] = False
    if base == "squeeze" and overload:
        v["dim"] = pool.dim(n) if overload == "dim" else pool.dims(n)
    if base == "unsqueeze":
        v["dim"] = pool.dim(n + 1)
    if base == "select":
        d = pool.dim(n)
        size = sizes[d] if sizes and -n <= d < n else 1
        v |= {"dim": d, "index": r.randint(-size - 1, size)}
    if base == "slice":
        d = pool.dim(n)
        pick = lambda: None if pool.chance(0.25) else r.choice([-9, -2, -1, 0, 1, 2, 3, 9, 2**63 - 1])  # noqa: E731
        v |= {"dim": d, "start": pick(), "end": pick(), "step": r.choice([1, 1, 1, 2, 3, 0 if pool.chance(0.2) else 2])}
    if base == "narrow":
        d = pool.dim(n)
        size = sizes[d] if sizes and -n <= d < n else 1
        start = r.randint(-size, size) if pool.chance(0.9) else size + 2
        v |= {"dim": d, "start": start, "length": r.randint(0, max(size - start % max(size, 1), 0)) if pool.chance(0.9) else size + 1}
        if overload == "Tensor":
            v["start"] = torch.tensor(start) if pool.chance(0.85) else torch.tensor(float(start))
    if base == "as_strided":
        length = t.untyped_storage().nbytes() // t.element_size()
        shape = pool.shape(0, 4)
        strides = [r.choice([0, 1, 1, 2, 3, 5]) for _ in shape]
        v |= {"size": shape, "stride": strides, "storage_offset": None if pool.chance(0.3) else r.choice([0, 0, 1, 2])}
        need = 1 + sum((s - 1) * x for s, x in zip(shape, strides)) + (v["storage_offset"] or t.storage_offset())
        if need > length and pool.chance(0.85):
            return None
        if pool.chance(0.04):
            v["stride"] = [-1] + strides
    if base in ("contiguous", "clone", "to", "empty_like", "zeros_like", "ones_like", "full_like"):
        formats = [None, None, torch.preserve_format, torch.contiguous_format]
        if n == 4 or pool.chance(0.05):
            formats += [torch.channels_last] * 3
        if n == 5 or pool.chance(0.05):
            formats += [torch.channels_last_3d] * 3
        if base == "contiguous":
            formats = [f for f in formats if f not in (None, torch.preserve_format)]
        v["memory_format"] = r.choice(formats)
    if base == "to":
        v |= {"non_blocking": pool.chance(0.1), "copy": pool.chance(0.4)}
        same = pool.chance(0.3)
        if overload == "other":
            v["other"] = pool.tensor(pool.shape(0, 2), str(t.dtype)[6:] if same else None)
        elif overload == "dtype_layout":
            v["dtype"] = None if same else dtype(pool.dtype())
        else:
            v["dtype"] = t.dtype if same else dtype(pool.dtype())
        if overload == "device":
            v["device"] = torch.device("cpu")
    elif base.endswith("_like"):
        v["dtype"] = None if pool.chance(0.5) else dtype(pool.dtype())
        if base == "full_like":
            v["fill_value"] = pool.scalar()
    return v


def factories(pool, base, overload):
    r = pool.rng
    v = {"dtype": None if pool.chance(0.3) else dtype(pool.dtype())}
    if pool.chance(0.15):
        v["layout"] = torch.strided
    if pool.chance(0.2):
        v["device"] = torch.device("cpu")
    if pool.chance(0.15):
        v["pin_memory"] = False
    shape = pool.shape()
    if pool.chance(0.04) and shape:
        shape[0] = -1
    if base in ("zeros", "ones", "full", "empty", "empty_strided"):
        v["size"] = shape
    if base == "full":
        v["fill_value"] = pool.scalar()
    if base == "scalar_tensor":
        v["s"] = pool.scalar()
    if base == "empty":
        v["memory_format"] = r.choice([None, None, torch.contiguous_format, torch.channels_last if len(shape) == 4 else None, torch.channels_last_3d if len(shape) == 5 else None, torch.channels_last if pool.chance(0.1) else None])  # fmt: skip
    if base == "empty_strided":
        v["stride"] = [r.choice([0, 1, 2, 3, 6, 12]) for _ in shape]
        if pool.chance(0.05):
            v["stride"] = v["stride"] + [1]
    if base == "arange":
        step = r.choice([1, 2, -1, 3, 0.5, -0.25, 0.1, 0 if pool.chance(0.2) else 1])
        start = r.choice([0, 1, -3, 0.5, 2.0])
        count = r.randint(0, 9) if pool.chance(0.9) else r.choice([33, 67])
        end = start + step * count if pool.chance(0.9) else start - step * 2
        if isinstance(end, float) and pool.chance(0.3):
            end = end + 0.01
        v |= {"start": start, "end": end, "step": step}
        if overload in ("", "out_no_start"):
            v["end"] = r.choice([0, 1, 5, 2.5, 7.0, 12, -1 if pool.chance(0.3) else 3])
        if overload in ("start",):
            v["end"] = start + r.randint(-1 if pool.chance(0.2) else 0, 9)
        if v["dtype"] in (torch.bool, torch.complex64, torch.complex128) and pool.chance(0.8):
            v["dtype"] = None
    return v


def upsample(pool, overload):
    shape = [pool.rng.choice([1, 2, 3]), pool.rng.choice([1, 2, 4]), pool.rng.choice([1, 2, 3, 5, 7])]
    if pool.chance(0.06):
        shape = pool.shape(1, 4)
    dt = pool.dtype(odd_dtypes(pool, domain("upsample_nearest1d", "")))
    t = pool.tensor(shape, dt, pool.rng.choice(["plain", "permuted", "stepped", "padded", "expanded"]))
    size = pool.rng.choice([1, 2, 3, 4, 5, 8, 11])
    if overload == "vec":
        if pool.chance(0.5):
            return {"input": t, "output_size": [size], "scale_factors": None}
        return {"input": t, "output_size": None, "scale_factors": [pool.rng.choice([2.0, 0.5, 1.5, 1.0, 2.7])]}
    scale = None if pool.chance(0.6) else pool.rng.choice([2.0, 0.5, 1.5, size / max(shape[-1], 1)])
    return {"self": t, "output_size": [size if not pool.chance(0.04) else 0], "scales": scale}


POINTWISE = {"add", "sub", "mul", "div", "neg", "abs", "exp", "clamp", "eq", "lt", "where", "logical_not", "bitwise_and", "fill", "copy"}  # fmt: skip
FACTORY = {"empty", "empty_strided", "zeros", "ones", "full", "arange", "scalar_tensor"}


def arguments(pool: Pool, base, overload, names, inplace):
    """Argument values by name, without outs."""
    if base in POINTWISE:
        return pointwise(pool, base, overload, names, inplace)
    if base in FACTORY:
        return factories(pool, base, overload)
    if base == "upsample_nearest1d":
        return upsample(pool, overload)
    if base in recipes_factories.BASES:
        return recipes_factories.arguments(pool, base, overload)
    return shaped(pool, base, overload)
