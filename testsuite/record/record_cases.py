"""Records cases of ATen overloads into golden/cases/ (or another folder, with another seed).

    python testsuite/record/record_cases.py                                          # the committed set
    python testsuite/record/record_cases.py --hard --seed 77 --per 60 --to /tmp/held-out

Arguments are drawn by recipes.py; each call runs twice over separate copies of its arguments and is kept only if PyTorch
agrees with itself bit by bit. Of many candidates those are kept that add most: tags, dtypes, numbers of dims. Every file is
read back and replayed by replay_cases.py's checker before the script ends. The output depends on the seed only.
"""

import argparse
import hashlib
import math
import pathlib

import torch
import torchgen
from case_file import TOLERANCE, Number, Writer, digest, error_of, identity, physical, raw, value
from facts import DTYPES, GOLDEN, dtype, name
from operands import Pool
from recipes import OVERLAP_CHECKED, arguments
from recipes_edges import BASES as EDGES
from recipes_edges import edges
from recipes_factories import BASES as MORE
from replay_cases import check_folder
from torchgen.gen import parse_native_yaml
from torchgen.model import NativeFunctionsGroup, SchemaKind

BASES = (
    "add sub mul div neg abs exp clamp eq lt where logical_not bitwise_and fill copy clone sum mean amax amin aminmax argmax any "
    "upsample_nearest1d view reshape permute transpose expand squeeze unsqueeze select slice narrow as_strided alias empty "
    "empty_strided zeros ones full arange scalar_tensor empty_like zeros_like ones_like full_like contiguous to"
).split() + list(MORE)
# Named Tensor dims, sparse layouts and name lists are another subject; case files have no storages by themselves.
SKIP = ("dimname", "names", "Generator", "str_tensor", "Stream", "Storage")
# Functional forms that return the argument's storage although their schemas say that they do not; and a written argument that is in
# another storage afterwards, which a case file cannot say.
UNRECORDED = ("set.source_Tensor", "set.source_Tensor_out", "set_", "set_.source_Tensor", "set_.source_Tensor_storage_offset")
UNINITIALISED = {"empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"}


class Function:
    """One overload: its schema in torchgen's model and the callable."""

    def __init__(self, f, structured):
        self.f = f
        self.base = f.func.name.name.base
        self.overload = f.func.name.overload_name
        self.full = str(f.func.name)
        self.inplace = f.func.name.name.inplace
        packet = getattr(torch.ops.aten, self.full.split(".")[0])
        self.call = getattr(packet, self.overload or "default")
        a = f.func.arguments
        self.positional = [(x.name, str(x.type), x.default) for x in a.flat_positional]
        outs = {x.name for x in a.out}
        self.keyword = [(x.name, str(x.type), x.default) for x in a.flat_kwarg_only] + [
            (x.name, str(x.type), None) for x in a.out
        ]
        self.outs = [x.name for x in a.out]
        self.written = [x.name for x in a.flat_non_out if x.annotation and x.annotation.is_write] + list(outs)
        self.tags = set(f.tags) & {"pointwise", "reduction", "core"}
        if structured:
            self.tags.add("structured")
        if "generated" in f.tags:
            self.tags.add("autogen")
        if f.has_composite_implicit_autograd_kernel:
            self.tags.add("composite_implicit")
        if f.is_view_op or any(r.annotation and not r.annotation.is_write for r in f.func.returns):
            self.tags.add("view")
        if self.outs:
            self.tags.add("out")
        if self.inplace:
            self.tags.add("inplace")


def functions():
    """All covered overloads, generated out= forms included."""
    root = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = parse_native_yaml(str(root / "native_functions.yaml"), str(root / "tags.yaml")).native_functions
    from torchgen.gen import get_grouped_native_functions

    structured = set()
    for g in get_grouped_native_functions(parsed):
        if isinstance(g, NativeFunctionsGroup) and g.structured:
            structured |= {str(f.func.name) for f in g.functions()}
    out = []
    for f in parsed:
        base = f.func.name.name.base
        if base not in (*BASES, *EDGES) or f.func.name.name.dunder_method or any(s in str(f.func) for s in SKIP):
            continue
        if str(f.func.name) in UNRECORDED or any(out.type.is_list_like() for out in f.func.arguments.out):
            continue
        if "Dimname" in str(f.func) or f.func.kind() in (SchemaKind.mutable, SchemaKind.scratch) or f.func.name.name.functional_overload:
            continue
        # to.prim_* and their like are TorchScript's; slice.str and friends have no kernel.
        try:
            out.append(Function(f, str(f.func.name) in structured))
        except AttributeError:
            print("no such callable:", f.func.name)
    return out


def default(text, kind):
    """The value of a schema default."""
    if text is None or text == "None":
        return None
    if text in ("True", "False"):
        return text == "True"
    if kind.startswith("MemoryFormat"):
        return getattr(torch, text)
    return float(text) if kind.startswith("float") else int(text)


def duplicate(values, like=None):
    """Copies of all tensors with the same sharing; `like` converts float dtypes (for the float64 twin)."""
    storages = {}

    def one(t):
        bare = physical(t)
        key = identity(bare)
        if like and like(bare.dtype) != bare.dtype:
            target = like(bare.dtype)
            full = torch.empty(0, dtype=bare.dtype).set_(bare.untyped_storage())
            storages.setdefault((key, target), full.to(target).untyped_storage())
            store = storages[(key, target)]
        else:
            target = bare.dtype
            store = storages.setdefault((key, None), bare.untyped_storage().clone())
        copy = torch.empty(0, dtype=target).set_(store, bare.storage_offset(), bare.shape, bare.stride())
        if t.is_conj():
            copy = copy.conj()
        return torch._neg_view(copy) if t.is_neg() else copy

    memo = {}

    def copy(v):
        if isinstance(v, list) and v and isinstance(v[0], torch.Tensor):
            return [copy(t) for t in v]
        return memo.setdefault(id(v), one(v)) if isinstance(v, torch.Tensor) else v

    return {k: copy(v) for k, v in values.items()}


def invoke(fn, values):
    plain = {k: v.value if isinstance(v, Number) else v for k, v in values.items()}
    return fn.call(*[plain[n] for n, _, _ in fn.positional], **{n: plain[n] for n, _, _ in fn.keyword})


def flat(result):
    if result is None:
        return []
    if isinstance(result, torch.Tensor):
        return [result]
    return [t for r in result for t in flat(r)]


def state(t):
    return (raw(t), name(t.dtype), tuple(t.shape), tuple(t.stride()), t.storage_offset(), t.is_conj(), t.is_neg())


def logical(t):
    """The values as an index reaches them, as bytes."""
    return raw(physical(t).contiguous().clone()) if t.numel() else b""


def excess(fn, values, results):
    """By how many tolerances PyTorch differs from itself in float64; None where the two cannot be compared."""
    wide = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}
    if not any(r.dtype in wide for r in results):
        return 1.0
    up = lambda d: wide.get(d, d)  # noqa: E731
    twin = duplicate(values, up)
    for k, v in twin.items():
        if isinstance(v, torch.dtype):
            twin[k] = up(v)
    try:
        better = flat(invoke(fn, twin))
    except Exception:
        return 1.0
    worst = 1.0
    for r, b in zip(results, better):
        if r.shape != b.shape or r.dtype not in wide or b.dtype != wide[r.dtype]:
            continue
        rtol, atol = TOLERANCE[name(r.dtype)]
        narrow = b.resolve_conj().resolve_neg().to(r.dtype)
        r = r.resolve_conj().resolve_neg()
        parts = [(torch.view_as_real(r), torch.view_as_real(narrow))] if r.is_complex() else [(r, narrow)]
        for x, y in parts:
            x, y = x.double(), y.double()
            same = (x == y) | (x.isnan() & y.isnan())
            if not bool((same | (x.isfinite() & y.isfinite())).all()):
                return None
            gap = torch.where(same, torch.zeros_like(x), (x - y).abs() / (atol + rtol * y.abs()))
            if gap.numel():
                worst = max(worst, float(gap.max()))
    return worst


def draw(pool, fn):
    """All argument values of one call, by name; None if the draw failed."""
    pick = "out_no_start" if fn.full == "arange.out" else fn.overload
    names = [(n, k) for n, k, _ in [*fn.positional, *fn.keyword] if n not in fn.outs]
    found = arguments(pool, fn.base, pick, names, fn.inplace)
    if found is None:
        return None
    values = {}
    for n, kind, text in [*fn.positional, *fn.keyword]:
        if n in fn.outs:
            continue
        if n in found:
            values[n] = found[n]
        elif text is not None or kind.endswith("?"):
            values[n] = default(text, kind)
        else:
            raise KeyError(f"{fn.full}: nothing for {n}: {kind}")
    if fn.inplace and not isinstance(values["self"], torch.Tensor):
        return None
    if fn.outs:
        shapes = trial(fn, values)
        first = next((v for v in values.values() if isinstance(v, torch.Tensor)), None)
        for i, n in enumerate(fn.outs):
            shape, dt = shapes[i] if i < len(shapes) else (pool.shape(0, 3), pool.dtype())
            lap = first if fn.base in OVERLAP_CHECKED else None
            cast = 0.35 if fn.base in OVERLAP_CHECKED or fn.base in ("copy", "fill", "sum", "any", "full") else 0.12
            values[n] = pool.out(shape, dt, cast, lap, checked=fn.base in OVERLAP_CHECKED)
    return values


def trial(fn, values):
    """Sizes and dtypes of what the call would return, from a call with an empty out of the right dtype."""
    import itertools

    for dt in itertools.chain([None], ["float32", "bool", "int64", "float64", "complex64", "complex128", "float16", "bfloat16", "uint8", "int8", "int16", "int32"]):  # fmt: skip
        twin = duplicate(values)
        try:
            if dt is None:
                # The functional sibling knows the dtype where there is one by the same argument names.
                packet = getattr(torch.ops.aten, fn.base)
                results = flat(packet(*[getattr(v, "value", v) for v in (twin[n] for n, _, _ in fn.positional)], **{n: twin[n] for n, _, _ in fn.keyword if n not in fn.outs and twin[n] is not None}))
            else:
                for n in fn.outs:
                    twin[n] = torch.empty(0, dtype=dtype(dt))
                results = flat(invoke(fn, twin))
            if len(results) == len(fn.outs):
                return [(list(r.shape), name(r.dtype)) for r in results]
        except Exception:
            continue
    return []


def tags_of(fn, values, before, results, error):
    tags = set(fn.tags)
    plain = [v for k, v in values.items() if isinstance(v, torch.Tensor) and k not in fn.outs]
    if error:
        tags.add("error")
    if any(isinstance(v, Number) for v in values.values()):
        tags.add("wrapped_number")
    for k, v in before.items():
        if not v["contiguous"]:
            tags.add("noncontig")
        if v["stride0"]:
            tags.add("stride0")
        if v["channels_last"]:
            tags.add("channels_last")
        if 0 in v["sizes"]:
            tags.add("zero_size")
        if not v["sizes"]:
            tags.add("zero_dim")
        if v["bits"]:
            tags.add("conj_bit")
        if v["special"] and k not in fn.outs:
            tags.add("special_values")
        if math.prod(v["sizes"]) > 32:
            tags.add("tail")
    mine = [v for k, v in before.items() if k not in fn.outs]
    if len({tuple(v["sizes"]) for v in mine}) > 1:
        tags.add("broadcast")
    if len(mine) > 1 and len({tuple(v["sizes"]) for v in mine}) == 1 and len({tuple(v["strides"]) for v in mine}) > 1:
        tags.add("mixed_layout")
    if len({v["dtype"] for v in mine}) > 1 or any(not r.dtype == plain[0].dtype for r in results if plain and not fn.outs):
        tags.add("promotion")
    if len({v["storage"] for v in before.values()}) < len(before):
        tags.add("overlap")
    for k in fn.outs:
        after = values[k]
        if not error and list(after.shape) != before[k]["sizes"]:
            tags.add("resize")
        if mine and before[k]["dtype"] not in {v["dtype"] for v in mine}:
            tags.add("cast_out")
    return tags


def describe(t):
    bare = physical(t)
    values = bare.double() if not bare.is_complex() else torch.view_as_real(bare.resolve_conj())
    return {
        "sizes": list(t.shape),
        "strides": list(t.stride()),
        "dtype": name(t.dtype),
        "contiguous": t.is_contiguous(),
        "stride0": any(s > 1 and x == 0 for s, x in zip(t.shape, t.stride())),
        "channels_last": not t.is_contiguous()
        and (
            (t.dim() == 4 and t.is_contiguous(memory_format=torch.channels_last))
            or (t.dim() == 5 and t.is_contiguous(memory_format=torch.channels_last_3d))
        ),
        "bits": t.is_conj() or t.is_neg(),
        "special": bool((~values.isfinite()).any()) if t.numel() else False,
        "storage": identity(t),
    }


class Candidate:
    """A call that ran: everything needed to write it down and to rank it."""

    def __init__(self, fn, values, edge=False):
        self.fn, self.values = fn, values
        ran, twin = duplicate(values), duplicate(values)
        self.before = {k: describe(v) for k, v in values.items() if isinstance(v, torch.Tensor)}
        self.error, self.results, self.f64 = None, [], 1.0
        try:
            result = invoke(fn, ran)
        except Exception as error:
            self.error = error_of(error)
            self.ok = not self.error["message"].startswith(("aten::", "Could not run")) and "INTERNAL" not in self.error["message"]
            result = None
        else:
            again = flat(invoke(fn, twin))
            self.result, self.ran, self.results = result, ran, flat(result)
            meta_only = fn.base in UNINITIALISED
            self.ok = len(again) == len(self.results) and all(
                (meta_only or logical(a) == logical(b)) and state(a)[1:] == state(b)[1:] for a, b in zip(self.results, again)
            )
            for k, v in values.items():
                if isinstance(v, torch.Tensor) and k not in fn.written:
                    assert state(ran[k])[1:] == state(v)[1:], (fn.full, k)
                    if raw(ran[k]) != raw(v):
                        # Only an argument that shares memory with a written one may change.
                        assert any(identity(values[w]) == identity(v) for w in fn.written), (fn.full, k)
            self.ok = self.ok and not self.out_of_range()
            # Reinterpreted bytes mean something else in float64.
            if self.ok and not meta_only and fn.base != "view" and not edge:
                self.f64 = excess(fn, values, self.results)
                self.ok = self.f64 is not None
        # Complex of half precision is no dtype of this file format.
        self.ok = self.ok and all(name(r.dtype) in DTYPES for r in self.results)
        self.ok = self.ok and not (self.error and any(w in self.error["message"] for w in ("Complex32", "ComplexHalf")))
        self.tags = tags_of(fn, {**values, **(ran if result is not None else {})}, self.before, self.results, self.error)
        if fn.base in UNINITIALISED and not self.error:
            self.tags.add("meta_only")

    def out_of_range(self):
        """Whether floating values beyond an integer dtype are converted to it, which C++ leaves undefined."""
        integer = any(not (r.is_floating_point() or r.is_complex() or r.dtype == torch.bool) for r in self.results)
        if not integer or self.fn.base not in ("to", "copy", "fill", "sum"):
            return False
        inputs = [v for k, v in self.values.items() if isinstance(v, torch.Tensor) and k not in self.fn.outs]
        floats = [v for v in inputs if v.is_floating_point() or v.is_complex()]
        return any(not bool((v.resolve_conj().abs() < 100).all()) for v in floats)

    def features(self):
        """What this case shows that another may not."""
        out = {("tag", t) for t in self.tags}
        out |= {("dtype", v["dtype"]) for v in self.before.values()}
        out |= {("dims", len(v["sizes"])) for v in self.before.values()}
        out |= {("result", name(r.dtype)) for r in self.results}
        out |= {("arg", k, str(v)) for k, v in self.values.items() if isinstance(v, (bool, str, type(None), torch.memory_format))}
        if self.error:
            out = {("error", self.error["message"][:24])}
        return out

    def write(self, writer):
        fn = self.fn
        taken, named = set(), {}
        args = [value(writer, kind, self.values[n], taken, named) for n, kind, _ in fn.positional]
        kwargs = {n: value(writer, kind, self.values[n], taken, named) for n, kind, _ in fn.keyword}
        contents = {e[0]: e[2] for e in writer.entries}
        case = {"id": f"{fn.full}#{digest(fn.full, args, kwargs, contents)}", "op": f"aten::{fn.full}", "args": args, "kwargs": kwargs}  # fmt: skip
        if any(c["id"] == case["id"] for c in writer.cases):
            return
        rtol = atol = 0.0
        if self.error:
            case["error"] = self.error
        else:
            tensors = {k: v for k, v in self.ran.items() if isinstance(v, torch.Tensor)}
            if isinstance(self.result, (list, tuple)) and len(fn.f.func.returns) == 1:
                case["outputs"] = [{"tensors": [self.output(writer, r, tensors) for r in self.result]}]
            else:
                case["outputs"] = [{"tensor": self.output(writer, r, tensors)} for r in self.results]
            mutated = [{"arg": k, "tensor": self.after(writer, k, self.ran[k])} for k in self.ran if k in fn.written]
            if mutated:
                case["mutated"] = mutated
            involved = {name(r.dtype) for r in self.results}
            if involved & set(TOLERANCE):
                involved |= {v["dtype"] for v in self.before.values()}
                rtol, atol = (max(TOLERANCE[d][i] for d in involved if d in TOLERANCE) for i in (0, 1))
        case |= {"rtol": rtol, "atol": atol}
        if not self.error and self.f64 > 1:
            case["f64_excess"] = float(f"{self.f64:.4g}")
        case |= {"tags": sorted(self.tags), "origin": "manual"}
        writer.schemas[fn.full] = str(fn.f.func)
        writer.cases.append(case)

    def after(self, writer, arg, t):
        """The geometry of a written argument, with its whole storage; a grown storage counts as new."""
        if "meta_only" in self.tags:
            return writer.geometry(t, None)
        grew = t.untyped_storage().nbytes() > self.values[arg].untyped_storage().nbytes()
        return writer.geometry(t, writer.new_output(t) if grew else writer.storage(raw(t), name(t.dtype)))

    def output(self, writer, t, tensors):
        for k, v in tensors.items():
            if v is t:
                return self.after(writer, k, t) | {"alias": {"arg": k, "kind": "same"}}
        for k, v in tensors.items():
            if identity(v) == identity(t):
                storage = None if "meta_only" in self.tags else writer.storage(raw(t), name(t.dtype))
                return writer.geometry(t, storage) | {"alias": {"arg": k, "kind": "view"}}
        storage = None if "meta_only" in self.tags else writer.new_output(t)
        return writer.geometry(t, storage)


# Rare and telling, so worth more than the rest.
WEIGHT = {"wrapped_number": 3, "overlap": 3, "mixed_layout": 2, "stride0": 1.5, "conj_bit": 1.5, "promotion": 1.5}


def gain(candidate, shown):
    """How much a case adds to what is shown already."""
    # fsum: the sum must not depend on the order in which a set is walked.
    total = math.fsum(WEIGHT.get(f[1], 1) / (1 + shown.get(f, 0)) ** 2 for f in candidate.features())
    # Calls without elements carry many tags and prove little.
    return total * (0.8 if "zero_size" in candidate.tags else 1.0)


def pick(candidates, count, shown):
    """Greedily the `count` candidates that show most."""
    left, picked = list(candidates), []
    while left and len(picked) < count:
        best = max(left, key=lambda c: gain(c, shown))
        left.remove(best)
        picked.append(best)
        for f in best.features():
            shown[f] = shown.get(f, 0) + 1
    return picked


def choose(candidates, count):
    """About a fifth refused calls, as far as there are different ones; the rest by what they show."""
    refused = pick([c for c in candidates if c.error], max(1, count // 5), {})
    return refused + pick([c for c in candidates if not c.error], count - len(refused), {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", default=GOLDEN / "cases", type=pathlib.Path)
    parser.add_argument("--seed", default=11, type=int)
    parser.add_argument("--per", default=5, type=int, help="cases per overload")
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--only", help="one base name")
    options = parser.parse_args()
    by_base, total = {}, 0
    for fn in functions():
        by_base.setdefault(fn.base, []).append(fn)
    for base, fns in sorted(by_base.items()):
        if options.only and base != options.only:
            continue
        writer = Writer(base)
        for fn in fns:
            # A seed of its own for each overload, so that adding one leaves the others as they are.
            seed = int.from_bytes(hashlib.sha256(f"{options.seed}/{fn.full}".encode()).digest()[:8], "big")
            pool, candidates = Pool(seed, options.hard), []
            for _ in range(0 if base in EDGES else options.per * (4 if options.hard else 12)):
                values = draw(pool, fn)
                if values is not None:
                    candidate = Candidate(fn, values)
                    if candidate.ok:
                        candidates.append(candidate)
            for candidate in choose(candidates, options.per):
                candidate.write(writer)
        for fn in fns:
            for values in edges(fn.full):
                candidate = Candidate(fn, values, edge=True)
                assert candidate.ok, (fn.full, candidate.error)
                candidate.write(writer)
        total += writer.save(options.to)
        print(f"{base}: {len(fns)} overloads, {len(writer.cases)} cases")
    print(f"{total} bytes")
    check_folder(options.to)


if __name__ == "__main__":
    main()
