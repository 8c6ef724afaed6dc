"""The part of the build that pyproject.toml has no words for: the compiled calls."""

import sysconfig
from pathlib import Path

import numpy as np
from setuptools import Extension, setup

SOURCES = Path("anyarray", "_call", "c")

# Without a compiler, or with one that fails, the package is as it is, and its calls take longer.
speedups = Extension(
    "anyarray._speedups",
    sorted(str(file) for file in SOURCES.glob("*.c")),
    depends=[str(file) for file in SOURCES.glob("*.h")],
    include_dirs=[np.get_include()],
    optional=True,
)

setup(ext_modules=[] if sysconfig.get_config_var("Py_GIL_DISABLED") else [speedups])
