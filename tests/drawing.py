"""Which backend beside NumPy runs a case marked `few_backends`."""

from __future__ import annotations

import zlib


def other_of(nodeid: str, backend: str, others: list[str], draw: str) -> str:
    """The one of `others` that runs a case named as on `backend`."""
    test, _, case = nodeid.removesuffix("]").partition("[")
    words = [word for word in case.split("-") if word != backend]
    return others[zlib.crc32(f"{test}{words}{draw}".encode()) % len(others)]
