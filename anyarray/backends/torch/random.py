"""What random numbers need of the library: a derivative."""

from __future__ import annotations

import math
from typing import Final

import torch

from anyarray.backends.torch._kernel import Native, is_recorded
from anyarray.backends.torch._slopes import sloped


def random_gammas(a: Native, drawn: Native, /) -> Native:
    return _differentiable(a, drawn) if is_recorded(a, drawn) else drawn.clone()


def _slope(a: Native, drawn: Native) -> Native:
    """The derivative of the quantile `drawn`, of float64, by the shape.

    It is the quotient of those of the distribution function, by the shape and by the number. PyTorch has none by the
    shape, and no batching rule for `torch._standard_gamma_grad`, which gives four digits: so it is taken by differences
    of the fourth order.
    """
    step = 2.0**-10 * torch.minimum(a, torch.sqrt(a))
    # In either tail the differences are those of the smaller part, which has more digits.
    is_lower = drawn < a
    below, above = (
        8 * (part(a + step, drawn) - part(a - step, drawn)) - (part(a + 2 * step, drawn) - part(a - 2 * step, drawn))
        for part in (torch.special.gammainc, torch.special.gammaincc)
    )
    by_shape = torch.where(is_lower, below, -above) / (12 * step)
    density = torch.exp((a - 1) * torch.log(drawn) - drawn - torch.lgamma(a))
    return torch.where((drawn > 0) & (density > 0), -by_shape / density, 0 * drawn)


def _kept(a: Native, drawn: Native) -> Native:
    # Of both, as a result without the batch axis of `a` would get the sum of the slopes of all elements.
    return torch.where(a > 0, drawn, math.nan)


_differentiable: Final = sloped(_kept, _slope, lambda a, drawn: torch.zeros_like(drawn))
