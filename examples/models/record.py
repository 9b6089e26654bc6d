"""What a model gives for one set of inputs, in the files that the checks of programs read: NAME.json, NAME.safetensors."""

import json
import pathlib
import struct

import torch

NAMES = {torch.float32: "F32", torch.int64: "I64"}


def save_tensors(path, tensors):
    """A safetensors file: the length of a header, the header, the data."""
    header, data = {}, bytearray()
    for name, tensor in tensors.items():
        begin = len(data)
        data += tensor.detach().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, len(data)]
        }
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + bytes(data))


def record(path, model, inputs):
    with torch.no_grad():
        outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    tensors = {f"in.{k}": tensor for k, tensor in enumerate(inputs)}
    tensors |= {f"out.{k}": tensor for k, tensor in enumerate(outputs)}
    save_tensors(path.with_suffix(".safetensors"), tensors)
    scale = {f"out.{k}": tensor.abs().max().item() for k, tensor in enumerate(outputs)}
    described = {
        "name": path.stem, "sets": 1, "seq": False, "non_tensor_inputs": {}, "non_tensor_outputs": {}, "expects_error": [],
        "tolerance": {name: {"rtol": 1e-5, "atol": 2e-5 * max(size, 1.0)} for name, size in scale.items()},
    }
    path.with_suffix(".json").write_text(json.dumps(described, indent=1))
