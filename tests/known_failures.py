"""Tests that fail for a known reason, which is given with a link.

The reasons stand by the name of the file and of the test. The marks are strict: a test that passes again fails until it
is taken off the list. A row is such as

    "test_indexing.py::test_reading_gives_what_numpy_gives[jax-masks]": "what JAX does instead. https://..."
"""

from __future__ import annotations

from typing import Final

KNOWN_FAILURES: Final[dict[str, str]] = {}
