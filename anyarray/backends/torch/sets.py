"""Sets: unique values, and membership."""

from __future__ import annotations

import torch

from anyarray.backends.torch._kernel import (
    KIND,
    Native,
    bits,
    can_be_read,
    is_recorded,
    ordered,
    promoted,
    restored,
    with_bits,
)
from anyarray.backends.torch.searching import in_order, require_values


def _order(flat: Native) -> Native:
    """The stable order of a vector; of complex numbers by their parts."""
    if not flat.is_complex():
        return torch.sort(ordered(flat), stable=True)[1]
    by_imag = torch.sort(torch.imag(flat), stable=True)[1]
    by_real = torch.sort(torch.real(flat)[by_imag], stable=True)[1]
    return by_imag[by_real]


def _distinct(x: Native) -> tuple[Native, Native, Native, Native]:
    """Values, their first places, the inverse and counts; each NaN is one."""
    require_values("unique", x)
    flat = x.reshape(-1)
    order = _order(flat.detach())
    sequence = bits(flat.detach())[order]
    is_first = torch.ones(flat.shape, dtype=torch.bool, device=x.device)
    if flat.shape[0] > 1:
        is_first[1:] = sequence[1:] != sequence[:-1]
    places = torch.nonzero(is_first, as_tuple=True)[0]
    ends = torch.cat([places[1:], torch.full((min(1, flat.shape[0]),), flat.shape[0], device=x.device)])
    inverse = torch.empty_like(order)
    inverse[order] = torch.cumsum(is_first, 0) - 1
    first = order[places]
    values = bits(flat)[first]
    return with_bits(values, x.dtype), first, inverse.reshape(x.shape), ends - places


def unique_all(x: Native, /) -> tuple[Native, ...]:
    return _distinct(x)


def unique_counts(x: Native, /) -> tuple[Native, Native]:
    values, _, _, counts = _distinct(x)
    return values, counts


def unique_inverse(x: Native, /) -> tuple[Native, Native]:
    values, _, inverse, _ = _distinct(x)
    return values, inverse


def unique_values(x: Native, /) -> Native:
    if x.is_complex() or is_recorded(x):
        return _distinct(x)[0]
    require_values("unique", x)
    sequence = torch.sort(ordered(x.reshape(-1)), stable=True)[0]
    if sequence.shape[0] > 1:
        is_first = torch.ones(sequence.shape, dtype=torch.bool, device=x.device)
        torch.ne(sequence[1:], sequence[:-1], out=is_first[1:])
        sequence = sequence[is_first]
    return restored(sequence, x.dtype)


_SOUGHT = frozenset({torch.float32, torch.float64, torch.int32, torch.int64})
"""Dtypes that PyTorch's own function takes."""


def isin(x1: Native, x2: Native, /, *, invert: bool = False) -> Native:
    kinds = KIND[x1.dtype], KIND[x2.dtype]
    if torch.uint64 in (x1.dtype, x2.dtype) and "i" in kinds:
        # They promote to float64, which is not exact. As int64, a value below 0 is one that only one can hold.
        y1, y2 = (x.view(torch.int64) if x.dtype is torch.uint64 else x.to(torch.int64) for x in (x1, x2))
        found = _found(y1, y2) & (y1 >= 0)
    else:
        found = _found(*promoted(x1, x2))
    return ~found if invert else found


def _found(x1: Native, x2: Native) -> Native:
    if x1.dtype in _SOUGHT and can_be_read(x1) and can_be_read(x2):
        return torch.isin(x1, x2)
    if not x2.numel():
        return torch.zeros(x1.shape, dtype=torch.bool, device=x1.device)
    if x1.is_complex():
        return (x1[..., None] == x2.reshape(-1)).any(-1)
    keys = torch.sort(in_order(x2.reshape((x2.numel(),))))[0]
    sought = in_order(x1)
    at = torch.searchsorted(keys, sought.reshape((x1.numel(),))).clamp(max=keys.shape[0] - 1)
    found = torch.index_select(keys, 0, at).reshape(x1.shape) == sought
    return found & ~torch.isnan(x1) if x1.dtype.is_floating_point else found
