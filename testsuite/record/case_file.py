"""Reads and writes recorded cases: `<base>.json` with one case per line, `<base>.safetensors` with one entry per storage.

A case is one call of one ATen overload: its arguments, and what PyTorch did. Every value is an object with one key
that names its kind. A tensor is a storage name, a dtype, sizes, strides and an offset in elements; within the arguments
of a case equal storage names mean shared memory. Outputs carry `alias` when they are an argument or share its memory.
"""

import hashlib
import json
import math
import pathlib
import struct

import torch
from facts import message, name, storage_extent

ENTRY = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16",
    "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "F32", "complex128": "F64",
}  # fmt: skip
WIDTH = {"BOOL": 1, "U8": 1, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "BF16": 2, "F32": 4, "F64": 8}
FORMATS = {
    torch.contiguous_format: "contiguous_format",
    torch.preserve_format: "preserve_format",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
}
TOLERANCE = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


class Number:
    """A Python number passed where the schema says Tensor."""

    def __init__(self, value):
        self.value = value


def raw(t):
    """The bytes of a tensor's whole storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).numpy().tobytes()


def identity(t):
    """What two tensors over one storage have in common."""
    return t.untyped_storage()._cdata


def physical(t):
    """The tensor without its conjugate and negative bits."""
    t = t.detach()
    if t.is_neg():
        t = torch._neg_view(t)
    return torch.conj(t) if t.is_conj() else t


def float_text(x):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return repr(float(x))


def number(x):
    if isinstance(x, bool):
        return {"bool": x}
    if isinstance(x, int):
        return {"int": x}
    if isinstance(x, complex):
        return {"complex": [float_text(x.real), float_text(x.imag)]}
    return {"float": float_text(x)}


class Writer:
    """Collects the cases of one base name."""

    def __init__(self, base):
        self.base, self.schemas, self.cases = base, {}, []
        self.entries, self.by_content = [], {}

    def storage(self, content, dt, taken=()):
        """The name of an entry with these bytes that is not in `taken`."""
        entry = ENTRY[dt] if len(content) % WIDTH[ENTRY[dt]] == 0 else "U8"
        names = self.by_content.setdefault((entry, content), [])
        for candidate in names:
            if candidate not in taken:
                return candidate
        names.append(f"s{len(self.entries)}")
        self.entries.append((names[-1], entry, content))
        return names[-1]

    def geometry(self, t, storage):
        out = {
            "storage": storage,
            "dtype": name(t.dtype),
            "sizes": list(t.shape),
            "strides": list(t.stride()),
            "offset": t.storage_offset(),
        }
        if t.is_conj():
            out["conj"] = True
        if t.is_neg():
            out["neg"] = True
        return out

    def new_output(self, t):
        """The storage of a new tensor: as long as it reaches, zero where no index reaches."""
        t = physical(t)
        extent = storage_extent(t.shape, t.stride(), t.storage_offset())
        copy = torch.zeros(extent, dtype=t.dtype)
        if t.numel():
            # Index by index, as the tensor may overlap itself.
            indices = torch.arange(extent).as_strided(t.shape, t.stride(), t.storage_offset()).flatten()
            copy[indices] = t.flatten()
        return self.storage(raw(copy), name(t.dtype))

    def save(self, folder):
        """Writes both files; returns their size."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(c, separators=(",", ":")) for c in sorted(self.cases, key=lambda c: c["id"])]
        head = {"format": 1, "base": self.base, "schemas": dict(sorted(self.schemas.items()))}
        text = json.dumps(head, separators=(",", ":"))[:-1] + ',"cases":[\n' + ",\n".join(lines) + "\n]}\n"
        json.loads(text)
        (folder / f"{self.base}.json").write_text(text)
        header, at = {}, 0
        # Widest elements first, so that every entry lies aligned.
        entries = sorted(self.entries, key=lambda e: -WIDTH[e[1]])
        for key, entry, content in entries:
            header[key] = {
                "dtype": entry,
                "shape": [len(content) // WIDTH[entry]],
                "data_offsets": [at, at + len(content)],
            }
            at += len(content)
        head = json.dumps(header, separators=(",", ":")).encode()
        head += b" " * (-len(head) % 8)
        blob = struct.pack("<Q", len(head)) + head + b"".join(e[2] for e in entries)
        (folder / f"{self.base}.safetensors").write_bytes(blob)
        return len(text) + len(blob)


def load(folder, base):
    """(the parsed JSON, {storage name: bytes})."""
    folder = pathlib.Path(folder)
    document = json.loads((folder / f"{base}.json").read_text())
    blob = (folder / f"{base}.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + length])
    data = blob[8 + length :]
    assert sum(v["data_offsets"][1] - v["data_offsets"][0] for v in header.values()) == len(data)
    return document, {k: data[slice(*v["data_offsets"])] for k, v in header.items()}


def value(writer, kind, x, taken, named):
    """One argument as its JSON object; `named` maps the storages of this case to their names."""

    def tensor(t):
        key = identity(t)
        if key not in named:
            named[key] = writer.storage(raw(t), name(t.dtype), taken)
            taken.add(named[key])
        return writer.geometry(t, named[key])

    if x is None:
        return {"none": True}
    if isinstance(x, torch.Tensor):
        return {"tensor": tensor(x)}
    if kind.startswith("Tensor["):
        return {"tensors": [tensor(t) for t in x]}
    if isinstance(x, Number):
        return {"wrapped_number": number(x.value)}
    if kind.startswith("Scalar") and not kind.startswith("ScalarType"):
        return {"scalar": number(x)}
    if kind.startswith("ScalarType"):
        return {"dtype": name(x)}
    if kind.startswith("Layout"):
        return {"layout": "strided"}
    if kind.startswith("Device"):
        return {"device": str(x)}
    if kind.startswith("MemoryFormat"):
        return {"memory_format": FORMATS[x]}
    if kind.startswith("str"):
        return {"str": x}
    if kind.startswith("float["):
        return {"floats": [float_text(v) for v in x]}
    if kind.startswith("float"):
        return {"float": float_text(x)}
    if kind.startswith("bool"):
        return {"bool": x}
    if "[" in kind:
        return {"ints": [x] if isinstance(x, int) else list(x)}
    assert kind.startswith(("int", "SymInt")), kind
    return {"int": x}


def digest(op, args, kwargs, contents):
    """16 hex digits over the overload, all arguments and all input bytes, independent of storage names."""
    order = {}

    def rename(node):
        if isinstance(node, dict):
            return {k: order.setdefault(v, len(order)) if k == "storage" else rename(v) for k, v in node.items()}
        return [rename(v) for v in node] if isinstance(node, list) else node

    text = json.dumps([op, rename(args), rename(kwargs)])
    h = hashlib.sha256(text.encode())
    for storage in order:
        h.update(b"|" + contents[storage])
    return h.hexdigest()[:16]


def error_of(exception):
    return {"type": type(exception).__name__, "message": message(exception, 600)}
