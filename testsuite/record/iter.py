"""Records what PyTorch's TensorIterator makes of operands: result dtype, sizes and strides, or the kind of the error.

    python testsuite/record/iter.py > testsuite/golden/iter.json

Other rows, to be compared once, come from another seed; `MONOMORPH_ITER_ROWS` names their file to the test:

    python testsuite/record/iter.py 20000 7 > rows.json

One row per call: [preset, form, operands, result]. Forms: f (functional), o (out=; the last operand is out), i (in-place).
Operand: [storage, dtype, sizes, strides, offset, bits] with bits "", "c" (conj) or "n" (neg), or a number: ["b"|"i"|"f"|"c"].
Result: [dtype, sizes, strides] of the output after the call, or the kind of the error.
"""

import json
import random
import sys
import warnings

import torch

warnings.simplefilter("ignore")
aten = torch.ops.aten
NAMES = {
    "bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32,
    "int64": torch.int64, "float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32,
    "float64": torch.float64, "complex64": torch.complex64, "complex128": torch.complex128,
}
DTYPES = {v: k for k, v in NAMES.items()}
# preset: inputs, functional, out=, in-place
OPS = {
    "binary": (2, aten.add.Tensor, aten.add.out, aten.add_.Tensor),
    "binary_float": (2, aten.div.Tensor, aten.div.out, aten.div_.Tensor),
    "comparison": (2, aten.eq.Tensor, aten.eq.Tensor_out, aten.eq_.Tensor),
    "ternary": (3, aten.addcmul.default, aten.addcmul.out, aten.addcmul_.default),
    "unary": (1, aten.neg.default, aten.neg.out, aten.neg_.default),
    "unary_float": (1, aten.exp.default, aten.exp.out, aten.exp_.default),
    "unary_force_boolean": (1, aten.isposinf.default, aten.isposinf.out, None),
    "where": (3, aten.where.self, None, None),
}
ERRORS = [
    ("must match the size of tensor b", "broadcast"),
    ("doesn't match the broadcast shape", "output_size"),
    ("can't be cast to the desired output type", "cast"),
    ("more than one element of the written-to tensor", "internal"),
    ("some elements of the input tensor and the written-to tensor", "partial"),
    ("Found dtype", "dtype"),
    ("Bad in-place call", "in_place"),
]
NUMBERS = {"b": True, "i": 3, "f": 2.5, "c": 1 + 2j}
ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1200
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 20260)
rand = random.random


def layout(sizes):
    """Strides of some kind for the sizes, and the extent."""
    n = len(sizes)
    kind = random.choice("cccpppsseerwl")
    order = list(range(n))[::-1]
    if kind in "ps":
        random.shuffle(order)
    if kind == "l" and n == 4:
        order = [1, 3, 2, 0]
    strides, step = [0] * n, 1
    if kind == "s":
        step = random.choice([1, 2])
    for d in order:
        strides[d] = step
        step *= max(sizes[d], 1)
        if kind == "s" and rand() < 0.5:
            step += random.choice([1, step])
    if kind == "e":
        for d in range(n):
            if rand() < 0.5:
                strides[d] = 0
    if kind == "r":
        strides = [random.choice([0, 1, 2, 3, 6, 12]) for _ in range(n)]
    if kind == "w":
        for d in range(n):
            if sizes[d] == 1:
                strides[d] = random.choice([0, 1, 7, 100])
    return strides


def extent(sizes, strides):
    return 0 if 0 in sizes else 1 + sum((s - 1) * t for s, t in zip(sizes, strides))


def shrink(shape):
    """Sizes that broadcast to the shape, mostly."""
    sizes = [1 if rand() < 0.25 else s for s in shape]
    if rand() < 0.2 and sizes:
        sizes = sizes[random.randrange(len(sizes)) :]
    if rand() < 0.04 and sizes:
        sizes[random.randrange(len(sizes))] += 1
    return sizes


def operand(storage, dtype, sizes, offset=0):
    bits = ""
    if dtype.startswith("complex") and rand() < 0.15:
        bits = "c"
    elif dtype[0] in "fi" and rand() < 0.05:
        bits = "n"
    return [storage, dtype, sizes, layout(sizes), offset, bits]


def realise(operands):
    need = {}
    for op in operands:
        if len(op) == 1:
            continue
        storage, dtype, sizes, strides, offset, _ = op
        size = torch.empty(0, dtype=NAMES[dtype]).element_size()
        need[storage] = max(need.get(storage, 16), (extent(sizes, strides) + offset) * size)
    bytes_of = {s: torch.zeros((n + 15) // 16 * 16, dtype=torch.uint8) for s, n in need.items()}
    tensors = []
    for op in operands:
        if len(op) == 1:
            tensors.append(NUMBERS[op[0]])
            continue
        storage, dtype, sizes, strides, offset, bits = op
        t = bytes_of[storage].view(NAMES[dtype]).as_strided(sizes, strides, offset)
        tensors.append(t.conj() if bits == "c" else torch._neg_view(t) if bits == "n" else t)
    return tensors


def call(preset, form, operands):
    _, functional, out, in_place = OPS[preset]
    t = realise(operands)
    try:
        if form == "f":
            r = functional(*t)
        elif form == "o":
            r = out(*t[:-1], out=t[-1])
        else:
            r = in_place(*t)
    except (RuntimeError, IndexError, TypeError) as e:
        return next((kind for text, kind in ERRORS if text in str(e)), None)
    return [DTYPES[r.dtype], list(r.shape), list(r.stride())] if r.dtype in DTYPES else None


def case():
    preset = random.choice(list(OPS))
    inputs, _, out, in_place = OPS[preset]
    form = random.choice("fffffooooii")
    if (form == "o" and out is None) or (form == "i" and in_place is None):
        form = "f"
    ndim = random.choice([0, 1, 2, 2, 3, 3, 4, 4, 4, 5])
    shape = [random.choice([0, 1, 1, 2, 2, 3, 3, 4] if rand() < 0.2 else [1, 2, 3, 4]) for _ in range(ndim)]
    if preset == "where":
        dtype = random.choice(list(NAMES))
    same = random.choice(list(NAMES))
    operands = []
    for k in range(inputs):
        dtype = same if rand() < 0.45 else random.choice(list(NAMES))
        if preset == "where" and k == 0:
            dtype = "bool"
        if preset in ("binary", "binary_float", "comparison") and k == 1 and rand() < 0.12:
            operands.append([random.choice(list(NUMBERS))])
            continue
        storage = k if rand() < 0.93 else 0
        sizes = shape if rand() < 0.55 else shrink(shape)
        operands.append(operand(storage, dtype, list(sizes), random.choice([0, 0, 0, 1])))
        if rand() < 0.3 and k > 0 and len(operands[0]) > 1 and len(operands[0][2]) == len(sizes):
            operands[k][3] = [st if a == b else st for st, a, b in zip(operands[0][3], sizes, operands[0][2])]
    if form == "o":
        sizes = random.choice([shape, shape, shape, [0], [], shrink(shape)])
        dtype = same if rand() < 0.6 else random.choice(list(NAMES))
        if preset == "comparison" and rand() < 0.5:
            dtype = "bool"
        out = operand(9, dtype, list(sizes))
        if rand() < 0.2:
            source = random.choice([o for o in operands if len(o) > 1])
            out[0] = source[0]
            if rand() < 0.5:
                out[3] = list(source[3]) if len(source[3]) == len(out[2]) else out[3]
                out[4] = source[4]
        # A cast into an output that overlaps itself, or with bits, is copied back by copy_, whose errors are its own.
        out[5] = ""
        operands.append(out)
    return preset, form, operands


# Shapes of note: NC11 against channels-last, ambiguous size-1 dims, promoted operands that are not dense.
FIXED = [
    ("binary", "f", [[0, "float32", [2, 3, 1, 1], [3, 1, 3, 3], 0, ""], [1, "float32", [2, 3, 1, 1], [3, 1, 1, 1], 0, ""]]),
    ("binary", "f", [[0, "float32", [2, 3, 4, 5], [60, 1, 15, 3], 0, ""], [1, "float32", [3, 1, 1], [1, 1, 1], 0, ""]]),
    ("binary", "f", [[0, "float32", [2, 3, 4, 5], [60, 1, 15, 3], 0, ""], [1, "float32", [2, 3, 4, 5], [60, 1, 15, 3], 0, ""]]),
    ("binary", "f", [[0, "float32", [3, 4], [1, 3], 0, ""], [1, "float32", [3, 4], [1, 3], 0, ""]]),
    ("binary", "f", [[0, "float32", [3, 4], [1, 3], 0, ""], [1, "float32", [3, 4], [4, 1], 0, ""]]),
    ("binary", "f", [[0, "float32", [3, 3], [3, 1], 0, ""], [1, "float32", [3, 3], [1, 3], 0, ""]]),
    ("binary", "f", [[0, "int32", [3, 4], [0, 1], 0, ""], [1, "float32", [3, 4], [1, 3], 0, ""]]),
    ("binary", "f", [[0, "int32", [3, 4], [1, 6], 0, ""], [1, "float32", [3, 4], [1, 3], 0, ""]]),
    ("binary", "f", [[0, "float32", [2, 5, 3, 2], [60, 1, 20, 10], 0, ""], [1, "int32", [1], [1], 0, ""]]),
    ("binary", "f", [[0, "float32", [2, 0, 3], [1, 2, 0], 0, ""], [1, "float32", [1, 1, 3], [3, 3, 1], 0, ""]]),
    ("binary", "i", [[0, "float32", [3], [1], 0, ""], [1, "float32", [2, 3], [3, 1], 0, ""]]),
    ("binary", "i", [[0, "float32", [3, 3], [3, 1], 0, ""], [0, "float32", [3, 3], [1, 3], 0, ""]]),
    ("binary", "i", [[0, "float32", [3, 3], [0, 1], 0, ""], [1, "float32", [3, 3], [3, 1], 0, ""]]),
    ("binary", "i", [[0, "int32", [3], [1], 0, ""], [1, "float32", [3], [1], 0, ""]]),
    ("binary", "o", [[0, "float32", [6], [1], 0, ""], [0, "float32", [6], [1], 2, ""], [0, "float32", [6], [1], 1, ""]]),
    ("binary", "o", [[0, "float32", [6], [2], 0, ""], [0, "float32", [6], [2], 1, ""], [0, "float32", [6], [2], 1, ""]]),
    ("unary", "o", [[0, "float32", [4], [1], 0, ""], [1, "float64", [4], [1], 0, ""]]),
]


def main():
    rows, seen = [], {}
    for preset, form, operands in FIXED:
        rows.append([preset, form, operands, call(preset, form, operands)])
    while len(rows) < ROWS:
        preset, form, operands = case()
        result = call(preset, form, operands)
        if result is None:
            continue
        key = (preset, form, result if isinstance(result, str) else "ok")
        seen[key] = seen.get(key, 0) + 1
        if isinstance(result, str) and seen[key] > ROWS // 100:
            continue
        rows.append([preset, form, operands, result])
    dump = lambda x: json.dumps(x, separators=(",", ":"))
    print('{"torch":"%s","rows":[' % torch.__version__.split("+")[0])
    print(",\n".join(dump(r) for r in rows))
    print("]}")


main()
