"""Records how far PyTorch's sums and means are from the exact ones.

Writes ../../devices/cpu/tests/reduce/accuracy.txt, one line per case: `op dtype data n ulps`, the error in units in the last
place of the exact result. The data are functions of the index (see `element`); devices/cpu/tests/reduce/accuracy.rs has the
same ones.
"""

import math
import os

import numpy as np
import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
TO = os.path.join(HERE, "../../devices/cpu/tests/reduce/accuracy.txt")
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


def ulps(got, exact, dtype):
    bits, least = BITS[dtype]
    if math.isinf(got) or math.isnan(got):
        return math.inf
    ulp = math.ldexp(1.0, max(math.frexp(exact)[1] - bits, least))
    return abs(got - exact) / ulp


def main():
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
