"""einops, by `einops.array_api`: Arrays in, Arrays on the same backend out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp

pytest.importorskip("einops")

import einops
from einops import array_api

pytestmark = pytest.mark.few_backends

DATA: Final = np.arange(2 * 3 * 4 * 6, dtype=np.float64).reshape(2, 3, 4, 6)

PATTERNS: Final = {
    "transpose": ("rearrange", "b c h w -> b h w c", {}),
    "flatten": ("rearrange", "b c h w -> b (c h w)", {}),
    "space to depth": ("rearrange", "b c (h h2) (w w2) -> b (c h2 w2) h w", {"h2": 2, "w2": 3}),
    "split the batch": ("rearrange", "(b1 b2) c h w -> b1 b2 c h w", {"b1": 2}),
    "new axes": ("rearrange", "b c h w -> b 1 c h w 1", {}),
    "mean pooling": ("reduce", "b c (h h2) (w w2) -> b c h w", {"h2": 2, "w2": 2, "reduction": "mean"}),
    "largest": ("reduce", "b c h w -> b c", {"reduction": "max"}),
    "smallest": ("reduce", "b c h w -> () c () ()", {"reduction": "min"}),
    "sum of all": ("reduce", "b c h w ->", {"reduction": "sum"}),
    "product": ("reduce", "b c h w -> b c h", {"reduction": "prod"}),
    "repeat along a new axis": ("repeat", "b c h w -> b c n h w", {"n": 3}),
    "repeat along an axis": ("repeat", "b c h w -> b c (h 2) (w 2)", {}),
}


@pytest.mark.parametrize("what", PATTERNS)
def test_einops_computes_on_arrays(what: str, backend: xp.Backend) -> None:
    name, pattern, options = PATTERNS[what]
    function: Callable[..., Any] = getattr(array_api, name)
    found = function(xp.asarray(DATA), pattern, **options)
    assert isinstance(found, xp.Array)
    assert found.device is backend
    np.testing.assert_allclose(np.asarray(found), getattr(einops, name)(DATA, pattern, **options), rtol=1e-14)


def test_einops_packs_and_unpacks_arrays(backend: xp.Backend) -> None:
    parts = [xp.asarray(DATA[0]), xp.asarray(DATA[0, 0])]
    packed, shapes = array_api.pack(parts, "* h w")
    assert packed.shape == (4, 4, 6)
    for part, found in zip(parts, array_api.unpack(packed, shapes, "* h w"), strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(part))
