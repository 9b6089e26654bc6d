"""Calls of layers, of gradients whose sums are rounded one by one, and of losses of integers; as in recipes_edges.py."""

import torch

NAMED = ("upsample_bilinear2d.vec_out", "upsample_nearest2d.vec_out")
BASES = (
    "_transformer_encoder_layer_fwd reflection_pad2d_backward replication_pad3d_backward hinge_embedding_loss "
    "upsample_bilinear2d upsample_nearest2d _fused_rms_norm rms_norm"
).split()


def drawn(*sizes, dtype=torch.float32):
    """Numbers between -2 and 2 that look like any."""
    count = torch.Size(sizes).numel()
    return ((torch.arange(count, dtype=torch.float64) * 2.39996).sin() * 2).view(sizes).to(dtype)


def _transformer_encoder_layer_fwd(name):
    b, l, n, inner = 2, 5, 8, 12
    weights = {
        "qkv_weight": drawn(3 * n, n), "qkv_bias": drawn(3 * n), "proj_weight": drawn(n, n), "proj_bias": drawn(n),
        "norm_weight_1": drawn(n), "norm_bias_1": drawn(n) / 2, "norm_weight_2": 1 - drawn(n), "norm_bias_2": drawn(n) / 4,
        "ffn_weight_1": drawn(inner, n), "ffn_bias_1": drawn(inner), "ffn_weight_2": drawn(n, inner), "ffn_bias_2": drawn(n),
    }  # fmt: skip
    later = torch.ones(l, l).triu(1)
    behind = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]) == 1
    masks = (
        (None, None), (later == 1, 0), (behind, 1), (later.expand(b, 2, l, l) == 1, 2), (later * -torch.inf, 0),
        (torch.where(later == 1, -torch.inf, 0.0), 0), (torch.tensor([[0] * l, [1] * l]) == 1, 1),
    )  # fmt: skip
    for i, (mask, kind) in enumerate(masks):
        values = {"src": drawn(b, l, n), "embed_dim": n, "num_heads": 2, **weights, "use_gelu": i % 2 == 0}
        yield values | {"norm_first": i > 1, "eps": 1e-5, "mask": mask, "mask_type": kind}


def gradients(sizes, pad):
    padded = [*sizes[: len(sizes) - len(pad) // 2]]
    for i in reversed(range(len(pad) // 2)):
        padded.append(sizes[-1 - i] + pad[2 * i] + pad[2 * i + 1])
    for dtype in (torch.float16, torch.bfloat16):
        yield {"grad_output": drawn(*padded, dtype=dtype), "self": torch.zeros(sizes, dtype=dtype), "padding": pad}


def reflection_pad2d_backward(name):
    yield from gradients((1, 3, 4), [2, 3, 1, 2])
    yield from gradients((2, 5, 4), [-1, 2, 2, -1])


def replication_pad3d_backward(name):
    yield from gradients((1, 2, 3, 2), [2, 1, 1, 2, 3, 1])
    yield from gradients((1, 3, 3, 4), [3, -2, -1, 1, 0, 2])


def hinge_embedding_loss(name):
    target = torch.tensor([1, -1, 1, -1])
    for dtype in (torch.int8, torch.int64, torch.float16):
        x = torch.tensor([3, -2, -5, 1]).to(dtype)
        yield {"self": x, "target": target.to(dtype), "margin": 2.7, "reduction": 0}


def upsample_bilinear2d(name):
    values = {"input": drawn(2, 3, 4, 4).to(memory_format=torch.channels_last), "output_size": None, "scale_factors": [1.5, 1.5]}
    for out in (torch.zeros(0), torch.zeros(2, 3, 6, 6)):
        yield values | ({"align_corners": False} if "bilinear" in name else {}) | {"out": out}


upsample_nearest2d = upsample_bilinear2d


def _fused_rms_norm(name):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        x = drawn(3, 2, 5, 40, dtype=dtype)
        shapes = ((x, [40]), (x, [5, 40]), (x.transpose(0, 3), [2, 3]), (x[..., :0], [0]), (x[:0], [40]))
        for i, (t, shape) in enumerate(shapes):
            weight = None if i == 1 else drawn(*shape, dtype=dtype)
            yield {"input": t, "normalized_shape": shape, "weight": weight, "eps": (None, 0.5, 1e-5)[i % 3]}
    yield {"input": drawn(4, 6, dtype=torch.bfloat16), "normalized_shape": [6], "weight": drawn(6), "eps": None}


def rms_norm(name):
    yield from _fused_rms_norm(name)
    yield {"input": drawn(4, 6), "normalized_shape": [6], "weight": drawn(6, dtype=torch.float64), "eps": None}
    yield {"input": drawn(4, 6, dtype=torch.complex64), "normalized_shape": [6], "weight": None, "eps": 1e-3}
    yield {"input": drawn(4, 6), "normalized_shape": [5], "weight": None, "eps": None}
