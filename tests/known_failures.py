"""Tests that fail for a known reason, each with a link; strict, so that a mended one must be taken off the list."""

from __future__ import annotations

from typing import Final

_JAX_INDICES = (
    "JAX would have to wait for the values of the indices; it reads NaN there. "
    "https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing"
)

KNOWN_FAILURES: Final = {
    **{
        f"test_indexing.py::test_an_index_array_out_of_range_is_an_index_error[jax-{place}]": _JAX_INDICES
        for place in ("take", "take_along_axis", "key")
    },
}
"""Reason by the name of the file and of the test."""
