"""Records the schemas of PyTorch into golden/schemas.txt: the entries of native_functions.yaml and the variants of them that torchgen
generates (functional, out= and in-place forms that an entry implies), one per line, sorted.

    python testsuite/record/schemas.py            # writes the list
    python testsuite/record/schemas.py --print    # prints it, and first how many of its lines are entries of the file
"""

import pathlib
import sys

import torchgen
from facts import GOLDEN
from torchgen.gen import parse_native_yaml

native = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native"
parsed = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
lines = sorted(str(f.func) for f in parsed.native_functions)
entries = {line.removeprefix("- func:").strip() for line in (native / "native_functions.yaml").read_text().splitlines() if line.startswith("- func:")}  # fmt: skip
if "--print" in sys.argv:
    print(len(entries & set(lines)), len(entries))
    print("\n".join(lines))
else:
    (GOLDEN / "schemas.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} schemas, {len(entries & set(lines))} of them written as they stand in the file")
