"""The names and signatures of anyarray 1, which every 1.x keeps.

Write `import anyarray.stable.v1 as xp` in a library that should work with every 1.x. A name that anyarray 2.0 drops or
changes stays here unchanged. `docs/stability.md` says what may change, and tests compare the names with a recorded
list.
"""

import anyarray as _anyarray
from anyarray import *
from anyarray import typing

__all__ = [*_anyarray.__all__, "typing"]  # pyright: ignore[reportUnsupportedDunderAll]
