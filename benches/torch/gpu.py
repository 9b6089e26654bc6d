"""PyTorch on a GPU as an engine of `cargo xtask bench --device cuda`: answers requests for timings on its standard input. The protocol
is that of benches/src/serve.rs, the operands are those of benches/src/lib.rs. Calls of a run are waited for at its end."""

import sys
import time

import torch

PIECES = 64


def dense(dtype, sizes, seed):
    """The numbers of benches/src/lib.rs, around zero. Products of 32 bits by way of 64."""
    n = 1
    for size in sizes:
        n *= size
    mask = 0xFFFFFFFF

    def times(x, factor):
        low = (x & 0xFFFF) * factor
        high = ((x >> 16) * factor) & 0xFFFF
        return (low + (high << 16)) & mask

    h = torch.arange(n, dtype=torch.int64, device="cuda")
    h = times((h + (seed * 0x85EBCA6B & mask)) & mask, 0x9E3779B1)
    h = h ^ (h >> 15)
    h = times(h, 0x85EBCA6B)
    h = (h ^ (h >> 13)) >> 16
    if dtype.is_floating_point:
        if dtype.itemsize == 2:
            return ((h >> 8).float() / 32 - 4).to(dtype).reshape(sizes)
        return (h.float() / 8192 - 4).to(dtype).reshape(sizes)
    return (h % 11 - (0 if dtype == torch.uint8 else 5)).to(dtype).reshape(sizes)


def operand(work, index, count):
    _, dtype, layout, sizes, _ = work
    if layout == "contiguous" or index + 1 < count:
        return dense(dtype, sizes, index)
    rows, columns = sizes
    if layout == "row-broadcast":
        return dense(dtype, [columns], index)
    if layout == "transposed":
        return dense(dtype, [columns, rows], index).t()
    raise ValueError(f"{layout} is no layout here")


def prepare(words):
    op, dtype, layout, sizes, form = words
    work = (op, getattr(torch, dtype), layout, [int(size) for size in sizes.split("x")], form)
    if form == "out":
        out = torch.zeros(work[3], dtype=work[1], device="cuda")
        if op in ("add", "mul"):
            a, b = (operand(work, i, 2) for i in range(2))
            call = getattr(torch, op)
            return lambda: call(a, b, out=out)
        a = operand(work, 0, 1)
        if op == "copy":
            return lambda: out.copy_(a)
        if op == "gelu":
            return lambda: torch.ops.aten.gelu.out(a, out=out)
        call = getattr(torch, op)
        return lambda: call(a, out=out)
    if form == "functional":
        a, b = (operand(work, i, 2) for i in range(2))
        return lambda: torch.add(a, b)
    a = operand(work, 0, 1)
    call = getattr(torch, op)
    if form == "all":
        return lambda: call(a)
    if form in ("dim0", "dim1"):
        dim = int(form[-1])
        return lambda: call(a, dim)
    raise ValueError(f"{op} has no form {form} here")


def digest(result):
    values = result.double().flatten().cpu()
    n = values.numel()
    piece = max(1, -(-n // PIECES))
    words = [str(n)]
    for part in (values, values.abs()):
        for start in range(0, n, piece):
            chunk = part[start : start + piece]
            weights = torch.arange(chunk.numel(), dtype=torch.float64) % 31 + 1
            words.append(f"{(chunk * weights).sum().item():.17e}")
    return " ".join(words)


def main():
    if not torch.cuda.is_available():
        sys.exit("this PyTorch finds no GPU")
    version = torch.__version__.split("+")[0]
    print(f"PyTorch {version} {torch.cuda.get_device_name().replace(' ', '-')}", flush=True)
    call = None
    with torch.inference_mode():
        for line in sys.stdin:
            verb, _, rest = line.strip().partition(" ")
            try:
                if verb == "prepare":
                    call = None
                    call = prepare(rest.split())
                    reply = "ok"
                elif call is None:
                    raise ValueError("nothing is prepared")
                elif verb == "answer":
                    reply = digest(call())
                else:
                    start = time.perf_counter_ns()
                    for _ in range(int(rest)):
                        call()
                    torch.cuda.synchronize()
                    reply = str(time.perf_counter_ns() - start)
            except Exception as error:  # the other side is told
                reply = "absent " + str(error).partition("\n")[0]
            print(reply, flush=True)


if __name__ == "__main__":
    main()
