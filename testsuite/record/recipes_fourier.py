"""Calls of Fourier transforms for recipes_edges.py: directions, dimensions, layouts, lengths, norms, and what is refused."""

import math

import torch

BASES = "_fft_c2c _fft_r2c _fft_c2r fft_fft fft_hfft fft_ihfftn fft_irfftn fft_rfft2 fft_fftshift stft istft".split()


def waves(*sizes, dtype=torch.float64):
    values = torch.arange(math.prod(sizes), dtype=torch.float64)
    real = (values * 0.7).sin() + values % 5
    return (torch.complex(real, (values * 0.3).cos()) if dtype.is_complex else real).to(dtype).view(sizes)


def _fft_c2c(name):
    x = waves(3, 4, 5, dtype=torch.complex128)
    for of, dims in ((x, [1]), (x.permute(2, 0, 1), [0, 2]), (x, [2, 0]), (x.conj(), [1]), (x, []), (x[:0], [0])):
        yield {"self": of, "dim": dims, "normalization": 1, "forward": False}
    for of, dims in ((x.real, [0]), (x[:, :0], [])):
        yield {"self": of, "dim": dims, "normalization": 0, "forward": True}


def _fft_r2c(name):
    x = waves(3, 4, 5)
    if name.endswith("out"):
        for dtype in (torch.complex64, torch.float64, torch.int64):
            for out in (torch.zeros(0, dtype=dtype), torch.zeros(5, 4, 3, dtype=dtype).permute(2, 1, 0)):
                yield {"self": x, "dim": [0, 2], "normalization": 2, "onesided": not dtype.is_complex, "out": out}
        return
    for of, dims in ((x, [1]), (x.permute(2, 0, 1), [2, 0]), (x, [1, 0, 2]), (x[:, :0], [1]), (x[:, :0], [2]), (x, [])):
        for onesided in (True, False):
            yield {"self": of, "dim": dims, "normalization": 2, "onesided": onesided}


def _fft_c2r(name):
    x = waves(3, 4, 5, dtype=torch.complex128)
    for of, dims, last in (
        (x, [2], 8), (x, [2], 9), (x, [2], 5), (x, [2], 0), (x, [2], -1), (x, [0, 1], 6), (x.permute(2, 1, 0), [1, 2], 4),
        (x[:, :, :1], [2], 1), (x.real, [2], 8),
    ):  # fmt: skip
        yield {"self": of, "dim": dims, "normalization": 0, "last_dim_size": last}


def fft_fft(name):
    for x in (waves(2, 6), waves(2, 6).to(torch.int32), waves(2, 6, dtype=torch.complex64), waves(2, 6).half(), waves(1)[0]):
        for n, norm in ((None, None), (4, "ortho"), (9, "forward"), (0, None), (None, "none")):
            yield {"self": x, "n": n, "dim": -1, "norm": norm}


def fft_hfft(name):
    for x in (waves(2, 6), waves(2, 6, dtype=torch.complex64), waves(2, 1, dtype=torch.complex128)):
        for n, norm in ((None, None), (4, "ortho"), (11, "forward")):
            yield {"self": x, "n": n, "dim": -1, "norm": norm}


def several(*tensors):
    for x in tensors:
        for s, dim in ((None, None), ([3, 4], None), ([-1, 5], [0, 2]), ([3], [0, 1]), (None, [1]), (None, []), (None, [0, 0])):
            yield {"self": x, "s": s, "dim": dim, "norm": None}


def fft_ihfftn(name):
    yield from several(waves(3, 4, 5), waves(5, 4, 3).permute(2, 1, 0))


def fft_irfftn(name):
    x = waves(5, 4, 3, dtype=torch.complex128)
    yield from several(x, x.permute(2, 1, 0), x.real)


def fft_rfft2(name):
    yield from (call for call in several(waves(3, 4, 5), waves(3, 4, 5) > 2) if call["dim"])


def fft_fftshift(name):
    for dim in (None, [0], [1, 1], [], [5]):
        yield {"self": waves(4, 5), "dim": dim}


def stft(name):
    x, window = waves(2, 40), torch.hann_window(8, dtype=torch.float64)
    kept = {"hop_length": 3, "win_length": 8, "window": window, "normalized": False, "onesided": None, "return_complex": True}
    for call in (
        {}, {"self": x[0]}, {"window": None}, {"win_length": None, "window": None, "normalized": True}, {"onesided": False},
        {"return_complex": False}, {"return_complex": None}, {"window": window.to(torch.complex128), "return_complex": None},
        {"align_to_window": True}, {"win_length": 7, "window": window[:7], "align_to_window": True}, {"hop_length": 0},
        {"n_fft": 50}, {"win_length": 13}, {"window": window[:7]}, {"self": x.long()}, {"self": x.view(2, 2, 20)},
    ):  # fmt: skip
        yield {"self": x, "n_fft": 12, "align_to_window": None} | kept | call


def istft(name):
    x, window = waves(2, 7, 9, dtype=torch.complex128), torch.hann_window(12, dtype=torch.float64)
    kept = {"hop_length": 3, "win_length": None, "window": window, "center": True, "normalized": False, "onesided": None}
    for call in (
        {}, {"self": x[0]}, {"window": None, "center": False}, {"center": False}, {"length": 20}, {"length": 50}, {"length": 0},
        {"win_length": 8, "window": window[:8].abs() + 1, "normalized": True}, {"onesided": True, "return_complex": True},
        {"self": x.repeat(1, 2, 1)[:, :12], "onesided": False, "return_complex": True}, {"self": x.repeat(1, 2, 1)[:, :12]},
        {"n_fft": 14}, {"hop_length": 13}, {"window": window[:7]}, {"self": x.real}, {"self": x[:, :, :0]},
    ):  # fmt: skip
        yield {"self": x, "n_fft": 12, "length": None, "return_complex": False} | kept | call
