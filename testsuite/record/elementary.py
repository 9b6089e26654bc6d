"""Records elementary functions at 300 bits (gmpy2, which is MPFR) into golden/elementary.txt.

    python testsuite/record/elementary.py

They verify the reference in src/ulp/pair.rs, which is what kernels are measured with. The output depends on the seed only.
"""

import pathlib
import random
import struct

import gmpy2
from gmpy2 import mpfr

gmpy2.get_context().precision = 300
random.seed(5)
lines = []


def bits(x):
    return "%016x" % struct.unpack("Q", struct.pack("d", x))[0]


def add(op, x, function):
    exact = function(mpfr(x))
    head = float(exact)
    lines.append(f"{op} {bits(x)} {bits(head)} {bits(float(exact - mpfr(head)))}\n")


def sigmoid(x):
    return 1 / (1 + gmpy2.exp(-x))


for _ in range(60):
    add("exp", random.uniform(-690, 700), gmpy2.exp)
    add("exp", random.uniform(-1, 1), gmpy2.exp)
    add("log", 2 ** random.uniform(-1000, 1000), gmpy2.log)
    add("log", random.uniform(0.5, 2), gmpy2.log)
    add("tanh", random.uniform(-19, 19), gmpy2.tanh)
    add("tanh", random.uniform(-1, 1) * 2 ** random.uniform(-30, 0), gmpy2.tanh)
    add("sigmoid", random.uniform(-690, 700), sigmoid)
    add("sigmoid", random.uniform(-3, 3), sigmoid)
    add("erf", random.uniform(-5.9, 5.9), gmpy2.erf)
    add("erf", random.uniform(-1, 1) * 2 ** random.uniform(-30, 0), gmpy2.erf)

def erfinv(x):
    y = mpfr(0)
    for _ in range(200):
        step = (gmpy2.erf(y) - x) / (2 / gmpy2.sqrt(gmpy2.const_pi()) * gmpy2.exp(-y * y))
        y -= max(min(step, mpfr(0.5)), mpfr(-0.5))
    return y


def small(high=0):
    return random.uniform(-1, 1) * 2 ** random.uniform(-30, high)


for _ in range(60):
    for name in ["sin", "cos", "tan"]:
        add(name, random.uniform(-10, 10), getattr(gmpy2, name))
        # Every size: the reduction of the kernels is checked by these, as the reference reduces small arguments only.
        add(name, small() * 2 ** random.uniform(0, 1024), getattr(gmpy2, name))
    for name in ["asin", "acos", "atanh"]:
        add(name, random.uniform(-1, 1), getattr(gmpy2, name))
        add(name, small(), getattr(gmpy2, name))
    for name in ["atan", "asinh", "sinh"]:
        add(name, small(), getattr(gmpy2, name))
        add(name, small(9), getattr(gmpy2, name))
    add("cosh", random.uniform(-700, 700), gmpy2.cosh)
    add("cosh", random.uniform(-2, 2), gmpy2.cosh)
    add("acosh", 1 + abs(small(3)), gmpy2.acosh)
    add("acosh", 2 ** random.uniform(1, 1000), gmpy2.acosh)
    add("exp2", random.uniform(-900, 1020), gmpy2.exp2)
    add("exp2", random.uniform(-1, 1), gmpy2.exp2)
    add("expm1", random.uniform(-30, 700), gmpy2.expm1)
    add("expm1", small(), gmpy2.expm1)
    add("log1p", small(), gmpy2.log1p)
    add("log1p", 2 ** random.uniform(-3, 1000), gmpy2.log1p)
    for name in ["log2", "log10"]:
        add(name, random.uniform(0.5, 2), getattr(gmpy2, name))
        add(name, 2 ** random.uniform(-1000, 1000), getattr(gmpy2, name))
    add("erfc", random.uniform(-5.9, 26), gmpy2.erfc)
    add("erfc", random.uniform(-1, 1.5), gmpy2.erfc)
    add("erfinv", random.uniform(-1, 1), erfinv)
    add("erfinv", 1 - abs(small()), erfinv)

head = "# op, argument, nearest float64, what it lacks: bits. Written by record/elementary.py (MPFR, 300 bits).\n"
(pathlib.Path(__file__).parent.parent / "golden/elementary.txt").write_text(head + "".join(lines))
