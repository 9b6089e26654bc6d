"""Records how far PyTorch's reductions and running sums are from the exact ones.

Writes ../tests/facade/accuracy.txt, one line per case: `op dtype data n ulps high low`, the error in units in the last place of
the exact result, and that result, as the sum of two float64. Of cumsum the error is the largest of all elements, in units in the
last place of the largest of them. The data are functions of the index (see `element` and `factors`); ../tests/facade/accuracy.rs
has the same ones. What is exact is computed in 80-bit floats, whose errors are far below a unit in the last place of float64, but
for sums, which are exactly rounded.
"""

import math
import os

import numpy as np
import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
TO = os.path.join(HERE, "../tests/facade/accuracy.txt")
BITS = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149), "float64": (53, -1074)}
DATA = ["tenth", "uniform", "normal", "offset", "cancelling"]


def uniform(i):
    """Of an index, a number in [0, 1) of 24 bits."""
    h = i.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (h >> np.uint64(40)).astype(np.float64) / 2.0**24


def element(data, n):
    i = np.arange(n, dtype=np.uint64)
    if data == "tenth":
        return np.full(n, 0.1)
    if data == "uniform":
        return uniform(i)
    if data == "normal":
        four = [uniform(i * np.uint64(4) + np.uint64(k)) for k in range(4)]
        return ((four[0] + four[1]) + (four[2] + four[3]) - 2.0) * 1.75
    if data == "offset":
        return 1e3 + uniform(i)
    sign = np.where(i % 2 == 0, 1.0, -1.0)
    return sign * 1e4 * uniform(i // np.uint64(2)) + 0.01


def unit(exact, dtype):
    """One unit in the last place of a number."""
    bits, least = BITS[dtype]
    return math.ldexp(1.0, max(math.frexp(exact)[1] - bits, least))


def factors(data, n):
    """Numbers near 1, whose product neither vanishes nor overflows."""
    if data == "offset":
        return element(data, n) / 1000.5
    if data == "cancelling":
        pairs = 1.0 + 1e-3 * uniform(np.arange(n, dtype=np.uint64) // np.uint64(2))
        return np.where(np.arange(n) % 2 == 0, pairs, 1.0 / pairs)
    return 1.0 + 1e-3 * (element(data, n) - (0.5 if data == "uniform" else 0.0))


def exact(op, x):
    """The result of numbers that are exact, as the sum of two float64."""
    if op in ("sum", "mean"):
        high = math.fsum(x.tolist())
        low = math.fsum([*x.tolist(), -high])
        return (high, low) if op == "sum" else pair(np.longdouble(high) / x.size + np.longdouble(low) / x.size)
    x = x.astype(np.longdouble)
    if op == "var":
        return pair(np.sum(np.square(x - np.sum(x) / x.size)) / (x.size - 1))
    if op == "norm":
        return pair(np.sqrt(np.sum(np.square(x))))
    if op == "logsumexp":
        return pair(np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))))
    return pair(np.exp(np.sum(np.log(x))))


def pair(number):
    return float(number), float(number - np.longdouble(float(number)))


CALLS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "var": torch.var,
    "norm": torch.linalg.vector_norm,
    "logsumexp": lambda t: torch.logsumexp(t, 0),
    "prod": torch.prod,
    "cumsum": lambda t: torch.cumsum(t, 0),
}


def cases():
    for dtype in [*BITS, "complex64"]:
        for data in DATA:
            n = 1 << 24 if data == "tenth" else 1 << 20
            # In float16, a sum of more would overflow.
            few = {"offset": 32, "tenth": 1 << 16}.get(data, 1 << 12)
            yield "sum", dtype, data, few if dtype == "float16" else n
            yield "mean", dtype, data, n
    for op in ("var", "norm", "logsumexp", "prod", "cumsum"):
        for dtype in ("bfloat16", "float32", "float64"):
            yield from ((op, dtype, data, 1 << 20) for data in DATA[1:])
        yield from ((op, "float32", data, 1 << 24) for data in ("uniform", "normal", "offset"))


def line(op, dtype, data, n):
    real = "float32" if dtype == "complex64" else dtype
    x = torch.from_numpy(factors(data, n) if op == "prod" else element(data, n)).to(getattr(torch, real))
    t = torch.complex(x, torch.zeros_like(x)) if dtype == "complex64" else x
    got = CALLS[op](t)
    got, x = (got.real if dtype == "complex64" else got).double().numpy(), x.double().numpy()
    if op == "cumsum":
        sums = np.cumsum(x.astype(np.longdouble))
        high, low, error = float(np.max(np.abs(sums))), 0.0, float(np.max(np.abs(got - sums)))
    else:
        high, low = exact(op, x)
        error = abs((got.item() - high) - low)
    return f"{op} {dtype} {data} {n} {error / unit(high, real):.2f} {high!r} {low!r}"


def main():
    with open(TO, "w") as f:
        # Those of the same numbers one behind the other, so that a reader makes them once.
        for case in sorted(cases(), key=lambda case: (case[3], case[2], case[0] == "prod")):
            text = line(*case)
            f.write(text + "\n")
            print(text, flush=True)


if __name__ == "__main__":
    main()
