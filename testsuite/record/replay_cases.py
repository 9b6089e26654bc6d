"""Replays recorded cases through PyTorch and compares everything they state.

    python testsuite/record/replay_cases.py [FOLDER]

A reader of its own: it builds the arguments from the files alone, as any consumer has to, so a mistake of the writer
shows here. Values are compared by the case's tolerance, all else exactly.
"""

import pathlib
import sys

import torch
from case_file import load, message, physical
from facts import GOLDEN, dtype, name

WRAPPED = {"int": int, "bool": bool, "float": float}


def parse_number(n):
    ((kind, x),) = n.items()
    return complex(float(x[0]), float(x[1])) if kind == "complex" else WRAPPED[kind](x)


def over(buffer, t):
    """The tensor a geometry describes over a byte buffer."""
    out = torch.empty(0, dtype=dtype(t["dtype"])).set_(buffer.untyped_storage(), t["offset"], t["sizes"], t["strides"])
    if t.get("conj"):
        out = out.conj()
    return torch._neg_view(out) if t.get("neg") else out


def as_bytes(blob):
    return torch.frombuffer(bytearray(blob), dtype=torch.uint8) if blob else torch.empty(0, dtype=torch.uint8)


class Replay:
    """One case."""

    def __init__(self, case, blobs):
        self.case, self.blobs, self.buffers, self.named = case, blobs, {}, {}

    def value(self, v, arg):
        ((kind, x),) = v.items()
        if kind == "tensors":
            return [self.value({"tensor": t}, f"{arg}[{i}]") for i, t in enumerate(x)]
        if kind == "tensor":
            if x["storage"] not in self.buffers:
                self.buffers[x["storage"]] = as_bytes(self.blobs[x["storage"]]).clone()
            self.named[arg] = over(self.buffers[x["storage"]], x)
            return self.named[arg]
        if kind in ("wrapped_number", "scalar"):
            return parse_number(x)
        if kind == "none":
            return None
        if kind == "float":
            return float(x)
        if kind == "floats":
            return [float(f) for f in x]
        if kind == "dtype":
            return dtype(x)
        if kind in ("layout", "memory_format"):
            return getattr(torch, x)
        if kind == "device":
            return torch.device(x)
        return x

    def close(self, got, want):
        got, want = (t.resolve_conj().resolve_neg() for t in (got, want))
        if not (got.is_floating_point() or got.is_complex()):
            return bool((got == want).all())
        return torch.allclose(got, want, rtol=self.case["rtol"], atol=self.case["atol"], equal_nan=True)

    def compare(self, got, want, what):
        assert name(got.dtype) == want["dtype"], f"{what}: dtype {got.dtype}"
        assert list(got.shape) == want["sizes"], f"{what}: sizes {list(got.shape)}"
        assert list(got.stride()) == want["strides"], f"{what}: strides {list(got.stride())}"
        assert got.storage_offset() == want["offset"], f"{what}: offset"
        assert got.is_conj() == want.get("conj", False) and got.is_neg() == want.get("neg", False), f"{what}: bits"
        if want["storage"] is not None:
            expected = over(as_bytes(self.blobs[want["storage"]]), want)
            assert self.close(got, expected), f"{what}: values\n{got}\n{expected}"

    def whole(self, got, want, what, before):
        """A storage that was there before: gaps count too, and its length; a grown one states only what is reached."""
        if want["storage"] is None or got.untyped_storage().nbytes() > before:
            return
        blob = self.blobs[want["storage"]]
        assert got.untyped_storage().nbytes() == before == len(blob), f"{what}: length of the storage"
        flat = torch.empty(0, dtype=got.dtype)
        count = len(blob) // flat.element_size()
        a = flat.set_(got.untyped_storage(), 0, (count,), (1,))
        b = torch.empty(0, dtype=got.dtype).set_(as_bytes(blob).untyped_storage(), 0, (count,), (1,))
        assert self.close(a, b), f"{what}: storage"

    def run(self):
        case = self.case
        full = case["op"].removeprefix("aten::")
        packet, _, overload = full.partition(".")
        call = getattr(getattr(torch.ops.aten, packet), overload or "default")
        names = [a.name for a in call._schema.arguments]
        args = [self.value(v, n) for n, v in zip(names, case["args"])]
        kwargs = {n: self.value(v, n) for n, v in case["kwargs"].items()}
        assert len(case["args"]) + len(case["kwargs"]) == len(names), "not all arguments are written down"
        before = {n: t.untyped_storage().nbytes() for n, t in self.named.items()}
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            assert "error" in case, f"raises {message(error)}"
            assert case["error"]["type"] == type(error).__name__ and case["error"]["message"] == message(error, 600)
            return
        assert "error" not in case, "does not raise"
        values = case["outputs"]
        if len(values) == 1 and "tensors" in values[0]:
            wanted, results = values[0]["tensors"], list(result)
        else:
            wanted, results = [v["tensor"] for v in values], [result] if isinstance(result, torch.Tensor) else list(result)
        assert len(wanted) == len(results)
        for i, (got, want) in enumerate(zip(results, wanted)):
            self.compare(got, want, f"output {i}")
            alias = want.get("alias")
            first = next((k for k, v in self.named.items() if v.untyped_storage()._cdata == got.untyped_storage()._cdata), None)
            if alias is None:
                assert first is None, f"output {i}: aliases {first}"
            else:
                arg = self.named[alias["arg"]]
                assert (arg is got) == (alias["kind"] == "same"), f"output {i}: kind"
                assert arg.untyped_storage()._cdata == got.untyped_storage()._cdata, f"output {i}: no alias"
                if alias["kind"] == "view":
                    self.whole(physical(got), want, f"output {i}", before[alias["arg"]])
        for m in case.get("mutated", []):
            self.compare(self.named[m["arg"]], m["tensor"], m["arg"])
            self.whole(physical(self.named[m["arg"]]), m["tensor"], m["arg"], before[m["arg"]])
        written = {m["arg"] for m in case.get("mutated", [])}
        for k, t in {**dict(zip(names, case["args"])), **case["kwargs"]}.items():
            shares = [t["tensor"]["storage"] == v["tensor"]["storage"] for n, v in {**dict(zip(names, case["args"])), **case["kwargs"]}.items() if n in written and "tensor" in v] if "tensor" in t else []  # fmt: skip
            if "tensor" in t and k not in written and not any(shares):
                assert bytes(self.buffers[t["tensor"]["storage"]].numpy()) == self.blobs[t["tensor"]["storage"]], f"{k} changed"


def check_folder(folder):
    """Replays every case of every file; raises at the end if one differs."""
    count, bad = 0, 0
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        document, blobs = load(folder, path.stem)
        for case in document["cases"]:
            count += 1
            try:
                Replay(case, blobs).run()
            except Exception as error:
                bad += 1
                print(f"{case['id']}: {type(error).__name__}: {str(error)[:300]}")
    print(f"{folder}: {count} cases replayed, {bad} differ")
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    check_folder(sys.argv[1] if len(sys.argv) > 1 else GOLDEN / "cases")
