"""Generated arguments for the case recorder: tensors of every dtype and layout, numbers, dims, outs.

`Pool` draws everything from one seeded generator. `hard` raises the odds of the combinations that implementations get
wrong: permuted and expanded operands of different shapes, complex and half dtypes, conjugate bits, up to 7 dims.
"""

import random

import layouts
import torch
from case_file import Number
from facts import DTYPES, dtype, storage_extent

REAL_FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


class Pool:
    """A seeded source of arguments."""

    def __init__(self, seed, hard):
        self.rng, self.hard = random.Random(seed), hard

    def chance(self, p):
        return self.rng.random() < p

    def dtype(self, names=DTYPES):
        """A dtype; float32 is the commonest unless hard."""
        if not self.hard and self.chance(0.25) and "float32" in names:
            return "float32"
        return self.rng.choice(names)

    def shape(self, low=0, high=None, keep=None):
        """Sizes with few enough elements."""
        high = high if high is not None else (self.rng.choice([3, 4, 5, 6, 7]) if self.hard else 4)
        limit = 240 if self.hard else 30
        if keep is None and self.chance(0.04 if self.hard else 0.03):
            return [self.rng.choice([65, 67, 130, 259] if self.hard else [33, 37])] if low <= 1 <= high else [2] * low
        while True:
            out = layouts.sizes(self.rng, low, max(high, low))
            count = 1
            for s in out:
                count *= max(s, 1)
            if count <= limit:
                return out

    def values(self, dt, count):
        """`count` elements; mostly small, sometimes special or extreme."""
        rng = self.rng
        t = dtype(dt)
        special = self.chance(0.15)
        if dt == "bool":
            return torch.tensor([rng.random() < 0.5 for _ in range(count)], dtype=t)
        if dt in INTEGERS:
            info = torch.iinfo(t)
            low, high = (-9, 9) if info.min < 0 else (0, 18)
            edge = [info.min, info.max, info.min + 1, 0, -1 if info.min < 0 else 1]
            return torch.tensor(
                [rng.choice(edge) if special and rng.random() < 0.4 else rng.randint(low, high) for _ in range(count)],
                dtype=t,
            )
        parts = 2 if dt in COMPLEX else 1
        real = {"complex64": "float32", "complex128": "float64"}.get(dt, dt)
        info = torch.finfo(dtype(real))
        edge = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, info.max, info.min, info.tiny, info.eps, -info.tiny / 4]
        fine = self.chance(0.4)

        def one():
            if special and rng.random() < 0.4:
                return rng.choice(edge)
            return rng.gauss(0, 3) if fine else rng.randint(-32, 32) / 8

        flat = torch.tensor([one() for _ in range(count * parts)], dtype=torch.float64).to(dtype(real))
        return torch.view_as_complex(flat.view(-1, 2)) if parts == 2 else flat

    def tensor(self, shape=None, dt=None, kind=None, plain=None):
        """A tensor over a storage of its own."""
        shape = self.shape() if shape is None else list(shape)
        dt = dt or self.dtype()
        if plain is None:
            plain = self.chance(0.2 if self.hard else 0.35)
        if plain and kind is None:
            strides, offset, spare = layouts.strides(self.rng, shape, "plain"), 0, 0
        else:
            strides = layouts.strides(self.rng, shape, kind)
            offset = self.rng.choice([0, 0, 1, 3])
            spare = self.rng.choice([0, 0, 2])
        base = self.values(dt, storage_extent(shape, strides, offset) + spare)
        if base.numel() == 0:
            base = torch.zeros(0, dtype=dtype(dt))
        t = base.as_strided(shape, strides, offset)
        if dt in COMPLEX and self.chance(0.3 if self.hard else 0.2):
            t = t.conj()
        elif dt not in ("bool", "uint8") and self.chance(0.07 if self.hard else 0.03):
            t = torch._neg_view(t)
        return t

    def scalar(self, kinds=("bool", "int", "float", "complex")):
        """A Python number."""
        kind = self.rng.choice(["int", "float", *kinds]) if {"int", "float"} <= set(kinds) else self.rng.choice(kinds)
        if kind == "bool":
            return self.chance(0.5)
        if kind == "int":
            return self.rng.choice([-3, -1, 0, 1, 2, 3, 7])
        if kind == "float":
            return self.rng.choice([-2.5, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0, 1e-3, float("inf"), float("nan")])
        return complex(self.rng.choice([-1.0, 0.0, 1.5]), self.rng.choice([-2.0, 0.5, 1.0]))

    def operands(self, count, names=DTYPES, numbers=True, full_first=False):
        """Tensors that broadcast with each other; now and then a Python number among them, or a shape that clashes."""
        shape = self.shape()
        same = self.chance(0.5)
        # Mixed dtypes for some, one dtype for the rest.
        shared = self.dtype(names) if self.chance(0.6) else None
        out = []
        for i in range(count):
            dt = shared or self.dtype(names)
            if numbers and i and self.chance(0.25):
                kinds = [k for k in ("bool", "int", "float", "complex") if k != "complex" or "complex64" in names]
                out.append(Number(self.scalar(kinds)))
                continue
            if numbers and i and self.chance(0.1):
                out.append(self.tensor([], dt))
                continue
            mine = shape if same or (i == 0 and full_first) else layouts.broadcastable(self.rng, shape)
            if self.chance(0.02):
                mine = mine + [self.rng.choice([2, 3])]
            if out and isinstance(out[0], torch.Tensor) and self.chance(0.05):
                out.append(out[0])
                continue
            out.append(self.tensor(mine, dt))
        return out

    def dim(self, n, wrong=0.05):
        """A dim of an n-dimensional tensor, negative or not; sometimes out of range."""
        if self.chance(wrong):
            return self.rng.choice([n + 1, -n - 2])
        n = max(n, 1)
        return self.rng.randint(-n, n - 1)

    def dims(self, n, low=0):
        """Distinct dims, some negative; sometimes with a repeat or out of range."""
        if n == 0:
            return self.rng.choice([[], [0], [-1]]) if low == 0 else [0]
        out = self.rng.sample(range(n), self.rng.randint(min(low, n), n))
        out = [d - n if self.chance(0.4) else d for d in out]
        if self.chance(0.05):
            out.append(self.dim(n, 0.5) if not out else out[0])
        return out

    def out(self, like_shape, like_dtype, cast=None, overlap_with=None, checked=True, resize=True):
        """An out argument for a result of this shape and dtype: right, elsewhere laid out, empty, of another size or dtype."""
        r = self.rng.random()
        dt = like_dtype
        if cast is None:
            cast = 0.15
        if self.chance(cast):
            dt = self.dtype()
        if r < 0.12:
            return self.tensor([0], dt, plain=True)
        if r < 0.24 and resize:
            return self.tensor(self.shape(), dt, self.rng.choice(["plain", "permuted", "stepped"]))
        if r < 0.32 and overlap_with is not None:
            # Over the storage of an input: the same geometry or shifted by one.
            other = overlap_with
            if not other.is_conj() and not other.is_neg() and list(other.shape) == list(like_shape):
                shift = self.rng.choice([0, 0, 1])
                need = storage_extent(other.shape, other.stride(), other.storage_offset() + shift) * other.element_size()
                if need <= other.untyped_storage().nbytes():
                    return other.as_strided(other.shape, other.stride(), other.storage_offset() + shift)
        kinds = ["plain", "permuted", "permuted", "stepped", "padded", "loose_ones", "channels_last"]
        if r > 0.95 and checked:
            kinds = ["expanded"]
        if "uint" in dt or dt == "bool":
            return self.tensor(like_shape, dt, self.rng.choice(kinds))
        t = self.tensor(like_shape, dt, self.rng.choice(kinds))
        if self.chance(0.9) and (t.is_neg() or t.is_conj()):
            t = torch._neg_view(t) if t.is_neg() else t.conj()
        return t
