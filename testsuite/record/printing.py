"""Records golden/printing.json: the text that PyTorch makes of tensors.

    python testsuite/record/printing.py

Section "text" has one tensor per line, {"text", "dtype", "sizes", "strides"} and, where they are not the default:

"values"     the elements of its storage, as hexadecimal digits of little-endian bytes; "" on the meta device
"repeat"     how often the storage has these values, one after another (1)
"offset"     of the first element in the storage (0)
"conj"       true if the conjugate bit is set, "neg" if the negative bit is
"device"     "meta" (the CPU)
"precision"  of torch.set_printoptions (4)
"full"       true if the threshold is infinite (1000 elements)
"""

import math
import random

import torch
from facts import DTYPES, GOLDEN, dtype, storage_extent, write
from layouts import strides

FLOATS = [d for d in DTYPES if d.startswith(("float", "bfloat"))]
COMPLEX = [d for d in DTYPES if d.startswith("complex")]
INTEGERS = [d for d in DTYPES if "int" in d]
NAN, INF = float("nan"), float("inf")

# Each of these is one rule of the printed form, or the border of one.
EDGES = {
    "ordinary": [1.0, 1 / 3, -2.5, 0.125],
    "positive": [0.5, 0.25, 0.75],
    "integral": [1.0, 2.0, -3.0, 40.0],
    "large integral": [100.0, 2048.0, -999.0],
    "zeroes": [0.0, -0.0, 0.0],
    "zeroes among others": [0.0, -0.0, 1.5],
    "no finite": [NAN, INF, -INF],
    "nan": [NAN, NAN],
    "nan and integral": [NAN, 1.0, 2.0],
    "nan and zero": [NAN, 0.0],
    "all kinds": [NAN, INF, -INF, 1.25, -0.0, 0.0, 3.0],
    "infinities and fractions": [INF, 0.5, -INF],
    "ratio of 1000": [1.0, 1000.0],
    "ratio above 1000": [1.0, 1001.0],
    "ratio of 1000, fractions": [0.5, 500.0],
    "ratio above 1000, fractions": [0.5, 501.0],
    "wide": [1e-3, 1e3, -1.0],
    "wide, all kinds": [1e-3, 1e3, NAN, INF, -INF, 0.0, -0.0],
    "1e8": [1e8],
    "above 1e8": [1.0e8 + 64.0],
    "1e-4": [1e-4],
    "below 1e-4": [9.9e-5],
    "negative small": [-9.9e-5, 0.0],
    "ties": [0.03125, 0.09375, 0.15625, -0.03125],
    "halves": [0.5, 1.5, 2.5, -0.5],
    "round up": [9.99996, 0.99996, -9.99996],
    "round up, scientific": [9.99996e5, 1.0],
    "nearly nothing": [4e-5, 3.0],
    "tiny": [6e-8, 1e-7],
    "three digits of exponent": [1e100, 1.0],
    "three digits of exponent, tiny": [1e-100, -1e-300],
    "three digits of the smaller exponent": [1e-100, 1.0],
    "three digits of the smaller exponent, negative": [-1e-100, -1.0],
    "round up to three digits": [9.99999e99, 1e99],
    "extremes": [1.7976931348623157e308, -5e-324],
    "largest half": [65504.0, -65504.0, 0.1],
}
INTEGRAL = [
    [0], [1], [-1], [0, 10, 100], [-128, 127], [9, -9], [10, -10], [255, 0], [99999, -99999], [2**31 - 1, -(2**31)],
    [2**63 - 1, -(2**63)], [3, 1, 2],
]  # fmt: skip
TRUTHS = [[True], [False], [True, True], [True, False], [False, False, True]]


def contiguous(sizes):
    out, step = [], 1
    for size in reversed(sizes):
        out.insert(0, step)
        step *= max(size, 1)
    return out


def storage_of(dt, values):
    """The values as elements of a dtype; what an integer dtype cannot hold wraps."""
    if dt == "bool" or dt in FLOATS + COMPLEX:
        return torch.tensor(values, dtype=torch.complex128 if dt in COMPLEX else None).to(dtype(dt))
    return torch.tensor(values, dtype=torch.int64).to(dtype(dt))


def fact(dt, values, sizes, stride=None, offset=0, **more):
    """What PyTorch prints of the tensor of this geometry over the values, repeated as often as it needs."""
    stride = contiguous(sizes) if stride is None else stride
    out = {"dtype": dt, "sizes": list(sizes), "strides": list(stride)}
    if more.get("device") == "meta":
        t = torch.empty_strided(sizes, stride, dtype=dtype(dt), device="meta")
    else:
        part = storage_of(dt, values)
        repeat = max(1, -(-storage_extent(sizes, stride, offset) // len(part)))
        t = part.repeat(repeat).as_strided(sizes, stride, offset)
        out["values"] = bytes(part.view(torch.uint8).tolist()).hex()
        out |= {"repeat": repeat} if repeat > 1 else {}
        out |= {"offset": offset} if offset else {}
    if more.get("conj"):
        t = t.conj()
        assert t.is_conj()
    if more.get("neg"):
        t = torch._neg_view(t)
        assert t.is_neg()
    threshold = float("inf") if more.get("full") else 1000
    torch.set_printoptions(precision=more.get("precision", 4), threshold=threshold)
    text = repr(t)
    torch.set_printoptions(profile="default")
    return {"text": text} | out | more


def numbers(rng, dt, count):
    """Random values of one kind, so that one rule holds for them all."""
    if dt == "bool":
        return [rng.random() < 0.7 for _ in range(count)]
    if dt in INTEGERS:
        most = min(torch.iinfo(dtype(dt)).max, 10 ** rng.randint(1, 18))
        least = max(torch.iinfo(dtype(dt)).min, -most if rng.random() < 0.5 else 0)
        return [rng.randint(least, most) for _ in range(count)]
    if dt in COMPLEX:
        return [complex(a, b) for a, b in zip(numbers(rng, "float32", count), numbers(rng, "float32", count))]
    kind = rng.choice(["unit", "normal", "integral", "wide", "small", "mixed", "large"])
    make = {
        "unit": lambda: rng.random(),
        "normal": lambda: rng.gauss(0, 3),
        "integral": lambda: float(rng.randint(-20, 300)),
        "wide": lambda: rng.gauss(0, 1) * 10 ** rng.randint(-3, 4),
        "small": lambda: rng.gauss(0, 1e-5),
        "mixed": lambda: rng.choice([NAN, INF, -INF, 0.0, -0.0, 2.0, rng.gauss(0, 2), rng.gauss(0, 2)]),
        "large": lambda: rng.gauss(0, 1) * 2e4,
    }[kind]
    return [make() for _ in range(count)]


def edges():
    out = []
    for dt in FLOATS:
        for values in EDGES.values():
            out.append(fact(dt, values, [len(values)]))
    for dt in COMPLEX:
        names = list(EDGES)
        for i, name in enumerate(names):
            imag = EDGES[names[(i * 7 + 3) % len(names)]]
            values = [complex(a, imag[k % len(imag)]) for k, a in enumerate(EDGES[name])]
            out.append(fact(dt, values, [len(values)]))
    for dt in INTEGERS:
        out += [fact(dt, values, [len(values)]) for values in INTEGRAL]
    out += [fact("bool", values, [len(values)]) for values in TRUTHS]
    for precision in [0, 1, 2, 3, 6, 9, 17, 40]:
        for name in ["ordinary", "integral", "ties", "halves", "all kinds", "wide", "round up", "1e-4", "zeroes"]:
            out.append(fact("float64", EDGES[name], [len(EDGES[name])], precision=precision))
        out.append(fact("float32", [1 / 3, -2 / 3, 1e-3] * 9, [3, 9], precision=precision))
        out.append(fact("complex64", [1 / 3 - 1j, 2.5 + 7.125j], [2], precision=precision))
        out.append(fact("int32", [1, 2, 3], [3], precision=precision))
    return out


def shapes(rng):
    out = []
    for dt in DTYPES:
        for values in [numbers(rng, dt, 1) for _ in range(3)]:
            out.append(fact(dt, values, []))
        for sizes in [[0], [0, 3], [3, 0], [2, 0, 4]]:
            out.append(fact(dt, numbers(rng, dt, 1), sizes))
        for sizes in [[], [0], [3], [2, 3], [0, 2]]:
            out.append(fact(dt, None, sizes, device="meta"))
        # A suffix on a line of its own, with another behind it or below.
        for size in range(16, 20):
            out.append(fact(dt, None, [1] * size, device="meta"))
        # Rows around the width of a line, and the suffix behind them.
        for size in [5, 9, 13, 24, 70]:
            out.append(fact(dt, numbers(rng, dt, 11), [size]))
        for sizes in [[2, 3], [3, 1], [2, 30], [2, 2, 2], [1, 2, 1, 3], [2, 1, 2, 1, 2]]:
            out.append(fact(dt, numbers(rng, dt, 12), sizes))
        # Cut, and not quite.
        for sizes in [[1001], [7, 200], [200, 6], [7, 1, 150]]:
            out.append(fact(dt, numbers(rng, dt, 13), sizes))
    for size in range(1, 40):
        out.append(fact("int32", [1234567], [size]))
    for dt in ["uint8", "float32"]:
        out.append(fact(dt, numbers(rng, dt, 7), [1000]))
    for sizes in [[1001, 1], [1, 1001], [2, 2, 300], [1001, 2, 2], [2000, 2000], [11, 10, 10], [7, 3, 50]]:
        out.append(fact("float32", numbers(rng, "float32", 17), sizes, [0] * len(sizes)))
        out.append(fact("int64", numbers(rng, "int64", 17), sizes))
    # More than 1000 elements in dimensions of which none is long.
    out.append(fact("uint8", [7, 8, 19], [4, 4, 4, 4, 4]))
    out.append(fact("uint8", [7, 8, 19], [7, 6, 5, 5]))
    # Brackets take the line.
    for sizes in [[1] * 30, [1] * 64 + [2, 3], [1] * 68 + [2, 5], [1] * 128, [2, *[1] * 90, 2]]:
        out.append(fact("float32", [1.5, 2.0], sizes))
        out.append(fact("bool", [True, False], sizes))
    for sizes in [[1001], [3, 400], [12, 12, 8]]:
        out.append(fact("int16", numbers(rng, "int16", 7), sizes, full=True))
    out.append(fact("float32", numbers(rng, "float32", 7), [2, 501], full=True, precision=1))
    return out


def layouts(rng, count):
    out = []
    while len(out) < count:
        dt = rng.choice(DTYPES)
        sizes = [rng.choice([1, 2, 3, 4, 7, 9]) for _ in range(rng.randint(0, 4))]
        if math.prod(sizes) > 150:
            continue
        stride = strides(rng, sizes)
        more = {}
        if rng.random() < 0.3:
            more["precision"] = rng.choice([1, 2, 3, 5, 8])
        if dt in COMPLEX and rng.random() < 0.5:
            more["conj"] = True
        if (dt in FLOATS + COMPLEX) and rng.random() < 0.4:
            more["neg"] = True
        values = numbers(rng, dt, rng.randint(1, 24))
        if dt in COMPLEX and "neg" in more:
            # The sign of a zero depends on the layout: PyTorch's vectorised negative is 0 - x, the other one -x.
            values = [complex(z.real or 1.0, z.imag or 1.0) for z in values]
        out.append(fact(dt, values, sizes, stride, rng.choice([0, 0, 1, 5]), **more))
    # Negatives wrap as integers of their width do.
    for dt in INTEGERS:
        out.append(fact(dt, [torch.iinfo(dtype(dt)).min, 1, torch.iinfo(dtype(dt)).max], [3], neg=True))
    return out


def main():
    rng = random.Random(215)
    write(GOLDEN / "printing.json", {}, {"text": edges() + shapes(rng) + layouts(rng, 250)})


if __name__ == "__main__":
    main()
