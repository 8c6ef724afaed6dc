"""Creation functions."""

from __future__ import annotations

from typing import Any, Final

import torch

from anyarray.backends._shared.axes import grid_axes, near_diagonal, progression
from anyarray.backends.torch._kernel import KIND, SIGNED, Native, cast, on_bits


def empty(shape: tuple[int, ...], /, *, dtype: Any, device: Any = None) -> Native:
    return torch.empty(shape, dtype=dtype, device=device)


def zeros(shape: tuple[int, ...], /, *, dtype: Any, device: Any = None) -> Native:
    return torch.zeros(shape, dtype=dtype, device=device)


def ones(shape: tuple[int, ...], /, *, dtype: Any, device: Any = None) -> Native:
    return torch.ones(shape, dtype=dtype, device=device)


def full(shape: tuple[int, ...], fill_value: Any, /, *, dtype: Any, device: Any = None) -> Native:
    if isinstance(fill_value, torch.Tensor):
        return cast(fill_value, dtype).expand(shape).clone(memory_format=torch.contiguous_format)
    if dtype is torch.uint64 and fill_value >= 1 << 63:  # a number of PyTorch's has 64 bits and a sign
        return torch.full(shape, int(fill_value) - (1 << 64), dtype=torch.int64, device=device).view(dtype)
    return torch.full(shape, fill_value, dtype=dtype, device=device)


_ROWS: Final = torch.contiguous_format


def empty_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return torch.empty_like(x, dtype=dtype, device=device, memory_format=_ROWS)


def zeros_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return torch.zeros_like(x, dtype=dtype, device=device, memory_format=_ROWS)


def ones_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return torch.ones_like(x, dtype=dtype, device=device, memory_format=_ROWS)


def full_like(x: Native, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Native:
    return full(tuple(x.shape), fill_value, dtype=dtype or x.dtype, device=device or x.device)


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any, device: Any = None) -> Native:
    if stop is None:
        start, stop = 0, start
    if (
        dtype in _COUNTED
        and type(start) is type(stop) is type(step) is int
        and step > 0
        and -_FAR < start <= stop < _FAR
    ):
        return torch.arange(start, stop, step, dtype=dtype, device=device)
    first, by, length = progression(start, stop, step, is_integer=KIND[dtype] in "iu")
    if type(first) is float:
        return cast(_ramp(first, by, length, device), dtype)
    end = first + length * by
    if dtype in _COUNTED and -_FAR < first < _FAR and -_FAR < end < _FAR:
        return torch.arange(first, end, by, dtype=dtype, device=device)
    # Modulo 2**64, which covers the full range of every integer dtype, and negative steps.
    found = torch.arange(length, device=device) * _within(int(by)) + _within(int(first))
    return found.view(dtype) if dtype is torch.uint64 else found.to(dtype)


_COUNTED = frozenset({torch.int32, torch.int64})
"""Integers in which PyTorch counts."""
_FAR = 1 << 31
"""A bound below which integers have no need of wrapping around."""


def _within(value: int) -> int:
    """An integer modulo 2**64, as a signed one."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _ramp(start: complex, step: complex, length: int, device: Any) -> Native:
    """`start + step * [0, 1, 2, ...]`, of 64 bits, each product rounded."""
    dtype = torch.complex128 if isinstance(start, complex) or isinstance(step, complex) else torch.float64
    line = torch.arange(length, dtype=torch.float64, device=device)
    if dtype is torch.float64:
        return line.mul_(step).add_(start)
    return line.to(dtype) * step + start


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any, device: Any = None, endpoint: bool = True
) -> Native:
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, not {num}")
    intervals = max(num - 1 if endpoint else num, 1)
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    number: Any = complex if is_complex else float
    start, stop = number(start), number(stop)
    step = (stop - start) / intervals
    if step:
        line = _ramp(start, step, num, device)
    else:  # the width is 0, or underflows when divided
        line = _ramp(0.0, 1.0, num, device) / intervals * (stop - start) + start
    if endpoint and num > 1:
        line[-1] = stop
    return cast(torch.floor(line) if KIND[dtype] in "iu" else line, dtype)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any, device: Any = None) -> Native:
    n_cols = n_rows if n_cols is None else n_cols
    if not k and dtype not in SIGNED:
        return torch.eye(n_rows, n_cols, dtype=dtype, device=device)
    x = torch.zeros((n_rows, n_cols), dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        torch.diagonal(x, k).fill_(1)
    return x


@on_bits
def tril(x: Native, /, *, k: int = 0) -> Native:
    return torch.tril(x, near_diagonal(x.shape, k))


@on_bits
def triu(x: Native, /, *, k: int = 0) -> Native:
    return torch.triu(x, near_diagonal(x.shape, k))


def meshgrid(*arrays: Native, indexing: str = "xy") -> tuple[Native, ...]:
    flat = [x.reshape(-1) for x in arrays]
    axes = grid_axes(len(flat), indexing)
    shape = [flat[axis].shape[0] for axis in axes]
    grids = []
    for x, axis in zip(flat, axes, strict=True):
        along = x.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        grids.append(along.expand(shape).clone(memory_format=torch.contiguous_format))
    return tuple(grids)
