"""The files of a backend's folder, and the functions in each.

There is a file for each chapter of the standard. It may have other public names, for other files of the folder.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

FUNCTIONS: Final = {
    "creation": (
        "arange empty empty_like eye full full_like linspace meshgrid ones ones_like tril triu zeros zeros_like"
    ),
    "data_types": "astype bitcast",
    "elementwise": (
        "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or "
        "bitwise_right_shift bitwise_xor ceil clip complex_of conj copysign cos cosh cube divide equal exp expm1 "
        "floor floor_divide gcd greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p "
        "log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter "
        "not_equal positive pow real reciprocal remainder root round sign signbit sin sinh sqrt square subtract tan "
        "tanh trunc"
    ),
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
    "indexing": "getitem setitem take take_along_axis",
    "linalg": (
        "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matrix_norm matrix_power matrix_rank outer pinv qr "
        "slogdet solve svd svdvals trace vector_norm"
    ),
    "linear_algebra": "dot einsum inner matmul matrix_transpose tensordot vecdot",
    "manipulation": (
        "broadcast_arrays broadcast_to concat expand_dims flip matrix_transpose moveaxis permute_dims repeat reshape "
        "roll squeeze stack tile unstack"
    ),
    "random": "random_gammas",
    "searching": "argmax argmin bincount count_nonzero nonzero searchsorted where",
    "sets": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistical": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}
"""The functions of each file. Others come from the library's namespace, or are composed."""


def functions(package: str) -> dict[str, Any]:
    """The functions of a backend by name, from the files of its folder."""
    found: dict[str, Any] = {}
    for chapter, names in FUNCTIONS.items():
        own = vars(importlib.import_module(f"{package}.{chapter}"))
        found.update({name: own[name] for name in names.split() if name in own})
    return found
