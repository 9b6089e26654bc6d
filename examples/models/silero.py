"""Exports Silero VAD (MIT; 16 kHz) with the weights of the package `silero-vad` to silero_vad.pt2.

    pip install torch numpy silero-vad
    python examples/models/silero.py target/models/silero_vad.pt2

Inputs: a frame float32[1, 512], the 64 samples before it float32[1, 64] and a state float32[2, 1, 128], both zeros at
first. Outputs: the probability of speech float32[1, 1], and the next two of these. NAME.json and NAME.safetensors beside
it have the first frame and its outputs, as `cargo xtask programs` and `cargo xtask bench --programs` read them.
"""

import importlib.util
import pathlib
import sys

import torch
from torch import nn

from record import record

DATA = pathlib.Path(importlib.util.find_spec("silero_vad").origin).parent / "data"


class SileroVad(nn.Module):
    """The network of silero_vad.jit."""

    def __init__(self):
        super().__init__()
        self.spectrum = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.cell = nn.LSTMCell(128, 128)
        self.last = nn.Conv1d(128, 1, 1)

    def forward(self, frame, context, state):
        x = torch.cat([context, frame], 1)
        real, imaginary = self.spectrum(nn.functional.pad(x, (0, 64), "reflect").unsqueeze(1)).split(129, 1)
        y = torch.sqrt(real**2 + imaginary**2)
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            y = conv(y).relu()
        hidden, cell = self.cell(y.squeeze(-1), (state[0], state[1]))
        probability = torch.sigmoid(self.last(hidden.unsqueeze(-1).relu())).squeeze(1).mean(1, keepdim=True)
        return probability, x[:, -64:], torch.stack([hidden, cell])


def weights(published):
    """Those of silero_vad.jit under the names of the class here."""
    theirs = published._model.state_dict()
    names = {"spectrum.weight": "stft.forward_basis_buffer"}
    for part in ("weight", "bias"):
        names |= {f"conv{i + 1}.{part}": f"encoder.{i}.reparam_conv.{part}" for i in range(4)}
        names |= {f"cell.{part}_{side}": f"decoder.rnn.{part}_{side}" for side in ("ih", "hh")}
        names[f"last.{part}"] = f"decoder.decoder.2.{part}"
    return {ours: theirs[name] for ours, name in names.items()}


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "silero_vad.pt2")
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    published = torch.jit.load(str(DATA / "silero_vad.jit")).eval()
    model = SileroVad().eval()
    model.load_state_dict(weights(published))
    start = (0.1 * torch.randn(1, 512), torch.zeros(1, 64), torch.zeros(2, 1, 128))
    torch.export.save(torch.export.export(model, start), path)
    record(path, model, start)

    # Against the model as it is published, frame by frame.
    published.reset_states()
    worst, (_, context, state) = 0.0, start
    with torch.no_grad():
        for _ in range(50):
            frame = 0.1 * torch.randn(1, 512)
            probability, context, state = model(frame, context, state)
            worst = max(worst, (probability - published(frame, 16000)).abs().max().item())
    print(f"{path}: {path.stat().st_size} bytes; off by {worst:.1e} at most from silero_vad.jit")


main()
