"""Environment variables that users set for us."""

from __future__ import annotations

import os
from typing import Final

OFF: Final = ("off", "0", "no", "false")
"""The values that turn a feature off."""


def variable(name: str) -> str:
    """The value of a variable, or "".

    Spaces around it are stripped: on Windows, `set NAME=value && ...` leaves one.
    """
    return os.environ.get(name, "").strip()


def is_off(name: str) -> bool:
    """Whether a variable turns its feature off."""
    return variable(name).lower() in OFF
