"""`run`: run a program in which `import numpy` means `anyarray.numpy`.

A finder of modules gives those of the program an `__import__` of their own. It changes no file and no other module: a
library that the program imports keeps NumPy.
"""

from __future__ import annotations

import argparse
import builtins
import importlib
import importlib.abc
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any, Final

import numpy as np

import anyarray


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a NumPy program unchanged, with NumPy replaced by anyarray.numpy",
        description="Run a NumPy program unchanged: `import numpy` gives anyarray.numpy in the script, in the modules "
        "of its folder, and in those that --modules names. All other modules keep NumPy. Arrays print as in NumPy.",
    )
    parser.add_argument("--backend", metavar="NAME", help="the backend, such as jax; default: ANYARRAY_BACKEND")
    parser.add_argument(
        "--modules",
        metavar="NAMES",
        default="",
        help="other modules and packages in which NumPy is replaced, such as pkg1,pkg2.sub",
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is a module, as for python -m")
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or a folder with a __main__.py")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the arguments of the script")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the program; gives its exit status."""
    script: str = options.script
    if not options.is_module and not Path(script).exists():
        print(f"run: {script}: there is no such file", file=sys.stderr)
        return 2
    path = Path(script).resolve()
    folder = os.getcwd() if options.is_module else str(path if path.is_dir() else path.parent)
    names = {*filter(None, options.modules.split(",")), *([script.partition(".")[0]] if options.is_module else [])}
    finder = Replacing(names, folder)
    arguments, first = sys.argv, sys.path[0]
    if options.backend:
        anyarray.set_default_backend(options.backend)
    sys.argv, sys.path[0] = [script, *options.arguments], folder
    sys.meta_path.insert(0, finder)
    np.set_printoptions(override_repr=as_numpy_prints)
    try:
        if options.is_module:
            runpy.run_module(script, {"__builtins__": REPLACED}, "__main__", alter_sys=True)
        else:
            runpy.run_path(script, {"__builtins__": REPLACED}, "__main__")
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    finally:
        np.set_printoptions(override_repr=None)
        sys.meta_path.remove(finder)
        sys.argv, sys.path[0] = arguments, first
    return 0


def imported(
    name: str,
    globals: Mapping[str, object] | None = None,  # noqa: A002 - as that of `__import__`
    locals: Mapping[str, object] | None = None,  # noqa: A002
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """As `__import__`, with `anyarray.numpy` in the place of NumPy."""
    if level or name.partition(".")[0] != "numpy":
        return _import(name, globals, locals, fromlist or (), level)
    found = _import("anyarray." + name, globals, locals, fromlist or (), level)
    return found if fromlist else found.numpy


_import: Final = builtins.__import__
REPLACED: Final = {**vars(builtins), "__import__": imported}
"""The builtins of a module in which NumPy is replaced."""


class Replacing(importlib.abc.MetaPathFinder):
    """Finds the modules in which NumPy is replaced.

    These are the named ones, those in them, and those of a folder.
    """

    def __init__(self, names: set[str], folder: str) -> None:
        self._names = names
        self._folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The specification that others find, with a loader of ours."""
        top = name.partition(".")[0]
        if top in ("anyarray", "numpy") or not (self._is_named(name) or PathFinder.find_spec(top, [self._folder])):
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if type(spec.loader) is SourceFileLoader:
                    spec.loader = Loader(spec.loader.name, spec.loader.path)
                return spec
        return None

    def _is_named(self, name: str) -> bool:
        return any(name == one or name.startswith(one + ".") for one in self._names)


class Loader(SourceFileLoader):
    """Loads a module of Python source in which NumPy is replaced."""

    def exec_module(self, module: Any) -> None:
        """Give the module its own builtins, and run it."""
        module.__builtins__ = REPLACED
        super().exec_module(module)


def as_numpy_prints(x: Any) -> str:
    """What NumPy prints of an array with these values."""
    with np.printoptions(override_repr=None):
        host = np.asarray(x)
        return repr(host if host.ndim else host[()])
