"""Calls that show one thing each, which the random ones seldom meet: elements at which formulas change their ways,
outputs over their inputs.

`edges(name)` gives the argument values of all such calls of an overload. They are recorded as they are, and compared by the
dtypes' tolerances alone: that PyTorch is off by more from float64 is what some of them show.
"""

import torch

BASES = "isclose gelu_backward logit_backward threshold_backward glu_backward".split()
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
NAN, INF = float("nan"), float("inf")


def of(values, dtype):
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def specials(dtype):
    """Where a formula changes its ways."""
    info = torch.finfo(dtype)
    ends = [info.tiny, info.tiny / 4, info.max, -info.max, info.max**0.5 * 2, -(info.max**0.5) * 2]
    return of([NAN, INF, -INF, 0.0, -0.0, *ends, 1, -1, 0.5, 2.5, -3.5], dtype)


def isclose(name):
    bools = torch.tensor([True, False, True, False, True, True]).view(2, 3)
    other = torch.tensor([True, True, False, False, True, False]).view(2, 3)
    near = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
    yield {"self": bools, "other": other, **near}
    yield {"self": bools.t(), "other": other.t(), **near, "rtol": 1.0}
    yield {"self": bools, "other": other[:1], **near, "atol": 2.0}
    yield {"self": bools, "other": other, **near, "equal_nan": True}


def gelu_backward(name):
    for dtype in FLOATS:
        x = specials(dtype)
        largest = torch.full_like(x, torch.finfo(dtype).max)
        for grad in (largest, torch.ones_like(x)):
            yield {"grad_output": grad, "self": x, "approximate": "tanh"}


def logit_backward(name):
    for dtype in FLOATS:
        # Whole vectors, whatever the processor has.
        x = of([0.0, -0.0, 1.0, 0.5, 0.25, -0.5, 2.0, NAN], dtype).repeat(8)
        grad = of([1.0, -1.0], dtype).repeat_interleave(32)
        for eps in (None, 0.0, 0.3):
            yield {"grad_output": grad, "self": x, "eps": eps}


def threshold_backward(name):
    grad, x = of(range(1, 7), torch.float32), of([1, -2, 3, -4, 5, 6], torch.float32)
    if not name.endswith("grad_input"):
        return
    both = of(range(-4, 8), torch.float32)
    yield {"grad_output": grad, "self": x, "threshold": 0, "grad_input": torch.zeros(1).expand(6)}
    yield {"grad_output": both[:6], "self": x, "threshold": 0, "grad_input": both[1:7]}
    yield {"grad_output": grad, "self": both[1:7], "threshold": 0, "grad_input": both[:6]}
    yield {"grad_output": grad, "self": both[:6], "threshold": 0, "grad_input": both[:6]}


def glu_backward(name):
    for dtype in (torch.float16, torch.float32):
        memory = of([((7 * i) % 23 - 11) / 8 for i in range(24)], dtype)
        grad, x = memory[:4].view(2, 2), memory[4:12].view(2, 4)
        if not name.endswith("grad_input"):
            yield {"grad_output": grad, "self": x, "dim": -1}
            yield {"grad_output": grad, "self": x.t(), "dim": 0}
            continue
        # Over the input, over each half of it, over the gradient, over itself.
        for out in (x.view_as(x), memory[5:13].view(2, 4), memory[6:14].view(2, 4), memory[:8].view(2, 4), memory[2:10].view(2, 4)):
            yield {"grad_output": grad, "self": x, "dim": 1, "grad_input": out}
            yield {"grad_output": memory[:4].view(1, 4), "self": x, "dim": 0, "grad_input": out}
        yield {"grad_output": x[:, :2], "self": memory[12:20].view(2, 4), "dim": 1, "grad_input": x.view_as(x)}
        yield {"grad_output": x[:, 2:], "self": memory[12:20].view(2, 4), "dim": 1, "grad_input": x.view_as(x)}
        yield {"grad_output": grad, "self": x, "dim": 1, "grad_input": memory[12:13].expand(2, 4)}


def edges(name):
    """Argument values by name of each such call of an overload."""
    base = name.split(".")[0].rstrip("_")
    if base in ("threshold_backward", "glu_backward"):
        yield from globals()[base](name)
    elif base in BASES and "." not in name:
        yield from globals()[base](name)
