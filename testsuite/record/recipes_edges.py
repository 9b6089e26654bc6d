"""Calls that show one thing each, which the random ones seldom meet: elements at which formulas change their ways,
outputs over their inputs.

`edges(name)` gives the argument values of all such calls of an overload. They are recorded as they are, and compared by the
dtypes' tolerances alone: that PyTorch is off by more from float64 is what some of them show.
"""

import recipes_fourier
import recipes_layers
import recipes_linalg
import recipes_sequences
import torch

# Overloads with a name that calls are made of; of other operators the one without.
NAMED = (
    "ldexp.Tensor", "repeat_interleave.Tensor", "repeat_interleave.self_Tensor", "var_mean.correction", "nanmedian.dim",
    "index_select.out", "masked_select.out", *recipes_linalg.NAMED,
    *recipes_layers.NAMED, *recipes_sequences.NAMED,
)  # fmt: skip
# Operators whose outputs are given, too.
WITH_OUT = ("threshold_backward", "glu_backward", "_fft_r2c")
BASES = (
    "isclose gelu_backward logit_backward threshold_backward glu_backward var_mean native_layer_norm native_group_norm "
    "upsample_linear1d cdist _cdist_backward col2im replication_pad1d_backward multi_margin_loss_backward ldexp max_pool1d "
    "repeat_interleave kl_div _pdist_forward addmv batch_norm _adaptive_avg_pool2d channel_shuffle pixel_unshuffle diff "
    "nanmedian index_select masked_select nll_loss2d_forward adaptive_avg_pool1d native_batch_norm special_ndtr"
).split() + recipes_fourier.BASES + recipes_linalg.BASES + recipes_layers.BASES
BASES += recipes_sequences.BASES
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


def var_mean(name):
    for dtype in (torch.float32, torch.bfloat16):
        for values in ([INF], [1, INF, 2], [-INF, 3], [1, 2, 4], [INF, -INF, 0], []):
            yield {"self": of(values, dtype), "dim": [0], "correction": 1, "keepdim": False}
    yield {"self": torch.tensor([complex(INF, 1), complex(2, 3), 1j]), "dim": None, "correction": 0, "keepdim": True}


def native_layer_norm(name):
    for values in ([[INF, 1, 2], [1, 2, 4]], [[-INF, -INF, -INF], [NAN, 1, 2]]):
        x = of(values, torch.float64)
        yield {"input": x, "normalized_shape": [3], "weight": None, "bias": None, "eps": 1e-5}
    yield {"input": of([[INF], [1]], torch.float32), "normalized_shape": [1], "weight": None, "bias": None, "eps": 1e-5}


def native_group_norm(name):
    x = of([[[INF, 1], [2, 3], [4, 5], [6, 8]]], torch.float32)
    for groups in (1, 2, 4):
        yield {"input": x, "weight": None, "bias": None, "N": 1, "C": 4, "HxW": 2, "group": groups, "eps": 1e-5}


def upsample_linear1d(name):
    for corners in (False, True):
        for size in (3, 5):
            x = of([[[INF, 1, 2], [3, 4, -INF]]], torch.float32)
            yield {"self": x, "output_size": [size], "align_corners": corners, "scales": None}


def cdist(name):
    x = of([[NAN, -7, 2], [1, NAN, NAN], [3, 4, 5]], torch.float64)
    for p in (INF, 2.0, 1.0):
        yield {"x1": x, "x2": of([[1, 1, 1], [INF, 0, 2]], torch.float64), "p": p, "compute_mode": None}


def _cdist_backward(name):
    a, b = of([[NAN, -7], [3, 4]], torch.float64), of([[1, 1], [5, 0]], torch.float64)
    distances = torch.cdist(a, b, p=INF)
    yield {"grad_output": of([[1, 2], [3, 4]], torch.float64), "x1": a, "x2": b, "p": INF, "cdist": distances}


def complex_infinities(*sizes):
    x = torch.view_as_complex(of(range(1, 1 + 2 * torch.Size(sizes).numel()), torch.float32).view(*sizes, 2))
    x.view(-1)[1] = complex(INF, 1)
    return x


def col2im(name):
    window = {"dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]}
    yield {"self": complex_infinities(1, 4, 4), "output_size": [3, 3], "kernel_size": [2, 2], **window}


def replication_pad1d_backward(name):
    yield {"grad_output": complex_infinities(1, 2, 5), "self": complex_infinities(1, 2, 3), "padding": [1, 1]}


def multi_margin_loss_backward(name):
    x, target = of([[1, 2, 4], [5, 0, 1]], torch.float32), torch.tensor([2, 0])
    for grad in (NAN, INF, 2.0):
        for weight in (None, of([1, 2, -INF], torch.float32)):
            values = {"self": x, "target": target, "p": 1, "margin": 1.0, "weight": weight, "reduction": 1}
            yield {"grad_output": of(grad, torch.float32), **values}


def ldexp(name):
    for dtype in FLOATS:
        for exponent in (torch.tensor([3, -2]), torch.tensor(4, dtype=torch.int8), of([1, 2], torch.float32)):
            yield {"self": of([1.5, -3], dtype), "other": exponent}
        yield {"self": of([1.5, -3], dtype), "other": torch.tensor([True, False])}
    yield {"self": of([1.5, -3], torch.float64), "other": torch.tensor([200, -200])}


def max_pool1d(name):
    window = {"kernel_size": [3], "stride": [], "padding": [0], "dilation": [1], "ceil_mode": False}
    yield {"self": of(range(6), torch.float32).view(1, 3, 2).transpose(1, 2), **window}
    yield {"self": of(range(42), torch.float32).view(3, 7, 2).transpose(1, 2), **window}


def repeat_interleave(name):
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.bool, torch.float32):
        values = {"repeats": torch.tensor([1, 0, 2]).to(dtype), "output_size": None}
        of_slices = {"self": of([5, 6, 7], torch.float32), "dim": 0} if name.endswith("self_Tensor") else {}
        yield values | of_slices


def kl_div(name):
    for own, target in ((torch.int64, torch.float32), (torch.float32, torch.bool), (torch.float32, torch.float32)):
        yield {"self": torch.ones(3, dtype=own), "target": torch.ones(3, dtype=target), "reduction": 1, "log_target": False}


def _pdist_forward(name):
    yield {"self": of(range(12), torch.float32).view(4, 3).t(), "p": 2.0}


def addmv(name):
    for sizes in ([], [1], [3]):
        for rows, columns in ((3, 2), (3, 0), (0, 2)):
            matrix, vector = torch.ones(rows, columns), torch.ones(columns)
            yield {"self": torch.full(sizes, 2.0), "mat": matrix, "vec": vector, "beta": 0.5, "alpha": 1}


def batch_norm(name):
    values = {"running_mean": None, "running_var": None, "training": True, "momentum": 0.1, "eps": 1e-5, "cudnn_enabled": False}
    for weight in (None, torch.zeros(0)):
        yield {"input": torch.zeros(2, 0, 3), "weight": weight, "bias": None, **values}


def _adaptive_avg_pool2d(name):
    for sizes in ((2, 0, 3, 3), (0, 3, 3), (2, 2, 0, 3)):
        yield {"self": torch.zeros(sizes), "output_size": [2, 1]}


def channel_shuffle(name):
    yield {"self": torch.zeros(2, 4, 0), "groups": 2}
    yield {"self": of(range(8), torch.float32).view(1, 4, 2), "groups": 2}


def pixel_unshuffle(name):
    for sizes in ((1, 0, 4, 4), (2, 1, 4, 0), (1, 1, 4, 4)):
        yield {"self": torch.zeros(sizes).transpose(2, 3), "downscale_factor": 2}


def diff(name):
    for dim in (0, 1):
        yield {"self": torch.zeros(0, 3), "n": 1, "dim": dim, "prepend": None, "append": None}
    x = of([[1, 2, 4]], torch.float32)
    for dim, append in ((5, None), (0, x), (5, x), (0, x[0])):
        yield {"self": x, "n": 0, "dim": dim, "prepend": None, "append": append}


def special_ndtr(name):
    for dtype in FLOATS:
        yield {"self": of([NAN, INF, -INF, 0.0, *[i / 8 for i in range(-40, 41)]], dtype)}


def nanmedian(name):
    for rows in ([[NAN] * 5, [1, NAN, 2, NAN, 3]], [[NAN] * 4, [NAN] * 4], [[NAN] * 12]):
        yield {"self": of(rows, torch.float32), "dim": 1, "keepdim": False}


def index_select(name):
    x, index = of([[1, 2, 3], [4, 5, 6]], torch.float32), torch.tensor([0, 1])
    for out in (torch.zeros(1).expand(2), torch.zeros(2, 1).expand(2, 2), torch.zeros(2, 2)):
        yield {"self": x, "dim": 1, "index": index, "out": out}


def masked_select(name):
    for out in (torch.zeros(1).expand(2), torch.zeros(1).expand(3), torch.zeros(2)):
        yield {"self": of([1, 2, 3], torch.float32), "mask": torch.tensor([True, False, True]), "out": out}


def nll_loss2d_forward(name):
    for dtype in (torch.uint8, torch.int64):
        target = torch.tensor([[[0, 1]]]).to(dtype)
        values = {"self": of([[[[1, 2]], [[3, 4]]]], torch.float32), "target": target, "weight": None}
        yield values | {"reduction": 1, "ignore_index": -100}


def adaptive_avg_pool1d(name):
    for sizes in ((2, 3, 0), (0, 2, 3), (2, 0, 3), (2, 0)):
        for size in (1, 2):
            yield {"self": torch.zeros(sizes), "output_size": [size]}


def native_batch_norm(name):
    x = of([[-2, 1], [-4, 2], [0, 5]], torch.float64)
    for weight, bias in (([INF, 1], [-INF, 0]), ([INF, -INF], [0, INF]), ([2, 1], [INF, 0])):
        values = {"weight": of(weight, torch.float64), "bias": of(bias, torch.float64), "running_mean": None}
        yield {"input": x, **values, "running_var": None, "training": True, "momentum": 0.1, "eps": 1e-5}


def edges(name):
    """Argument values by name of each such call of an overload."""
    base = name.split(".")[0].removesuffix("_")
    named = any(overload.startswith(f"{base}.") for overload in NAMED)
    if base in BASES and (name in NAMED if named else base in WITH_OUT or "." not in name):
        recipes = (globals(), vars(recipes_fourier), vars(recipes_linalg), vars(recipes_layers), vars(recipes_sequences))
        yield from next(of[base] for of in recipes if base in of)(name)
