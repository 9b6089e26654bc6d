"""Calls of linear algebra for recipes_edges.py: sides, triangles, layouts, batches that broadcast, and what is refused."""

import math

import torch

BASES = (
    "linalg_lu_factor_ex linalg_lu lu_unpack linalg_lu_solve _linalg_solve_ex linalg_inv_ex _linalg_det _linalg_slogdet "
    "linalg_solve_triangular triangular_solve linalg_cholesky_ex cholesky_inverse cholesky_solve linalg_qr geqrf "
    "linalg_householder_product ormqr _linalg_eigh linalg_eigvals _linalg_svd linalg_ldl_factor_ex linalg_ldl_solve "
    "linalg_eig linalg_lstsq linalg_matrix_exp linalg_matrix_sqrth linalg_polar linalg_matrix_power linalg_pinv linalg_matrix_rank linalg_cond svd "
    "linalg_tensorinv linalg_tensorsolve linalg_vander logdet linalg__powsum norm_except_dim"
).split()
# Of operators with several functional overloads, those that calls are made of.
NAMED = (
    "linalg_pinv.atol_rtol_float", "linalg_matrix_rank.atol_rtol_float", "linalg_cond", "linalg_cond.p_str",
    "cholesky_inverse", "cholesky_inverse.out",
)  # fmt: skip


def numbers(*sizes, dtype=torch.float64):
    values = torch.arange(math.prod(sizes), dtype=torch.float64)
    real = (values * 0.7).sin() + (values * values % 7) / 4
    return (torch.complex(real, (values * 1.3).cos()) if dtype.is_complex else real).to(dtype).view(sizes)


def by_columns(x):
    return x.mT.contiguous().mT


def definite(*sizes, dtype=torch.float64):
    x = numbers(*sizes, dtype=dtype)
    return x @ x.mH + torch.eye(sizes[-1], dtype=dtype)


def layouts(make, *sizes):
    for dtype in (torch.float64, torch.complex128):
        x = make(*sizes, dtype=dtype)
        yield from (x, by_columns(x), x.conj())


def linalg_lu_factor_ex(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 5), numbers(0, 3), numbers(3)):
        yield {"A": x, "pivot": True, "check_errors": False}
    for x in (torch.ones(3, 3, dtype=torch.float64), torch.zeros(2, 2, 2)):
        for check in (True, False):
            yield {"A": x, "pivot": True, "check_errors": check}
    for x in (numbers(0, 3, 5), numbers(2, 0, 3)):
        yield {"A": x, "pivot": False, "check_errors": False}


def linalg_lu(name):
    for x in (numbers(2, 4, 3), numbers(3, 4, dtype=torch.complex128), numbers(2, 0, 3)):
        yield {"A": x, "pivot": True}


def lu_unpack(name):
    factors, pivots, _ = torch.linalg.lu_factor_ex(numbers(2, 4, 3))
    for data in (True, False):
        for permutation in (True, False):
            yield {"LU_data": factors, "LU_pivots": pivots, "unpack_data": data, "unpack_pivots": permutation}
    yield {"LU_data": factors, "LU_pivots": pivots.long(), "unpack_data": True, "unpack_pivots": True}


def linalg_lu_solve(name):
    for x in layouts(numbers, 2, 3, 3):
        factors, pivots, _ = torch.linalg.lu_factor_ex(x)
        b = numbers(3, 1, 3, 2, dtype=x.dtype)
        for adjoint in (True, False):
            yield {"LU": factors, "pivots": pivots, "B": b, "left": True, "adjoint": adjoint}
            yield {"LU": factors, "pivots": pivots, "B": b.mT, "left": False, "adjoint": adjoint}
    yield {"LU": factors, "pivots": pivots[:1], "B": b, "left": True, "adjoint": False}


def _linalg_solve_ex(name):
    for x in layouts(numbers, 2, 3, 3):
        b = numbers(2, 3, dtype=x.dtype)
        for of, rights, left in (
            (x, b, True), (x, b[0], True), (x[0], b.unsqueeze(-1).expand(2, 3, 2), True), (x, b.mT.expand(4, 1, 3, 2), True),
            (x, b.expand(3, 1, 2, 3), False), (x, b, False), (x, b.mT, False),
        ):  # fmt: skip
            yield {"A": of, "B": rights, "left": left, "check_errors": False}
    for check in (True, False):
        yield {"A": torch.zeros(2, 2), "B": torch.ones(2, 1), "left": True, "check_errors": check}


def linalg_inv_ex(name):
    for x in (*layouts(numbers, 2, 3, 3), numbers(2, 0, 0), numbers(2, 3), numbers(3, 3).half()):
        yield {"A": x, "check_errors": False}
    yield {"A": torch.zeros(2, 2), "check_errors": True}


def _linalg_det(name):
    for x in (*layouts(numbers, 2, 3, 3), numbers(2, 0, 0), torch.zeros(2, 2), numbers(2, 3)):
        yield {"A": x}


_linalg_slogdet = _linalg_det


def triangles(name, first, second, **kept):
    flag = "unitriangular"
    for x in layouts(numbers, 2, 3, 3):
        b = numbers(3, 1, 3, 2, dtype=x.dtype)
        for upper in (True, False):
            for unit in (True, False):
                yield {first: x, second: b, "upper": upper, flag: unit, **kept}


def linalg_solve_triangular(name):
    for call in triangles(name, "self", "B"):
        yield {**call, "left": True}
        yield {**call, "B": call["B"].mT, "left": False}
        yield {**call, "B": call["B"][0, 0].expand(2, 3, 2), "left": True}


def triangular_solve(name):
    for call in triangles(name, "A", "self"):
        for transpose in (True, False):
            yield {**call, "transpose": transpose}


def linalg_cholesky_ex(name):
    indefinite = torch.diag(torch.tensor([4.0, 1.0, -1.0, 9.0], dtype=torch.float64))
    for x in (*layouts(definite, 2, 3, 3), indefinite, numbers(2, 0, 0), numbers(2, 3)):
        for upper in (True, False):
            yield {"self": x, "upper": upper, "check_errors": False}
    yield {"self": indefinite, "upper": False, "check_errors": True}


def cholesky_inverse(name):
    x = torch.linalg.cholesky(definite(2, 3, 3, dtype=torch.complex128))
    x = x + x.mH - torch.diag_embed(x.diagonal(dim1=-2, dim2=-1))
    if name.endswith("out"):
        for dtype in (torch.complex128, torch.complex64, torch.float64, torch.int64):
            for out in (torch.zeros(0, dtype=dtype), torch.zeros(4, dtype=dtype), torch.zeros(2, 3, 3, dtype=dtype)):
                yield {"self": x, "upper": False, "out": out}
        return
    for upper in (True, False):
        yield {"self": x, "upper": upper}
    for singular in (torch.diag(torch.tensor([1.0, 0.0, 2.0])), torch.eye(2).repeat(2, 1, 1).tril() - torch.eye(2)):
        yield {"self": singular, "upper": False}


def cholesky_solve(name):
    for x in layouts(numbers, 2, 3, 3):
        for upper in (True, False):
            yield {"self": numbers(3, 1, 3, 2, dtype=x.dtype), "input2": x, "upper": upper}


def linalg_qr(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 4), numbers(3, 0), numbers(2, 0, 3)):
        for mode in ("reduced", "complete", "r"):
            yield {"A": x, "mode": mode}
    yield {"A": numbers(3, 3), "mode": "full"}


def geqrf(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 4), numbers(3, 0)):
        yield {"self": x}


def linalg_householder_product(name):
    for x in layouts(numbers, 2, 4, 3):
        vectors, coefficients = torch.geqrf(x)
        yield {"input": vectors, "tau": coefficients}
        yield {"input": vectors, "tau": coefficients[:, :2]}
    yield {"input": numbers(3, 4), "tau": numbers(3)}


def ormqr(name):
    for x in layouts(numbers, 2, 4, 3):
        vectors, coefficients = torch.geqrf(x)
        other = numbers(2, 4, 5, dtype=x.dtype)
        for transpose in (True, False):
            kept = {"self": vectors, "input2": coefficients, "transpose": transpose}
            yield {**kept, "input3": other, "left": True}
            yield {**kept, "input3": other.mT, "left": False}
            yield {**kept, "input3": other.mT, "left": True}


def _linalg_eigh(name):
    for x in (*layouts(definite, 2, 4, 4), numbers(2, 0, 0), numbers(2, 3)):
        for triangle in ("L", "U"):
            for vectors in (True, False):
                yield {"A": x, "UPLO": triangle, "compute_v": vectors}
    yield {"A": numbers(3, 3), "UPLO": "X", "compute_v": True}


def linalg_eigvals(name):
    for x in (*layouts(numbers, 2, 4, 4), numbers(2, 0, 0), numbers(2, 3)):
        yield {"self": x}


linalg_eig = linalg_eigvals


def linalg_lstsq(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(2, 3, 4)):
        rows = x.shape[-2]
        for rights in (numbers(2, rows, 2, dtype=x.dtype), numbers(1, rows, 2, dtype=x.dtype), numbers(2, rows, dtype=x.dtype)):
            for driver in (None, "gels", "gelsd"):
                yield {"self": x, "b": rights, "rcond": None, "driver": driver}
    x, deficient = numbers(4, 3), numbers(4, 1) * numbers(1, 3)
    for of, rights, rcond, driver in (
        (deficient, numbers(4, 2), None, None), (x, numbers(4, 2), 0.5, "gelsy"), (x, numbers(3, 2), None, None),
        (x, numbers(4, 2).float(), None, None), (x, numbers(4, 2), None, "gelsx"), (x, numbers(2, 4, 2), None, None),
        (numbers(4, 0), numbers(4, 2), None, None), (numbers(0, 3), numbers(0, 2), None, "gelsd"),
    ):  # fmt: skip
        yield {"self": of, "b": rights, "rcond": rcond, "driver": driver}


def _linalg_svd(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 4), numbers(3, 0)):
        for full in (True, False):
            for vectors in (True, False):
                yield {"A": x, "full_matrices": full, "compute_uv": vectors, "driver": None}


def linalg_ldl_factor_ex(name):
    for x in layouts(definite, 2, 4, 4):
        for hermitian in (True, False):
            yield {"self": x - 3 * torch.eye(4), "hermitian": hermitian, "check_errors": False}
    # PyTorch has no words for an error with `check_errors`.
    yield {"self": torch.zeros(2, 2), "hermitian": False, "check_errors": False}


def linalg_ldl_solve(name):
    for call in linalg_ldl_factor_ex(name):
        if call["self"].ndim == 3:
            factors, pivots, _ = torch.linalg.ldl_factor_ex(call["self"], hermitian=call["hermitian"])
            # Batches that broadcast crash PyTorch.
            rights = numbers(2, 4, 2, dtype=factors.dtype)
            yield {"LD": factors, "pivots": pivots, "B": rights, "hermitian": call["hermitian"]}


def linalg_matrix_exp(name):
    for x in (*layouts(numbers, 2, 3, 3), numbers(1, 1), numbers(2, 0, 0), numbers(2, 3), numbers(3, 3) * 40):
        yield {"self": x}


def linalg_matrix_sqrth(name):
    for x in (*layouts(definite, 2, 3, 3), numbers(2, 0, 0), numbers(2, 3)):
        yield {"self": x}


def linalg_polar(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 0), numbers(2, 3)):
        yield {"A": x}


def linalg_matrix_power(name):
    for n in (-3, -1, 0, 1, 2, 3, 5, 6):
        for x in (numbers(2, 3, 3), by_columns(numbers(3, 3, dtype=torch.complex128))):
            yield {"self": x, "n": n}


def linalg_pinv(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(2, 3, 4), numbers(2, 0, 3)):
        for atol, rtol in ((None, None), (0.5, None), (None, 0.4)):
            yield {"self": x, "atol": atol, "rtol": rtol, "hermitian": False}
    yield {"self": definite(3, 3), "atol": None, "rtol": None, "hermitian": True}


linalg_matrix_rank = linalg_pinv


def linalg_cond(name):
    norms = ("fro", "nuc", "none") if name.endswith("p_str") else (None, 1, -1, float("inf"), -float("inf"), 2, -2, 3)
    for norm in norms:
        for x in (numbers(2, 3, 3), torch.ones(2, 2, dtype=torch.float64), numbers(2, 0, 0), numbers(2, 4, 3)):
            yield {"self": x, "p": norm}


def svd(name):
    for x in (*layouts(numbers, 2, 4, 3), numbers(3, 4)):
        for some in (True, False):
            for vectors in (True, False):
                yield {"self": x, "some": some, "compute_uv": vectors}


def linalg_tensorinv(name):
    for sizes, ind in (((2, 3, 6), 2), ((6, 2, 3), 1), ((2, 3, 5), 2), ((2, 2), 0)):
        yield {"self": numbers(*sizes), "ind": ind}


def linalg_tensorsolve(name):
    for sizes, of, dims in (((2, 3, 6), (2, 3), None), ((6, 2, 3), (6,), None), ((2, 6, 3), (2, 3), [1]), ((2, 3, 6), (6,), None)):
        yield {"self": numbers(*sizes), "other": numbers(*of), "dims": dims}


def linalg_vander(name):
    for x in (numbers(2, 3), numbers(2, 3, dtype=torch.complex64), torch.arange(3), numbers(1)[0], numbers(3) > 1):
        for count in (None, 2, 5, 1):
            yield {"x": x, "N": count}


def logdet(name):
    for x in (*layouts(numbers, 2, 3, 3), -torch.eye(3), torch.zeros(2, 2), numbers(2, 0, 0), numbers(2, 3)):
        yield {"self": x}


def linalg__powsum(name):
    whole = {"dim": None, "keepdim": False, "dtype": None}
    x = torch.tensor([[1, -2.0, 0, 0.5], [3, 1, -1, 4]], dtype=torch.float64)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.int64):
        for order in (2, 0, -1, 2.5, math.inf, -math.inf, math.nan, 1j):
            yield {"self": x.to(dtype), "ord": order, **whole, "dim": [0]}
    for dtype in (torch.float64, torch.float32, torch.complex64, torch.int64):
        yield {"self": x.float(), "ord": 3, **whole, "dtype": dtype}
        yield {"self": x.int(), "ord": 3, **whole, "dtype": dtype}
    for dim in (None, [], [0], [1], [0, 1], [0, 0], [2]):
        yield {"self": torch.zeros(0, 3), "ord": -1, **whole, "dim": dim, "keepdim": True}
    yield {"self": numbers(2, 3, 4).permute(2, 0, 1), "ord": 3, **whole, "dim": [1]}


def norm_except_dim(name):
    for x in (numbers(2, 3, 4), numbers(2, 3, 4, dtype=torch.complex128).permute(2, 0, 1), numbers(3).half(), numbers(0, 3)):
        for dim in range(-x.dim() - 1, x.dim() + 1):
            yield {"v": x, "pow": 2 + dim % 2, "dim": dim}
    yield {"v": torch.tensor(3.0), "pow": 2, "dim": 0}
    yield {"v": numbers(2, 3).int(), "pow": 2, "dim": 0}
