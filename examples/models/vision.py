"""Exports ResNet-18 and MobileNet-V2 of torchvision with random weights, to be timed on one picture of 224 x 224.

    pip install torch numpy torchvision
    python examples/models/vision.py target/models
"""

import pathlib
import sys

import torch
import torchvision

from record import record


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    directory.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name in ("resnet18", "mobilenet_v2"):
        path = directory / f"{name}.pt2"
        model, picture = getattr(torchvision.models, name)().eval(), (torch.randn(1, 3, 224, 224),)
        torch.export.save(torch.export.export(model, picture), path)
        record(path, model, picture)
        print(f"{path}: {path.stat().st_size} bytes")


main()
