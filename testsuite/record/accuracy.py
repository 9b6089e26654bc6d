"""Records how far PyTorch's reductions and running sums are from the exact ones.

Writes ../../devices/cpu/tests/reduce/accuracy.txt for sums and means, one line per case: `op dtype data n ulps`, the error in
units in the last place of the exact result; and ../tests/facade/accuracy.txt for var, norm, logsumexp, prod and cumsum, whose
lines end with the exact result, as the sum of two float64. Of cumsum the error is the largest of all elements, in units in the
last place of the largest of them. The data are functions of the index (see `element` and `factors`);
devices/cpu/tests/reduce/accuracy.rs and ../tests/facade/accuracy.rs have the same ones. What is exact is computed in 80-bit
floats, whose errors are far below a unit in the last place of float64.
"""

import math
import os

import numpy as np
import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
TO = os.path.join(HERE, "../../devices/cpu/tests/reduce/accuracy.txt")
MEASURES = os.path.join(HERE, "../tests/facade/accuracy.txt")
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


def ulps(got, exact, dtype):
    if math.isinf(got) or math.isnan(got):
        return math.inf
    return abs(got - exact) / unit(exact, dtype)


def factors(data, n):
    """Numbers near 1, whose product neither vanishes nor overflows."""
    if data == "offset":
        return element(data, n) / 1000.5
    if data == "cancelling":
        pairs = 1.0 + 1e-3 * uniform(np.arange(n, dtype=np.uint64) // np.uint64(2))
        return np.where(np.arange(n) % 2 == 0, pairs, 1.0 / pairs)
    return 1.0 + 1e-3 * (element(data, n) - (0.5 if data == "uniform" else 0.0))


def exact(op, x):
    """The result of numbers that are exact, in 80 bits."""
    x = x.astype(np.longdouble)
    if op == "var":
        return np.sum(np.square(x - np.sum(x) / x.size)) / (x.size - 1)
    if op == "norm":
        return np.sqrt(np.sum(np.square(x)))
    if op == "logsumexp":
        return np.max(x) + np.log(np.sum(np.exp(x - np.max(x))))
    return np.exp(np.sum(np.log(x)))


def measures():
    calls = {
        "var": lambda t: torch.var(t),
        "norm": lambda t: torch.linalg.vector_norm(t),
        "logsumexp": lambda t: torch.logsumexp(t, 0),
        "prod": lambda t: torch.prod(t),
    }
    cases = [(dtype, data, 1 << 20) for dtype in ("bfloat16", "float32", "float64") for data in DATA[1:]]
    cases += [("float32", data, 1 << 24) for data in ("uniform", "normal", "offset")]
    for dtype, data, n in cases:
        for op in [*calls, "cumsum"]:
            numbers = factors(data, n) if op == "prod" else element(data, n)
            t = torch.from_numpy(numbers).to(getattr(torch, dtype))
            x = t.double().numpy()
            if op == "cumsum":
                sums = np.cumsum(x.astype(np.longdouble))
                largest, error = np.max(np.abs(sums)), np.max(np.abs(torch.cumsum(t, 0).double().numpy() - sums))
                yield f"{op} {dtype} {data} {n} {float(error) / unit(largest, dtype):.2f} 0 0"
                continue
            want = exact(op, x)
            high = float(want)
            low = float(want - np.longdouble(high))
            got = calls[op](t).double().item()
            yield f"{op} {dtype} {data} {n} {abs((got - high) - low) / unit(high, dtype):.2f} {high!r} {low!r}"


def main():
    with open(MEASURES, "w") as f:
        for line in measures():
            f.write(line + "\n")
            print(line, flush=True)
    lines = []
    for dtype in [*BITS, "complex64"]:
        for data in DATA:
            for op in ("sum", "mean"):
                real = "float32" if dtype == "complex64" else dtype
                n = 1 << 24 if data == "tenth" and not (dtype == "float16" and op == "sum") else 1 << 20
                if dtype == "float16" and op == "sum":
                    n = {"offset": 32, "tenth": 1 << 16}.get(data, 1 << 12)
                x = torch.from_numpy(element(data, n)).to(getattr(torch, real))
                exact = math.fsum(x.double().tolist())
                exact = exact / n if op == "mean" else exact
                t = torch.complex(x, torch.zeros_like(x)) if dtype == "complex64" else x
                result = getattr(torch, op)(t)
                got = (result.real if dtype == "complex64" else result).double().item()
                lines.append(f"{op} {dtype} {data} {n} {ulps(got, exact, real):.2f}")
                print(lines[-1], flush=True)
    with open(TO, "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
