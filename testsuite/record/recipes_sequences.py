"""Calls of packed sequences and of recurrent layers over them, of convolutions by their other names, and of attention written
out; as in recipes_edges.py."""

import torch
from recipes_layers import drawn

NAMED = (
    "lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data", "thnn_conv2d", "thnn_conv2d.out", "_convolution", "_convolution.deprecated",
    "slow_conv3d_forward", "slow_conv3d_forward.output",
)  # fmt: skip
BASES = (
    "_pack_padded_sequence _pack_padded_sequence_backward _pad_packed_sequence lstm gru rnn_tanh rnn_relu _convolution "
    "_convolution_mode thnn_conv2d slow_conv3d_forward slow_conv_dilated3d _scaled_dot_product_attention_math "
    "_masked_softmax_backward"
).split()


def _pack_padded_sequence(name):
    for lengths, first, sizes in (
        ([3, 2, 2, 1], False, (3, 4, 2)), ([4, 2, 1], True, (3, 4, 2)), ([5, 2, 1], True, (3, 4)), ([2, 2], False, (2, 2, 2, 3)),
        ([1, 2, 1], True, (3, 4, 2)), ([2, 1, 0], True, (3, 4, 2)), ([2, 1], True, (3, 4, 2)), ([1, 1], False, (0, 2, 2)),
    ):  # fmt: skip
        for dtype in (torch.float32, torch.bfloat16, torch.int64):
            yield {"input": drawn(*sizes, dtype=dtype), "lengths": torch.tensor(lengths), "batch_first": first}
    yield {"input": drawn(3, 4, 2), "lengths": torch.tensor([3, 2, 1], dtype=torch.int32), "batch_first": True}
    yield {"input": drawn(3, 4, 2), "lengths": torch.tensor([[3, 2, 1]]), "batch_first": True}


def _pad_packed_sequence(name):
    for sizes, data in (([4, 3, 1], (8, 2)), ([4, 3], (8,)), ([2, 2, 2], (6, 2, 3)), ([4, 3, 2], (8, 2)), ([3, 4, 1], (8, 2)), ([], (8, 2))):
        for first, value, length in ((False, 0.5, -1), (True, -1, 5), (True, 2, 2), (False, float("inf"), 0)):
            values = {"data": drawn(*data), "batch_sizes": torch.tensor(sizes, dtype=torch.int64), "batch_first": first}
            yield values | {"padding_value": value, "total_length": length}


def _pack_padded_sequence_backward(name):
    for first, sizes in ((False, [3, 4, 2]), (True, [4, 3, 2]), (False, [5, 4, 2])):
        yield {"grad": drawn(8, 2), "input_size": sizes, "batch_sizes": torch.tensor([4, 3, 1]), "batch_first": first}


def layers(name, gates, states):
    sizes, inputs, width = [3, 3, 2, 1], 3, 4
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for depth, both, biases, projected in ((1, False, True, 0), (2, True, True, 0), (1, True, False, 0), (2, False, True, 2)):
            if projected and states == 1:
                continue
            out, directions, params = projected or width, 2 if both else 1, []
            for layer in range(depth):
                for _ in range(directions):
                    columns = inputs if layer == 0 else out * directions
                    params += [drawn(gates * width, columns, dtype=dtype), drawn(gates * width, out, dtype=dtype) / 2]
                    params += [drawn(gates * width, dtype=dtype), -drawn(gates * width, dtype=dtype)] if biases else []
                    params += [drawn(projected, width, dtype=dtype)] if projected else []
            hx = [drawn(depth * directions, 3, n, dtype=dtype) for n in (out, width)[:states]]
            yield {
                "data": drawn(sum(sizes), inputs, dtype=dtype), "batch_sizes": torch.tensor(sizes), "hx": hx if states == 2 else hx[0],
                "params": params, "has_biases": biases, "num_layers": depth, "dropout": 0.0, "train": False, "bidirectional": both,
            }  # fmt: skip


def lstm(name):
    yield from layers(name, 4, 2)


def gru(name):
    yield from layers(name, 3, 1)


def rnn_tanh(name):
    yield from layers(name, 1, 1)


rnn_relu = rnn_tanh


def _convolution(name):
    hints = {"benchmark": False, "deterministic": False, "cudnn_enabled": True}
    hints |= {} if "deprecated" in name else {"allow_tf32": True}
    for x, w, groups, transposed in (
        (drawn(2, 4, 5, 6), drawn(6, 2, 3, 3), 2, False), (drawn(2, 4, 5, 6), drawn(4, 2, 3, 3), 2, True), (drawn(1, 2, 7), drawn(3, 2, 3), 1, False),
        (drawn(2, 3, 4, 4, 4), drawn(2, 3, 2, 2, 2), 1, False), (drawn(2, 4, 5, 6), drawn(6, 3, 3, 3), 1, False),
    ):  # fmt: skip
        n = x.dim() - 2
        values = {"input": x, "weight": w, "bias": drawn(w.shape[1] * groups if transposed else w.shape[0]), "stride": [2] * n}
        values |= {"padding": [1] * n, "dilation": [1] * n, "transposed": transposed, "output_padding": [int(transposed)] * n}
        yield values | {"groups": groups} | hints


def _convolution_mode(name):
    for padding in ("same", "valid", "none"):
        for stride, sizes in ((1, (2, 2, 5, 4)), (2, (2, 2, 5, 4)), (1, (2, 5, 4))):
            values = {"input": drawn(*sizes), "weight": drawn(3, 2, 2, 3), "bias": drawn(3), "stride": [stride] * 2}
            yield values | {"padding": padding, "dilation": [1, 2], "groups": 1}


def windows(x, w, out=None, *, dilation=None):
    n = w.dim() - 2
    values = {"self": x, "weight": w, "kernel_size": list(w.shape[2:]), "bias": drawn(w.shape[0], dtype=x.dtype)}
    values |= {"stride": [2, 1, 2][:n], "padding": [1, 0, 1][:n]}
    return values | ({"dilation": [1, 2, 1][:n]} if dilation else {}) | (out or {})


def thnn_conv2d(name):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x, w = drawn(2, 3, 5, 6, dtype=dtype), drawn(4, 3, 2, 3, dtype=dtype)
        for format in (torch.contiguous_format, torch.channels_last):
            for out in ([torch.zeros(0), torch.zeros(3, 4, 2, 4).transpose(0, 2)[:2, :, :, :3]] if ".out" in name else [None]):
                yield windows(x.to(memory_format=format), w, None if out is None else {"out": out.to(dtype)})


def slow_conv3d_forward(name):
    for dtype in (torch.float32, torch.float64, torch.int64):
        x, w = drawn(2, 4, 3, 4, 5, dtype=dtype), drawn(2, 4, 2, 2, 3, dtype=dtype)
        for x in (x, x[0], x[:, :2], x[:0]):
            for out in ([torch.zeros(0), torch.zeros(2, 2, 2, 3, 3).transpose(0, 1)] if "output" in name else [None]):
                yield windows(x, w, None if out is None else {"output": out.to(dtype)})


def slow_conv_dilated3d(name):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32):
        x, w = drawn(2, 4, 3, 4, 5, dtype=dtype), drawn(2, 4, 2, 2, 3, dtype=dtype)
        for x in (x, x[0], x[:, :2], x[:0], x.to(memory_format=torch.channels_last_3d)):
            yield windows(x, w, dilation=True)


def _scaled_dot_product_attention_math(name):
    plain = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "dropout_mask": None, "scale": None, "enable_gqa": False}
    mask = drawn(3, 5) > 0
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        q, k, v = drawn(2, 4, 3, 4, dtype=dtype), drawn(2, 4, 5, 4, dtype=dtype), drawn(2, 4, 5, 6, dtype=dtype)
        for options in (
            {}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": mask * 0.5}, {"scale": -0.7}, {"attn_mask": torch.zeros(3, 5) > 0},
            {"dropout_p": 0.5, "dropout_mask": drawn(2, 4, 3, 5) > 0}, {"is_causal": True, "attn_mask": mask}, {"enable_gqa": True},
        ):  # fmt: skip
            yield {"query": q, "key": k, "value": v} | plain | options
        yield {"query": q, "key": k[:, :2], "value": v[:, :2]} | plain | {"enable_gqa": True}
        yield {"query": q, "key": k[:, :3], "value": v[:, :3]} | plain | {"enable_gqa": True}
        yield {"query": q[0, 0], "key": k[0, 0], "value": v[0, 0]} | plain
        yield {"query": q[0, 0, 0], "key": k[0, 0], "value": v[0, 0]} | plain


def _masked_softmax_backward(name):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        mask = drawn(2, 3, 4) > 0.5
        mask[0, 0] = True
        output = torch._masked_softmax(drawn(2, 3, 4, dtype=dtype), mask, 2, 2)
        for dim in (None, 2, 1):
            yield {"grad_output": drawn(2, 3, 4, dtype=dtype).flip(0), "output": output, "mask": mask, "dim": dim}
        yield {"grad_output": drawn(2, 3, 4, dtype=dtype), "output": output, "mask": mask[0], "dim": 2}
