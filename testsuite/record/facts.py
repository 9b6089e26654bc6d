"""What the recording scripts share: dtype names, errors, layouts, and the one-fact-per-line JSON writer."""

import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parent
GOLDEN = ROOT.parent / "golden"

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

warnings.simplefilter("ignore")
torch.set_num_threads(1)


def dtype(name):
    """The torch dtype of a name."""
    return getattr(torch, name)


def name(dt):
    """The name of a torch dtype."""
    return str(dt).removeprefix("torch.")


def message(error, limit=300):
    """The first line of what an exception says, without addresses or C++ frames."""
    return str(error).split("\n")[0].split("Exception raised from")[0].strip()[:limit]


def storage_extent(sizes, strides, offset=0):
    """How many elements a storage needs for this geometry."""
    if any(s == 0 for s in sizes):
        return offset
    return offset + 1 + sum((s - 1) * t for s, t in zip(sizes, strides))


def write(path, header, sections):
    """Writes {header..., section: [one fact per line]}."""
    lines = ["{" + json.dumps({"format": 1, "pytorch": torch.__version__.split("+")[0], **header})[1:-1] + ","]
    for i, (key, facts) in enumerate(sections.items()):
        lines.append(f'"{key}":[')
        lines += [
            json.dumps(f, separators=(",", ":")) + ("," if j + 1 < len(facts) else "") for j, f in enumerate(facts)
        ]
        lines.append("]" + ("," if i + 1 < len(sections) else ""))
    lines.append("}")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    json.loads(text)
    path.write_text(text)
    print(f"{path.name}: {len(text)} bytes, " + ", ".join(f"{k} {len(v)}" for k, v in sections.items()))


def load_probe():
    """Builds the probe operators (once per source text) and loads them; returns `torch.ops.probe`."""
    import hashlib

    sources = sorted((ROOT / "probe").glob("*.*"))
    stamp = hashlib.sha256(torch.__version__.encode() + b"".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    library = pathlib.Path(tempfile.gettempdir()) / f"probe-{stamp}.so"
    if not library.exists():
        subprocess.run([sys.executable, str(ROOT / "probe/build.py"), str(library)], check=True)
    torch.ops.load_library(str(library))
    return torch.ops.probe
