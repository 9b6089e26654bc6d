"""Generated layouts: the shapes and strides the recording scripts ask PyTorch about."""

import torch
from facts import storage_extent

SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5]


def sizes(rng, low=0, high=5, choices=SIZES):
    """Random sizes; zero-element ones stay rare."""
    out = [rng.choice(choices) for _ in range(rng.randint(low, high))]
    return [s or rng.choice([0, 2, 3]) for s in out]


def strides(rng, shape, kind=None):
    """Strides for a shape: one of the ways in which tensors come to be."""
    n = len(shape)
    kind = kind or rng.choice(
        ["plain", "permuted", "permuted", "stepped", "padded", "expanded", "permuted_expanded", "loose_ones", "free",
         "channels_last"]
    )  # fmt: skip
    if kind == "channels_last" and n not in (4, 5):
        kind = "permuted"
    order = list(range(n))
    if kind == "channels_last":
        order = [0, *range(2, n), 1]
    elif "permuted" in kind or (kind in ("padded", "loose_ones") and rng.random() < 0.5):
        rng.shuffle(order)
    out = [0] * n
    step = rng.choice([1, 2, 3]) if kind == "stepped" else 1
    for d in reversed(order):
        out[d] = step
        step *= max(shape[d], 1)
        if kind in ("padded", "stepped") and rng.random() < 0.4:
            step += rng.randint(1, 3)
    if "expanded" in kind:
        for d in range(n):
            if rng.random() < 0.4:
                out[d] = 0
    if kind == "loose_ones":
        out = [rng.choice([0, 1, 2, 7, 99]) if s == 1 else t for s, t in zip(shape, out)]
    if kind == "free":
        out = [rng.choice([0, 1, 1, 2, 3, 4, 6, 12]) for _ in shape]
    return out


def tensor(shape, stride, offset=0, dtype=torch.float32, spare=0):
    """A tensor of this geometry over a storage of its own, zero filled."""
    base = torch.zeros(storage_extent(shape, stride, offset) + spare, dtype=dtype)
    return base.as_strided(shape, stride, offset)


def broadcastable(rng, shape):
    """A shape that broadcasts to `shape`: leading dims dropped, some sizes 1."""
    out = [1 if rng.random() < 0.25 else s for s in shape]
    return out[rng.choice([0, 0, 0, rng.randint(0, len(out))]) :]
