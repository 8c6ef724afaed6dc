"""Brings in JAX, modest with GPU memory."""

from __future__ import annotations

__all__ = ["jax"]

import os
import sys

# JAX takes three quarters of a GPU's memory at first use and leaves none for another library. It is told not to,
# unless it is imported already or the user has said how it shall allocate.
if "jax" not in sys.modules and not any(name.startswith("XLA_PYTHON_CLIENT_") for name in os.environ):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax
