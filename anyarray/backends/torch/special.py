"""Special functions of PyTorch that are accurate to a few units.

Of its others, some lose digits, and they are composed of other functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from anyarray.backends._shared.blocks import in_blocks

entr = torch.special.entr
erf = torch.special.erf
erfc = torch.special.erfc
erfinv = torch.special.erfinv
expit = torch.special.expit
gammaln = torch.special.gammaln
i0e = torch.special.i0e
i1e = torch.special.i1e
k0 = torch.special.modified_bessel_k0
k0e = torch.special.scaled_modified_bessel_k0
k1 = torch.special.modified_bessel_k1
k1e = torch.special.scaled_modified_bessel_k1
ndtri = torch.special.ndtri
xlog1py = torch.special.xlog1py
xlogy = torch.special.xlogy


def composed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A composed function, of blocks where nothing is traced or compiled."""
    in_parts = in_blocks(
        function, lambda x, shape: x.expand(shape).reshape(-1), lambda blocks, shape: torch.cat(blocks).reshape(shape)
    )
    return lambda *xs: function(*xs) if torch.compiler.is_compiling() else in_parts(*xs)
