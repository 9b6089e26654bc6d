"""Records golden/promotion.json: type promotion and casting as PyTorch decides them.

    python testsuite/record/promotion.py

`promote_types`, `can_cast` and pairs of `result_type` are asked of the functions of those names. `torch.result_type`
takes two operands only, so triples (and some quadruples) are asked of a TensorIterator that is built over the operands
with promote_inputs_to_common_dtype, through the probe library, which reports its common dtype.
"""

import itertools
import random

import torch
from facts import DTYPES, GOLDEN, dtype, load_probe, name, write

NUMBERS = {"bool": True, "int": 3, "float": 2.5, "complex": 1 + 2j}


def operands():
    """Every kind of operand: `dim:<dtype>` a tensor with dimensions, `zero:<dtype>` a 0-dim tensor, `number:<kind>`."""
    out = {f"dim:{d}": torch.ones(2, dtype=dtype(d)) for d in DTYPES}
    out |= {f"zero:{d}": torch.ones((), dtype=dtype(d)) for d in DTYPES}
    out |= {f"number:{k}": v for k, v in NUMBERS.items()}
    return out


def common_dtype(probe, values):
    """The common dtype TensorIterator computes for these operands."""
    tensors = [v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=torch.float64 if isinstance(v, float) else torch.complex128 if isinstance(v, complex) else None) for v in values]  # fmt: skip
    wrapped = [i for i, v in enumerate(values) if not isinstance(v, torch.Tensor)]
    outputs, geometry = probe.iterate([None], [t.clone() for t in tensors], wrapped, 2 + 4 + 8)
    return name(outputs[0].dtype)


def main():
    probe = load_probe()
    kinds = operands()
    names = list(kinds)
    promote = [[name(torch.promote_types(dtype(a), dtype(b))) for b in DTYPES] for a in DTYPES]
    can_cast = [[torch.can_cast(dtype(a), dtype(b)) for b in DTYPES] for a in DTYPES]
    pairs = [[name(torch.result_type(kinds[a], kinds[b])) for b in names] for a in names]
    rng = random.Random(1)
    singles = [([a], common_dtype(probe, [kinds[a]])) for a in names]
    many = []
    for _ in range(700):
        chosen = rng.choices(names, k=3 if rng.random() < 0.8 else 4)
        many.append((chosen, common_dtype(probe, [kinds[c] for c in chosen])))
    for a, b in itertools.product(names, names):
        # What the two judges have in common must agree, or triples would be asked of the wrong one.
        got, want = common_dtype(probe, [kinds[a], kinds[b]]), pairs[names.index(a)][names.index(b)]
        assert got == want, (a, b, got, want)
    write(
        GOLDEN / "promotion.json",
        {"dtypes": DTYPES, "operands": names},
        {
            "promote_types": promote,
            "can_cast": can_cast,
            "result_type": pairs,
            "common_dtype": [[*o, r] for o, r in singles + many],
        },
    )


if __name__ == "__main__":
    main()
