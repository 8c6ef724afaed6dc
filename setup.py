"""The part of the build that pyproject.toml has no words for: the compiled calls.

The environment variable ANYARRAY_SPEEDUPS, by which they are left out at run time, is about the build, too: with `off`
they are not built, which makes a wheel for every platform, and with `required` a compiler that fails is an error.
"""

import os
import sysconfig
from pathlib import Path

import numpy as np
from setuptools import Extension, setup

SOURCES = Path("anyarray", "_speedups")
FOLDERS = ("core", "entry", "lazy", "numerics")
WANTED = os.environ.get("ANYARRAY_SPEEDUPS", "").strip()

# Without a compiler, or with one that fails, the package is as it is, and its calls take longer.
speedups = Extension(
    "anyarray._speedups",
    sorted(str(file) for file in SOURCES.rglob("*.c")),
    depends=[str(file) for file in SOURCES.rglob("*.h")],
    include_dirs=[np.get_include(), *[str(SOURCES / folder) for folder in FOLDERS]],
    libraries=[] if os.name == "nt" else ["m"],
    optional=WANTED != "required",
)

setup(ext_modules=[] if WANTED == "off" or sysconfig.get_config_var("Py_GIL_DISABLED") else [speedups])
