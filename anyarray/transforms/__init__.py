"""Function transforms and control flow.

The transforms `jit`, `grad`, `value_and_grad`, `jacobian` and `vmap` have the same names on every backend. A transform
runs where a call of the standard would: on the backend of the Arrays among the arguments, or on the chosen backend, to
which the arguments move. Arguments and results may be Arrays nested in tuples, lists, dicts, namedtuples and
dataclasses (pytrees). Everything else, such as a Python number, is a constant of the transformed function. 64-bit
dtypes, promotion and errors are the same inside and outside. Transforms compose in any order: `jit(vmap(grad(f)))`.

The loops and branches `cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `associative_scan` and `map` may depend on
values inside a transform, where Python's own cannot.
"""

from __future__ import annotations

from anyarray.transforms._control_flow import associative_scan, cond, fori_loop, map, scan, switch, while_loop  # noqa: A004 - jax.lax's name
from anyarray.transforms._derivatives import grad, jacobian, stop_gradient, value_and_grad
from anyarray.transforms._jit import jit
from anyarray.transforms._vmap import vmap

__all__ = [
    "associative_scan", "cond", "fori_loop", "grad", "jacobian", "jit", "map", "scan", "stop_gradient", "switch",
    "value_and_grad", "vmap", "while_loop",
]  # fmt: skip
