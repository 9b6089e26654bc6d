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

head = "# op, argument, nearest float64, what it lacks: bits. Written by record/elementary.py (MPFR, 300 bits).\n"
(pathlib.Path(__file__).parent.parent / "golden/elementary.txt").write_text(head + "".join(lines))
