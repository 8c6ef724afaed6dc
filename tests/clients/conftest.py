"""Libraries of others that take any array of the standard.

They are called with Arrays of each backend.
"""

from __future__ import annotations

import os
import sys

import pytest

# SciPy reads it once, when it is imported; JAX imports SciPy. Set in time if these tests run by themselves.
if "scipy" not in sys.modules:
    os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("SCIPY_ARRAY_API"):
        late = pytest.mark.skip(reason="SCIPY_ARRAY_API was not set before SciPy was imported")
        for item in items:
            if "clients" in item.path.parts and item.path.stem in ("test_scipy", "test_scikit_learn"):
                item.add_marker(late)
