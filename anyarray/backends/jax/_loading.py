"""Imports JAX, without preallocation of GPU memory."""

from __future__ import annotations

__all__ = ["jax"]

import os
import sys

# By default JAX preallocates three quarters of a GPU's memory at first use, which starves other libraries. We disable
# that, unless JAX is imported already or the user has configured its allocator.
if "jax" not in sys.modules and not any(name.startswith("XLA_PYTHON_CLIENT_") for name in os.environ):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax
