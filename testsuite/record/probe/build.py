"""Builds the probe operators into a shared library that `torch.ops.load_library` can load.

torchgen generates the structured classes, the sinks and the dispatcher wrappers from functions.yaml, exactly as it
does for PyTorch's own operators; kernels.inc holds `meta` and `impl`. What the probe records is therefore the
behaviour of the generated code and not of an imitation. Needs g++ and the headers of the torch wheel.

    python build.py OUTPUT.so
"""

import pathlib
import subprocess
import sys

import torch
import torchgen
import yaml
from torch.utils.cpp_extension import include_paths, library_paths
from torchgen import dest
from torchgen.gen import (
    compute_meta_function_declaration,
    get_grouped_native_functions,
    parse_native_yaml_struct,
    parse_tags_yaml,
)
from torchgen.model import BackendIndex, DispatchKey, NativeFunctionsGroup
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

HERE = pathlib.Path(__file__).resolve().parent

INCLUDES = """
#include <array>
#include <functional>
#include <optional>
#include <vector>
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>
"""


def generate() -> str:
    """The whole translation unit as text."""
    root = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native"
    tags = parse_tags_yaml(str(root / "tags.yaml"))
    entries = yaml.load((HERE / "functions.yaml").read_text(), Loader=yaml.Loader)
    for entry in entries:
        entry["__line__"] = 0
    parsed = parse_native_yaml_struct(entries, tags, path=str(HERE / "functions.yaml"), skip_native_fns_gen=True)
    groups = [g for g in get_grouped_native_functions(parsed.native_functions) if isinstance(g, NativeFunctionsGroup)]
    assert len(groups) == 2 and all(g.structured for g in groups)
    select = SelectiveBuilder.get_nop_selector()
    cpu = parsed.backend_indices[DispatchKey.CPU]
    meta = BackendIndex(DispatchKey.Meta, use_out_as_primary=True, external=False, device_guard=False, index={})

    def lines(items):
        return "\n".join(item for item in items if item)

    text = [INCLUDES, "namespace at::meta {"]
    text += [compute_meta_function_declaration(g) for g in groups]
    text += ["}", "namespace at::native {"]
    for g in groups:
        text += dest.compute_native_function_declaration(g, cpu)
    text += ["}", '#include "kernels.inc"']
    for index in (cpu, meta):
        key = str(index.dispatch_key)
        text += [f"namespace at {{ namespace probe_{key.lower()} {{ namespace {{"]
        text += dest.gen_registration_helpers(index)
        registrations = []
        for g in groups:
            for target, sink in ((Target.ANONYMOUS_DEFINITION, text), (Target.REGISTRATION, registrations)):
                sink += dest.RegisterDispatchKey(
                    index,
                    target,
                    select,
                    rocm=False,
                    symint=True,
                    class_method_name=None,
                    skip_dispatcher_op_registration=False,
                )(g)
        text += ["} // anonymous", f"TORCH_LIBRARY_IMPL(probe, {key}, m) {{", *registrations, "}", "}}"]
    text += ["TORCH_LIBRARY(probe, m) {"]
    for g in groups:
        text += [f'm.def("{f.func}");' for f in g.functions()]
    text += ['m.def("take_seen() -> int[]", &probe::take_seen);']
    text += ['m.def("describe(Tensor tensor) -> int[]", &probe::describe);']
    text += ['m.def("overlap(Tensor a, Tensor b) -> int", &probe::overlap);']
    text += ['m.def("iterate(Tensor?[] outputs, Tensor[] inputs, int[] wrapped, int flags) -> (Tensor[], int[])", &probe::iterate);']
    text += ["}"]
    return lines(text)


def build(output: pathlib.Path) -> pathlib.Path:
    """Generates, compiles and links; returns the path of the library."""
    output = pathlib.Path(output)
    source = output.with_suffix(".cpp")
    source.write_text(generate())
    command = ["g++", "-std=c++20", "-O0", "-fPIC", "-shared", "-w", f"-I{HERE}"]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]
    command += [f"-I{path}" for path in include_paths()]
    command += [str(source), "-o", str(output)]
    command += [f"-L{path}" for path in library_paths()]
    command += [f"-Wl,-rpath,{path}" for path in library_paths()]
    command += ["-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)
    return output


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
