"""Default hooks for a backend whose namespace follows the standard."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._registry.home import POWERS, Native, declare


def _from_numpy(namespace: Any, a: np.ndarray[Any, Any], device: Any) -> Native:
    return namespace.asarray(np.array(a, order="C"), device=device)


def _to_numpy(x: Native) -> np.ndarray[Any, Any]:
    return np.asarray(np.from_dlpack(x) if hasattr(x, "__dlpack__") else x)


def _complete(x: Native, key: Any) -> Any:
    """The key, with `...` appended if it has fewer entries than `x` has axes.

    The standard requires it: without `...` such a key is unspecified.
    """
    entries = key if type(key) is tuple else (key,)
    is_basic = all(type(one) in (int, slice) or one is None for one in entries)
    return (*entries, Ellipsis) if is_basic and sum(one is not None for one in entries) < len(x.shape) else key


def _setitem(namespace: Any, x: Native, key: Any, value: Native, exclusive: bool) -> Native:
    x = namespace.asarray(x, copy=True)  # even if `exclusive`: a view may refer to the memory of x but not to x itself
    x[_complete(x, key)] = namespace.astype(value, x.dtype)
    return x


DEFAULT_HOOKS: Final[dict[str, Callable[[Any], Callable[..., Any]]]] = {
    "devices": lambda namespace: lambda: {"cpu": [namespace.__array_namespace_info__().default_device()]},
    "device_of": lambda namespace: operator.attrgetter("device"),
    "native_dtype": lambda namespace: functools.partial(getattr, namespace),
    "dtype_of": lambda namespace: operator.attrgetter("dtype"),
    "shape_of": lambda namespace: operator.attrgetter("shape"),
    "count_of": lambda namespace: len,
    "lengths_of": lambda namespace: operator.attrgetter("shape"),
    "is_traced": lambda namespace: lambda x: False,
    "plain": lambda namespace: lambda x: x,
    "to_numpy": lambda namespace: _to_numpy,
    "from_numpy": lambda namespace: functools.partial(_from_numpy, namespace),
    "address": lambda namespace: lambda x: None,
    "to_device": lambda namespace: lambda x, device: x.to_device(device),
    "scalar": lambda namespace: lambda value, dtype, device: namespace.asarray(value, dtype=dtype, device=device),
    "getitem": lambda namespace: lambda x, key: x[_complete(x, key)],
    "setitem": lambda namespace: functools.partial(_setitem, namespace),
    "exported": lambda namespace: lambda x: namespace.asarray(x, copy=True),
    "lent": lambda namespace: lambda x: x,
    "duplicate": lambda namespace: lambda x: namespace.asarray(x, copy=True),
    "scoped": lambda namespace: lambda function, device: function,
    "synchronize": lambda namespace: lambda x: None,
    "may_wait": lambda namespace: lambda *xs: True,
    "outside_traces": lambda namespace: contextlib.nullcontext,
    "result_dtype": lambda namespace: lambda function, *xs: function(*xs).dtype,
    "is_writable": lambda namespace: lambda x: True,
    "is_own": lambda namespace: lambda x: True,
    "is_replaced": lambda namespace: lambda x: False,
    "base_of": lambda namespace: lambda x: getattr(x, "base", None),
    "as_strided": lambda namespace: lambda x, function: None,
    "layout_of": lambda namespace: lambda x: x if hasattr(x, "strides") else None,
    "is_leak": lambda namespace: lambda error: False,
    "is_out_of_memory": lambda namespace: lambda error: isinstance(error, MemoryError),
    "memory": lambda namespace: lambda device: (None, None, None),
    "free_memory": lambda namespace: lambda: 0,
    "refusal_of": lambda namespace: lambda error: None,
}
"""Default hooks by name, each a function of the library's namespace."""

_OTHERS = ("bitcast", "complex_of", "from_dlpack", "stop_gradient")
for _internal in (*DEFAULT_HOOKS, *_OTHERS, *[name for name, _ in POWERS.values()]):
    declare(_internal)
