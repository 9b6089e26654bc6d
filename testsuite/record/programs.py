"""Exports small programs and records what PyTorch computes with them: testsuite/golden/programs.

    python testsuite/record/programs.py

For each program NAME.pt2 (as exported), for some NAME.core.pt2 (decomposed), NAME.json and NAME.safetensors, in the
format that `cargo xtask programs` reads. Some archives are deflated, which keeps them small and tests that they are
read; the others are as torch.export.save wrote them.
"""

import json
import pathlib
import zipfile

import torch
from safetensors.torch import save_file
from torch.export import Dim, export, save
from torch.utils import _pytree as pytree

OUT = pathlib.Path(__file__).parent.parent / "golden" / "programs"


class Tied(torch.nn.Module):
    """Tied, sliced and empty weights; a buffer that is no part of the state; keyword inputs, nested outputs."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(7, 6)
        self.out = torch.nn.Linear(6, 7, bias=False)
        self.out.weight = self.embed.weight
        self.register_parameter("slice", torch.nn.Parameter(torch.randn(4, 12)[:, 1:7:2].t()))
        self.register_parameter("none", torch.nn.Parameter(torch.empty(0, 6)))
        self.register_buffer("mask", torch.ones(3, dtype=torch.bool).logical_not(), persistent=False)

    def forward(self, ids, *, scale):
        x = self.embed(ids) * scale
        y = torch.cat([x, self.none]) @ torch.ones(6, 3)
        y = y.masked_fill(self.mask, -1.0) @ self.slice
        return {"logits": self.out(x), "rest": [y.softmax(-1), (y.argmax(-1), x.chunk(2, 1)[1])]}


class Counter(torch.nn.Module):
    """Buffers that runs write, through views too, and an input that it changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("table", torch.zeros(3, 4))
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x, y):
        self.calls.add_(1)
        self.table[1].copy_(x.mean(0))
        self.table.t()[2].mul_(2.0)
        y.add_(x)
        return self.norm(x), self.table.sum(1) + self.calls, y.mul(2).relu_()


class Dynamic(torch.nn.Module):
    """Sizes that stay open, arithmetic with them, a choice by one, an int input."""

    def forward(self, x, n):
        rows = x.shape[0]
        y = x.reshape(rows // 2, 2 * x.shape[1])
        z = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() - 1, (x,))
        w = torch.cond(x.shape[0] > 4, lambda x: x.cumsum(0), lambda x: x * 2, (x,))
        return y.sum(1), z + torch.full((rows, x.shape[1]), 0.5), w, rows * 3 + n


class Loop(torch.nn.Module):
    """A loop that depends on data."""

    def forward(self, i, x):
        def go_on(i, x):
            return i < 5

        def step(i, x):
            return i + 1, x * 1.5 + i

        return torch._higher_order_ops.while_loop(go_on, step, (i, x))


class Rows(torch.nn.Module):
    """A scan that carries two values and gives two for each row, and a map with an operand that is no row."""

    def forward(self, start, xs, scale):
        from torch._higher_order_ops.map import map as map_rows
        from torch._higher_order_ops.scan import scan

        def step(carried, x):
            total, count = carried
            total = total * 0.5 + x
            return [total, count + 1], [total.sin(), x * count]

        (total, count), (waves, counted) = scan(step, [start, torch.zeros(2)], xs, dim=0)
        return total, count, waves, counted, map_rows(lambda x, scale: (x * scale).cumsum(0), xs, scale)


class Checked(torch.nn.Module):
    """A number from data, which is asserted to be in its range."""

    def forward(self, x, n):
        rows = n.item()
        torch._check(rows >= 1)
        torch._check(rows <= x.shape[0])
        return x[:rows], x.nonzero()


class Asserted(torch.nn.Module):
    """An assertion about elements of a tensor, whose sizes say nothing of it."""

    def forward(self, x):
        torch._assert_async(x.min() > 0, "elements are positive")
        return x.log() + 1


class Scopes(torch.nn.Module):
    """Autocast and no_grad."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        with torch.no_grad():
            self.seen.add_(x.sum(0))
        with torch.autocast("cpu", torch.bfloat16):
            y = self.linear(x).relu()
            z = torch.nn.functional.mse_loss(y, torch.cat([y[:1], x[1:]]))
        return y, z, self.linear(x)


class Masked(torch.nn.Module):
    """Attention under a mask that is moved to a device and converted, its result also an output."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 8)
        self.qkv = torch.nn.Linear(8, 24)
        self.out = torch.nn.Linear(8, 4)

    def forward(self, ids, mask):
        mask = mask.to(device="cpu", dtype=torch.bool)[:, None, None]
        q, k, v = self.qkv(self.embed(ids)).view(2, 3, 3, 2, 4).permute(2, 0, 3, 1, 4)
        seen = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return seen, self.out(seen.transpose(1, 2).flatten(2)).relu()


class Norms(torch.nn.Module):
    """Batch norms: of convolutions, of one whose result is used twice, of a transposed one, of no convolution."""

    def __init__(self):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.first, self.first_norm = conv(3, 6, 3, padding=1), norm(6)
        self.second, self.second_norm = conv(6, 8, 1, groups=2, bias=False), norm(8, affine=False)
        self.line, self.line_norm = torch.nn.Conv1d(8, 4, 3, padding="same"), torch.nn.BatchNorm1d(4)
        self.third, self.third_norm = conv(8, 8, 3), norm(8)
        self.back, self.back_norm = torch.nn.ConvTranspose2d(8, 8, 2), norm(8)
        for module in self.modules():
            if isinstance(module, (norm, torch.nn.BatchNorm1d)):
                module.running_mean = torch.randn(module.num_features)
                module.running_var = torch.rand(module.num_features) + 0.5
                if module.affine:
                    torch.nn.init.uniform_(module.weight, -2, 2)
                    torch.nn.init.normal_(module.bias)

    def forward(self, x):
        x = self.second_norm(self.second(self.first_norm(self.first(x)).relu_()))
        y = self.third(x)
        z = self.back_norm(self.back(self.third_norm(y) * y))
        return z, self.line_norm(self.line(x.flatten(2))), self.back_norm(z)


class Quantized(torch.nn.Module):
    """Integers that stand for floats: one scale for a tensor, one for each channel, and one that is found in each run."""

    def __init__(self):
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # Defines the operators.

        weight = torch.randn(6, 8)
        self.register_buffer("scales", weight.abs().amax(1) / 127)
        self.register_buffer("zeros", torch.zeros(6, dtype=torch.int64))
        quantize = torch.ops.quantized_decomposed.quantize_per_channel
        self.register_buffer("weight", quantize(weight, self.scales, self.zeros, 0, -127, 127, torch.int8))

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        weight = q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
        codes = q.quantize_per_tensor(x, 0.03, 5, 0, 255, torch.uint8)
        y = torch.nn.functional.linear(q.dequantize_per_tensor(codes, 0.03, 5, 0, 255, torch.uint8), weight)
        scale, zero = q.choose_qparams.tensor(y, -128, 127, 1e-5, torch.int8)
        narrow = q.quantize_per_tensor.tensor(y, scale, zero, -128, 127, torch.int8)
        half = q.dequantize_per_tensor.tensor(narrow, scale, zero, -128, 127, torch.int8, out_dtype=torch.float16)
        even, middle = q.choose_qparams_symmetric.tensor(y.t(), 0, 255, 1e-5, torch.uint8)
        low, high = torch.tensor(0), torch.tensor(255)
        between = q.quantize_per_tensor.tensor2(y.t(), even, middle, low, high, torch.uint8)
        back = q.dequantize_per_tensor.tensor2(between, even, middle, low, high, torch.uint8)
        columns = q.quantize_per_channel(y.t(), self.scales, self.zeros + 2, 0, -100, 100, torch.int16)
        product = torch._int_mm(narrow, self.weight)
        return codes, y, scale, zero, narrow, half, even, middle, between, back, columns, product


class Tokens(torch.nn.Module):
    """Weights with a scale for each group of elements, times tokens with a scale each that is found in each run."""

    def __init__(self):
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # Defines the operators.

        weight = torch.randn(6, 8)
        self.register_buffer("scales", weight.view(6, 2, 4).abs().amax(2) / 7)
        self.register_buffer("zeros", torch.tensor([[1, 0]] * 6))
        quantize = torch.ops.quantized_decomposed.quantize_per_channel_group
        self.register_buffer("weight", quantize(weight, self.scales, self.zeros, -8, 7, torch.int8, 4))

    def forward(self, x):
        q = torch.ops.quantized_decomposed
        scales, zeros = q.choose_qparams_per_token_asymmetric(x, torch.int8)
        codes = q.quantize_per_token(x, scales, zeros, -128, 127, torch.int8)
        tokens = q.dequantize_per_token(codes, scales, zeros, -128, 127, torch.int8, torch.float32)
        weight = q.dequantize_per_channel_group(self.weight, self.scales, self.zeros, -8, 7, torch.int8, 4, torch.float32)
        y = torch.nn.functional.linear(tokens, weight)
        narrow = q.quantize_per_token(y.half(), scales.float(), zeros, -100, 100, torch.int16)
        whole = q.dequantize_per_channel_group(self.weight, self.scales[:, :1], None, -8, 7, torch.int8, 32, torch.float16)
        return codes, scales, zeros, tokens, y, narrow, whole


class Rounded(torch.nn.Module):
    """Floats at the steps of a quantized dtype."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scales", torch.tensor([0.1, 0.25, 1.5, 0.07]))
        self.register_buffer("zeros", torch.tensor([3, 0, -5, 7], dtype=torch.int32))

    def forward(self, x, grad):
        f = torch.ops.aten
        one = f.fake_quantize_per_tensor_affine_cachemask(x, 0.1, 3, -128, 127)
        given = f.fake_quantize_per_tensor_affine.tensor_qparams(x.double(), self.scales[:1], self.zeros[:1], -10, 10)
        channels = f.fake_quantize_per_channel_affine_cachemask(x, self.scales, self.zeros, 1, -100, 100)
        floats = f.fake_quantize_per_channel_affine(x.half(), self.scales, self.zeros * 0.75, 1, -100, 100)
        return one, given, channels, floats, f.fake_quantize_per_tensor_affine_cachemask_backward(grad, one[1])


class Chain(torch.nn.Module):
    """Pointwise operators that follow each other, of tensors of any size."""

    def forward(self, x, y):
        a = (x * 1.5 + y).relu()
        b = a * torch.sigmoid(x) - y.tanh()
        c = torch.where(b > 0, a, b / 2).add_(x)
        return c.abs().sqrt() * b, c.sum()


class Filtered(torch.nn.Module):
    """A convolution of 3 x 3 windows with channels and pixels enough for Winograd's filtering."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(32, 32, 3, padding=1)
        # Few different numbers, which are deflated well.
        self.conv.weight.data.mul_(64).round_().div_(64)

    def forward(self, x):
        return self.conv(x)


def flat(values):
    return pytree.tree_leaves(values)


def record(name, module, sets, refused=(), dynamic=None, seq=False, core=False, train=False, deflate=True):
    module = module.train(train)
    first_args, first_kwargs = sets[0]
    state = {key: value.clone() for key, value in module.state_dict().items()}
    program = export(module, first_args, first_kwargs, dynamic_shapes=dynamic, strict=False)
    archives = [f"{name}.pt2"]
    save(program, OUT / archives[0])
    if core:
        archives.append(f"{name}.core.pt2")
        save(program.run_decompositions(), OUT / archives[1])
    if deflate:
        for archive in archives:
            shrink(OUT / archive)
    tensors, inputs, outputs, tolerance = {}, {}, {}, {}

    def note(entry, value, numbers):
        if isinstance(value, torch.Tensor):
            tensors[entry] = value.detach().clone().contiguous()
        elif value is not None:
            numbers[entry] = value

    for number, (args, kwargs) in enumerate(sets, 1):
        suffix = "" if number == 1 else str(number)
        if not seq or number == 1:
            module.load_state_dict(state)
        before = {key: value.clone() for key, value in module.state_dict().items()}
        values = pytree.tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, (args, kwargs))
        leaves = flat(values)
        for index, value in enumerate(leaves):
            note(f"in{suffix}.{index}", value, inputs)
        given = [value.clone() if isinstance(value, torch.Tensor) else value for value in leaves]
        results = flat(module(*values[0], **values[1]))
        for index, value in enumerate(results):
            note(f"out{suffix}.{index}", value, outputs)
            if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
                bound = 1e-2 if value.dtype == torch.bfloat16 else 1e-5
                scale = float(value.detach().abs().float().max()) if value.numel() else 0.0
                old = tolerance.get(f"out.{index}", {"atol": 0.0})["atol"]
                tolerance[f"out.{index}"] = {"rtol": bound, "atol": max(old, bound * scale)}
        for index, (old, new) in enumerate(zip(given, leaves)):
            if isinstance(old, torch.Tensor) and not torch.equal(old, new):
                note(f"mut{suffix}.{index}", new, outputs)
                tolerance[f"mut.{index}"] = {"rtol": 1e-5, "atol": 1e-5}
        for key, value in module.state_dict().items():
            if not torch.equal(before[key], value):
                note(f"state{suffix}.{key}", value, outputs)
                tolerance[f"state.{key}"] = {"rtol": 1e-5, "atol": 1e-5}
    errors = []
    for number, (args, kwargs, why) in enumerate(refused, 1):
        for index, value in enumerate(flat((args, kwargs))):
            note(f"err{number}.{index}", value, inputs)
        errors.append({"inputs": f"err{number}", "why": why})
    save_file(tensors, OUT / f"{name}.safetensors")
    text = {
        "name": name,
        "description": module.__doc__,
        "torch": torch.__version__.split("+")[0],
        "sets": len(sets),
        "seq": seq,
        "train": train,
        "non_tensor_inputs": inputs,
        "non_tensor_outputs": outputs,
        "expects_error": errors,
        "tolerance": tolerance,
    }
    (OUT / f"{name}.json").write_text(json.dumps(text, indent=1) + "\n")


def shrink(path):
    """Writes an archive again, deflated, without example inputs and stack traces."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            if "sample_inputs" in name:
                continue
            if name.endswith("models/model.json"):
                model = json.loads(data)
                forget(model)
                data = json.dumps(model).encode()
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def forget(value):
    if isinstance(value, dict):
        for key in ("stack_trace", "from_node", "torch_fn"):
            value.pop(key, None)
        for inner in value.values():
            forget(inner)
    elif isinstance(value, list):
        for inner in value:
            forget(inner)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    OUT.mkdir(exist_ok=True)
    ids = torch.tensor([0, 6, 3])
    record(
        "tied",
        Tied(),
        [((ids,), {"scale": torch.tensor(0.5)}), ((ids.flip(0),), {"scale": torch.tensor(-2.0)})],
        refused=[
            ((ids + 4,), {"scale": torch.tensor(0.5)}, "an index outside of the table"),
            ((ids[:2],), {"scale": torch.tensor(0.5)}, "another size"),
            ((ids,), {"scale": torch.tensor([0.5])}, "another number of dimensions"),
            ((ids.float(),), {"scale": torch.tensor(0.5)}, "another dtype"),
        ],
        deflate=False,
    )
    pair = lambda: ((torch.randn(5, 4), torch.randn(5, 4)), {})
    record("counter", Counter(), [pair(), pair(), pair()], seq=True, core=True, train=True)
    rows, columns = Dim("rows", min=2, max=20), Dim("columns", min=3, max=9)
    record(
        "dynamic",
        Dynamic(),
        [((torch.randn(6, 4), 5), {}), ((-torch.rand(2, 3), 7), {}), ((torch.rand(20, 9), 2), {})],
        refused=[
            ((torch.randn(22, 4), 5), {}, "rows above their range"),
            ((torch.randn(6, 10), 5), {}, "columns above their range"),
            ((torch.randn(7, 4), 5), {}, "rows that are not even"),
            ((torch.randn(6), 5), {}, "another number of dimensions"),
        ],
        dynamic=({0: 2 * Dim("half", min=1, max=10), 1: columns}, Dim.DYNAMIC),
    )
    record("loop", Loop(), [((torch.tensor(0), torch.ones(3)), {}), ((torch.tensor(5), torch.ones(3)), {})])
    record(
        "checked",
        Checked(),
        [((torch.eye(4), torch.tensor(2)), {}), ((torch.ones(4, 4), torch.tensor(4)), {})],
        refused=[
            ((torch.eye(4), torch.tensor(5)), {}, "more rows than there are"),
            ((torch.eye(4), torch.tensor(0)), {}, "no rows"),
        ],
    )
    record("scopes", Scopes(), [((torch.randn(3, 4),), {}), ((torch.randn(3, 4),), {})], seq=True)
    rows = lambda: ((torch.randn(2), torch.randn(4, 2), torch.tensor(1.5)), {})
    negative = torch.tensor([1.0, -1.0, 2.0])
    record("asserted", Asserted(), [((torch.rand(3) + 1,), {})], refused=[((negative,), {}, "a negative element")])
    record("rows", Rows(), [rows(), rows()], core=True)
    torch.manual_seed(1)
    words = lambda: ((torch.randint(5, (2, 3)), torch.tensor([[1, 1, 0], [1, 1, 1]])), {})
    record("masked", Masked(), [words(), words()])
    record("norms", Norms(), [((torch.randn(2, 3, 5, 6),), {}), ((torch.randn(2, 3, 5, 6),), {})], core=True)
    record("quantized", Quantized(), [((torch.randn(3, 8),), {}), ((torch.randn(3, 8) * 9,), {})])
    edges = torch.tensor([0.25, float("inf"), -float("inf"), float("nan"), 1e30, -1e30, 0.0, 12.75]).repeat(2, 1).t()
    floats = lambda: torch.randn(8, 4) * 9
    edged = torch.cat([edges, edges.flip(0)], 1)
    pair = lambda n: ((torch.randn(n), torch.randn(n)), {})
    sizes = {0: Dim("n", min=2, max=1 << 17)}
    record("chain", Chain(), [pair(6), pair(11)], dynamic=(sizes, sizes))
    record("rounded", Rounded(), [((floats(), floats()), {}), ((edged, floats()), {})], core=True)
    record("filtered", Filtered(), [((torch.randn(1, 32, 12, 14),), {})])
    torch.manual_seed(5)
    record("tokens", Tokens(), [((torch.randn(2, 3, 8),), {}), ((torch.randn(2, 3, 8).abs() * 9,), {})])


if __name__ == "__main__":
    main()
