"""Functions made of functions: compiled, differentiated, mapped over an axis.

Each has one name, whatever the backend. A transform runs where a call of the standard would: on the backend of the
Arrays among the arguments, which are brought there, or on the one that is chosen. Arrays may be nested in tuples,
lists, dicts, named tuples and dataclasses, also in results. Everything that is not an array, such as a Python number,
is a constant of the transformed function. 64 bits, promotion and errors are the same inside as outside. Transforms
compose in any order: `jit(vmap(grad(f)))`.
"""

from __future__ import annotations

from anyarray.transforms._derivatives import grad, jacobian, stop_gradient, value_and_grad
from anyarray.transforms._jit import jit
from anyarray.transforms._vmap import vmap

__all__ = ["grad", "jacobian", "jit", "stop_gradient", "value_and_grad", "vmap"]

for _function in (grad, jacobian, jit, stop_gradient, value_and_grad, vmap):
    _function.__module__ = __name__  # where users find it
