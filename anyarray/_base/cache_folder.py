"""The folder where a user's caches are, which each system has elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def cache_folder() -> Path:
    r"""The folder for anyarray in the user's cache folder.

    That is `%LOCALAPPDATA%\anyarray\Cache` on Windows, `~/Library/Caches/anyarray` on macOS and
    `$XDG_CACHE_HOME/anyarray`, by default `~/.cache/anyarray`, elsewhere.
    Raises RuntimeError for a user without a home.
    """
    from pathlib import Path  # 4 ms, so not at `import anyarray`

    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "anyarray" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "anyarray"
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one is not valid, by the specification
    return (named if named.is_absolute() else Path.home() / ".cache") / "anyarray"
