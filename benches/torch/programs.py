"""PyTorch as an engine for whole programs: requests are lines on standard input, each is answered by one line.

    prepare DIR NAME RIVAL   ok, or absent REASON; RIVAL is eager, compile or onnxruntime
    answer                   runs it once: NUMEL, 64 sums and 64 sums of magnitudes of all outputs
    run N                    runs it N times: the nanoseconds that this took

The first line says what it is. `benches/src/serve.rs` is the other side of the protocol.
"""

import json
import logging
import os
import struct
import sys
import time
import warnings

import torch
from torch.utils import _pytree as pytree

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
    "C64": torch.complex64, "U16": torch.uint16, "U32": torch.uint32, "U64": torch.uint64,
}
PIECES = 64


def safetensors(path):
    """The tensors of a file by name: a length of 8 bytes, a header as JSON, the data."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        flat = torch.frombuffer(data[begin:end], dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
        tensors[name] = flat.clone().reshape(entry["shape"])
    return tensors


def load(directory, name):
    """The exported program, and its recorded inputs in the order in which they are flattened."""
    program = torch.export.load(os.path.join(directory, name + ".pt2"))
    with open(os.path.join(directory, name.removesuffix(".core") + ".json"), encoding="utf-8") as file:
        numbers = json.load(file)["non_tensor_inputs"]
    tensors = safetensors(os.path.join(directory, name.removesuffix(".core") + ".safetensors"))
    spec = program.call_spec.in_spec
    flat = [tensors.get(f"in.{k}", numbers.get(f"in.{k}")) for k in range(spec.num_leaves)]
    return program, flat, spec


def onnx_session(program, inputs):
    """The program as onnxruntime runs it, with its inputs by name."""
    import onnxruntime

    exported = torch.onnx.export(program, dynamo=True, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        exported.model_proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    feed = {entry.name: tensor.numpy() for entry, tensor in zip(session.get_inputs(), tensors)}
    return lambda: session.run(None, feed)


def prepare(directory, name, rival):
    program, flat, spec = load(directory, name)
    if rival == "onnxruntime":
        return onnx_session(program, flat)
    module = program.module()
    if rival == "compile":
        module = torch.compile(module)
    args, kwargs = pytree.tree_unflatten(flat, spec)
    return lambda: module(*args, **kwargs)


def answer(outputs):
    """The outputs summed up in pieces, each element with its weight."""
    leaves = [torch.as_tensor(leaf) for leaf in pytree.tree_leaves(outputs) if leaf is not None]
    leaves = [torch.view_as_real(leaf) if leaf.is_complex() else leaf for leaf in leaves]
    flat = torch.cat([leaf.reshape(-1).to(torch.float64) for leaf in leaves] + [torch.empty(0, dtype=torch.float64)])
    numel = flat.numel()
    weighted = flat * (torch.arange(numel) % max(1, -(-numel // PIECES)) % 31 + 1)
    pieces = weighted.split(max(1, -(-numel // PIECES))) if numel else []
    sums = [[float(piece.sum()) for piece in pieces], [float(piece.abs().sum()) for piece in pieces]]
    return " ".join([str(numel)] + [f"{x:e}" if x == x else "NaN" for side in sums for x in side])


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(int(sys.argv[1]))
    # What libraries print must not come between the answers.
    replies, sys.stdout = sys.stdout, sys.stderr
    call = None
    print(f"PyTorch {torch.__version__.split('+')[0]}", file=replies, flush=True)
    with torch.no_grad():
        for line in sys.stdin:
            verb, _, rest = line.rstrip("\n").partition(" ")
            try:
                if verb == "prepare":
                    torch._dynamo.reset()
                    call = None
                    call = prepare(*rest.rsplit(" ", 2))
                    reply = "ok"
                elif verb == "answer":
                    reply = answer(call())
                else:
                    count = int(rest)
                    begin = time.perf_counter_ns()
                    for _ in range(count):
                        call()
                    reply = str(time.perf_counter_ns() - begin)
            except Exception as error:  # The reason is the answer.
                reply = "absent " + (str(error).splitlines() or [type(error).__name__])[0]
            print(reply, file=replies, flush=True)


main()
