"""`jit`: a function becomes a graph, which TorchInductor compiles.

The function runs once on fake tensors, which have dtypes and shapes but no values, and its operations are recorded. So
Python code runs as it is: PyTorch's own tracer, TorchDynamo, would stop at each compiled call of ours.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sysconfig
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from anyarray._base.errors import ArgumentIndexError, LinAlgError
from anyarray.backends.torch._kernel import Native, derivatives, is_recorded, is_transformed, outside_traces
from anyarray.backends.torch._loading import load_triton

__all__ = ["can_compile", "in_graph", "jitted"]

_OFF: Final = os.environ.get("TORCH_COMPILE_DISABLE", "0") not in ("", "0")
"""Whether the user has turned compilation off, by PyTorch's own variable: graphs are run as they are then."""


def can_compile() -> bool:
    """Whether there is what TorchInductor needs: a C++ compiler."""
    if _OFF:
        return True
    compilers = (os.environ.get("CXX", ""), "g++", "clang++", "c++")
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    return has_headers and any(name and shutil.which(name) for name in compilers)


_lock: Final = threading.RLock()
"""Held while a function is traced or compiled: PyTorch keeps the state of both in globals."""
_MOST: Final = 256
"""The most combinations of dtypes and shapes of one function that are kept."""


def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled for each combination of dtypes and shapes.

    Inside a transform, a trace or a derivative it is part of that, and runs as it is.
    """
    made: dict[Any, Callable[..., Any]] = {}

    def called(*xs: Native) -> Any:
        is_derived = derivatives.get() or (torch.is_grad_enabled() and is_recorded(*xs))
        if is_transformed() or torch._C._len_torch_dispatch_stack() or is_derived:
            return function(*xs)
        key = tuple([(x.dtype, x.shape, x.device) for x in xs])
        run = made.get(key)
        if run is None:
            with _lock:
                run = made.get(key)
                if run is None:
                    if len(made) >= _MOST:
                        made.clear()
                    run = made[key] = _compiled(function, xs)
        return run(*xs)

    return called


def _compiled(function: Callable[..., Any], xs: Sequence[Native]) -> Callable[..., Any]:
    load_triton()
    from torch.fx.experimental.proxy_tensor import make_fx  # 1 s, with SymPy

    is_one = True
    modes: set[Any] = set()

    def flat(*fakes: Native) -> list[Native]:
        nonlocal is_one
        modes.update([one.fake_mode for one in fakes])
        found = function(*fakes)
        is_one = isinstance(found, torch.Tensor)
        seen = {one.untyped_storage()._cdata for one in fakes}
        results: list[Native] = []
        for one in [found] if is_one else found:
            # What is returned is new memory: an Array that is written must not be seen in another.
            storage = one.untyped_storage()._cdata
            if _is_fake(one):
                modes.add(one.fake_mode)
            results.append(one.clone() if storage in seen or not _is_fake(one) else one)
            seen.add(storage)
        return results

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = make_fx(flat, tracing_mode="fake", _allow_non_fake_inputs=True)(*[x.detach() for x in xs])
    run = _built(graph, xs)
    for mode in modes:  # what was kept of the trace has no value
        mode.dispatch = _refuse
    if is_one:
        return lambda *xs: run(*xs)[0]
    return lambda *xs: list(run(*xs))


class _Lifting(torch.overrides.TorchFunctionMode):  # type: ignore[misc]  # a class of the library, which is Any
    """Makes what is no part of a trace, as our constants are, constants of it.

    A graph refers to the memory of such a tensor, which may be NumPy's, so it gets a copy.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ != "__get__":  # of an attribute
            args = torch.utils._pytree.tree_map(_lifted, args)
        return func(*args, **(kwargs or {}))


def _lifted(x: Any) -> Any:
    if type(x) is not torch.Tensor or torch._is_functional_tensor(x) or is_transformed():
        return x
    with outside_traces():
        copy = x.clone()
    return torch.ops.aten.lift_fresh_copy.default(copy)


def in_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, of which TorchDynamo takes the operations into its graph.

    It does not read the code, ours and the user's, but runs it on tensors without values.
    """

    def whole(*args: Any, **kwargs: Any) -> Any:
        if not torch._C._len_torch_dispatch_stack():  # where the function has no graph, it is run as it is
            return torch._dynamo.disable(function)(*args, **kwargs)
        with _Lifting():
            return function(*args, **kwargs)

    load_triton()
    return torch._dynamo.nonstrict_trace(whole)


def _refuse(*_: Any) -> Any:
    raise RuntimeError("a tensor has escaped from the trace in which it was made")


def _is_fake(x: Native) -> bool:
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(x, FakeTensor)


def _built(graph: Any, xs: Sequence[Native]) -> Callable[..., Any]:
    """The graph, compiled, or as it is if TorchInductor cannot."""
    graph.eval()
    if _OFF or not xs:
        return _without_gradient(graph)
    try:
        with torch.no_grad(), warnings.catch_warnings(), _shapes(graph):
            warnings.simplefilter("ignore")  # of complex numbers it warns that it leaves them to others
            # `torch.compile` calls this, after 30 us of guards in each call that are not needed here.
            compiled = torch._inductor.compile(graph, list(xs))
            compiled(*xs)
    except Exception:  # noqa: BLE001 - the graph itself raises what is wrong with the function
        return _without_gradient(graph)
    return _without_gradient(compiled)


def _shapes(graph: Any) -> Any:
    """The context in which TorchInductor can compile the loops of a graph.

    Their turns have numbers that are not known, for which it needs symbols.
    """
    if not any(isinstance(node.target, torch._ops.HigherOrderOperator) for node in graph.graph.nodes):
        return contextlib.nullcontext()
    from torch._subclasses.fake_tensor import FakeTensorMode

    symbols = importlib.import_module("torch.fx.experimental.symbolic_shapes").ShapeEnv()
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=symbols, static_shapes=True)
    return torch._guards.tracing(torch._guards.TracingContext(mode))


def _without_gradient(run: Callable[..., Any]) -> Callable[..., Any]:
    def called(*xs: Native) -> Any:
        try:
            if not torch.is_grad_enabled():
                return run(*xs)
            with torch.no_grad():
                return run(*xs)
        except IndexError as error:
            raise ArgumentIndexError(_OUT_OF_BOUNDS) from error
        except _LinAlgError as error:
            reason = str(error).partition(" (")[0].removeprefix("linalg.").rstrip(".")
            raise LinAlgError(f"jit: a matrix in the function will not do: {reason}") from error
        except RuntimeError as error:
            if "bounds" not in str(error):
                raise
            raise ArgumentIndexError(_OUT_OF_BOUNDS) from error

    return called


_OUT_OF_BOUNDS: Final = "jit: an index in the function is out of bounds. Call it without jit to see which"
_LinAlgError: Any = torch.linalg.LinAlgError
