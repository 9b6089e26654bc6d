"""Records checksums of the numbers that PyTorch draws: run it, and put what it prints into golden/draws.txt.

One line for each operator, dtype, layout and size: the FNV-1a hash of the bits of all elements in row-major order,
one seed after another, seeds 0 to 19. One thread, and an x86-64 processor with AVX2, on which PyTorch's kernels round
as the tests expect.
"""

import torch

torch.set_num_threads(1)
SIZES = (1, 15, 16, 17, 100, 1000)
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
LAYOUTS = ("contiguous", "stepped", "transposed")


def target(dtype, layout, n):
    dtype = getattr(torch, dtype)
    if layout == "stepped":
        return torch.zeros(2 * n, dtype=dtype)[::2]
    if layout == "transposed":
        return torch.zeros(n, 3, dtype=dtype).t()
    return torch.zeros(n, dtype=dtype)


def ramp(n, period, scale, dtype):
    return ((torch.arange(n) % period).double() * scale).to(getattr(torch, dtype))


def attention(n, dtype):
    """The weights of two heads: of equal scores, and of values that say which they are."""
    query, key = torch.zeros(2, n, 4, dtype=dtype), torch.zeros(2, 4, 4, dtype=dtype)
    value = torch.eye(4, dtype=dtype).expand(2, 4, 4)
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=0.3)


FILLS = {
    "unit": (FLOATS + ("complex64",), lambda t: t.uniform_()),
    "uniform": (FLOATS, lambda t: t.uniform_(0.3, 1.7)),
    "normal": (FLOATS + ("complex64", "complex128"), lambda t: t.normal_(0.3, 1.7)),
    "log_normal": (FLOATS, lambda t: t.log_normal_(0.3, 1.7)),
    "cauchy": (FLOATS, lambda t: t.cauchy_(0.3, 1.7)),
    "exponential": (FLOATS, lambda t: t.exponential_(1.7)),
    "geometric": (FLOATS + INTEGERS, lambda t: t.geometric_(0.013)),
    "bernoulli": (FLOATS + INTEGERS + ("bool",), lambda t: t.bernoulli_(0.3)),
    "random": (FLOATS + INTEGERS + ("bool",), lambda t: t.random_()),
    "random_to": (FLOATS + INTEGERS, lambda t: t.random_(100)),
    "random_from": (FLOATS + INTEGERS[1:], lambda t: t.random_(-7, 100)),
    "random_on": (FLOATS + INTEGERS, lambda t: t.random_(5, None)),
    "random_far": (("float32", "float64", "int64"), lambda t: t.random_(-5, 2**40)),
    "random_every": (("bfloat16", "float32", "float64", "int64"), lambda t: t.random_(-(2**63), None)),
    "normal_twice": (FLOATS, lambda t: t.normal_().normal_(1, 2)),
}
SOURCES = {
    "randperm": (FLOATS + INTEGERS[2:], lambda n, d: torch.randperm(n, dtype=getattr(torch, d)) if n < 257 else None),
    "bernoulli_of": (FLOATS, lambda n, d: torch.bernoulli(ramp(n, 11, 0.1, d))),
    "poisson": (FLOATS, lambda n, d: torch.poisson(ramp(n, 41, 1.5, d))),
    "gamma": (FLOATS[2:], lambda n, d: torch._standard_gamma(ramp(n, 61, 0.13, d))),
    "dirichlet": (FLOATS[2:], lambda n, d: torch._sample_dirichlet(ramp(3 * n, 7, 0.25, d).reshape(n, 3))),
    "binomial": (FLOATS[2:], lambda n, d: torch.binomial(ramp(n, 61, 3.0, d), ramp(n, 11, 0.1, d))),
    "multinomial": (FLOATS, lambda n, d: torch.multinomial(ramp(n, 7, 0.25, d) + 0.25, max(n // 2, 1))),
    "multinomial_again": (
        FLOATS,
        lambda n, d: torch.multinomial((ramp(n, 7, 0.25, d) + 0.25).reshape(1, n).repeat(2, 1), 5, True),
    ),
    "dropout": (FLOATS, lambda n, d: torch.dropout(ramp(n, 7, 0.25, d), 0.3, True)),
    "alpha_dropout": (FLOATS[2:], lambda n, d: torch.alpha_dropout(ramp(n, 7, 0.25, d), 0.3, True)),
    "native_dropout": (FLOATS, lambda n, d: torch.native_dropout(ramp(n, 7, 0.25, d), 0.3, True)[0]),
    "normal_of": (FLOATS, lambda n, d: torch.normal(ramp(n, 7, 0.25, d), ramp(n, 5, 0.5, d))),
    "rrelu": (FLOATS[1:], lambda n, d: torch.ops.aten.rrelu(ramp(n, 7, -0.25, d), 0.1, 0.3, True)),
    "attention": (FLOATS, lambda n, d: attention(n, getattr(torch, d))),
    "rand": (FLOATS, lambda n, d: torch.rand(n, dtype=getattr(torch, d))),
    "randn": (FLOATS, lambda n, d: torch.randn(n, dtype=getattr(torch, d))),
    "randint": (FLOATS + INTEGERS, lambda n, d: torch.randint(3, 90, (n,), dtype=getattr(torch, d))),
}


def fnv(h, data):
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def record(name, dtype, layout, n, make):
    h = 0xCBF29CE484222325
    for seed in range(20):
        torch.manual_seed(seed)
        t = make()
        if t is None:
            return
        t = t.clone(memory_format=torch.contiguous_format)
        h = fnv(h, t.reshape(-1).view(torch.uint8).numpy().tobytes())
    print(name, dtype, layout, n, f"{h:016x}")


for name, (dtypes, fill) in FILLS.items():
    for dtype in dtypes:
        for layout in LAYOUTS:
            for n in SIZES:
                if n < 1000 or layout == "contiguous":
                    record(name, dtype, layout, n, lambda: fill(target(dtype, layout, n)))
for name, (dtypes, make) in SOURCES.items():
    for dtype in dtypes:
        for n in SIZES:
            record(name, dtype, "contiguous", n, lambda: make(n, dtype))
