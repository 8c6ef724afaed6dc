"""Universal functions, with `out=`, `where=` and methods as `np.add.at`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from anyarray._array import complex_order
from anyarray._array.array import Array
from anyarray._base import dtypes, errors
from anyarray._call import compiled, dispatch
from anyarray.extensions import histograms as counted
from anyarray.numpy import _options
from anyarray.numpy._entrance import NUMBERS, F, as_array, at_once, brought, decides, in_numpy, instead
from anyarray.numpy._itself import values_of
from anyarray.standard import namespace as xp

_SCALARS: Final = frozenset({bool, int, float, complex})
_NUMBERS: Final = _SCALARS | {np.dtype(code).type for code in "?bhilqBHILQefdFD"}
"""Classes of numbers, of which NumPy makes a number."""
_DIRECT: Final = frozenset({Array, *_SCALARS})
_NESTS: Final = frozenset({list, tuple})
_REDUCTIONS: Final = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_ACCUMULATIONS: Final = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
_ASSOCIATIVE: Final = frozenset({
    "bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "gcd", "hypot", "lcm", "logaddexp", "logaddexp2",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum",
})  # fmt: skip
"""Functions for which (a b) c is a (b c) to the last digits: they are accumulated in steps of powers of two."""


_METHODS: Final = ("accumulate", "at", "outer", "reduce", "reduceat")


def _named_as(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an object as a function of that name."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    function.__name__ = name
    return function


def _or_in_numpy(method: F) -> F:
    """Let NumPy's method of the ufunc compute what no other library has."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except errors.ArgumentTypeError as refusal:
            return instead(refusal, getattr(self._theirs, method.__name__), args, kwargs)

    return called  # type: ignore[return-value]  # is called as `method` is


class ufunc(compiled.Called):  # type: ignore[misc]  # noqa: N801 - a class in C; NumPy's name
    """A universal function of NumPy, on every backend: `np.add` and the like.

    `nin`, `nout`, `identity` and the methods are those of `numpy.ufunc`.
    """

    def __init__(self, name: str, theirs: np.ufunc, ours: Callable[..., Any], first: Callable[..., Any] | None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"As `numpy.{name}`, on every backend.\n\n{inspect.getdoc(theirs) or ''}"
        self.__module__ = "anyarray.numpy"
        self.__signature__ = _signature(theirs)
        self._theirs: Any = theirs
        self._ours = ours
        self._identity = theirs.identity
        self.nin, self.nout, self.nargs = theirs.nin, theirs.nout, theirs.nargs
        self.ntypes, self.types = theirs.ntypes, theirs.types
        self.signature = theirs.signature

        def function(*args: Any, **kwargs: Any) -> Any:
            return self._in_python(*args, **kwargs)

        function.__name__ = name
        self._call = at_once(function, theirs, first, "u")
        for method in _METHODS:
            own: Any = functools.partial(getattr(ufunc, method), self)
            setattr(self, method, at_once(_named_as(method, own), getattr(theirs, method)))

    @property
    def identity(self) -> Any:
        """The number that changes no other, or None."""
        return self._identity

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__name__,)

    def _in_python(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _call_any(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The call with any arguments."""
        if not self.nin <= len(args) <= self.nargs:
            raise errors.ArgumentTypeError(
                f"{self.__name__}: takes from {self.nin} to {self.nargs} positional arguments, not {len(args)}"
            )
        options = dict(kwargs)
        if len(args) > self.nin:
            outs = args[self.nin :]
            options["out"] = outs if self.nout > 1 else outs[0]
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise errors.ArgumentTypeError(
                f"{self.__name__}: got an unexpected keyword argument {min(unknown)!r}. "
                f"The options are {', '.join(sorted(_OPTIONS))}"
            )
        if any(map(decides, args)):
            return in_numpy(self._theirs, args, kwargs)
        out, where, dtype = options.get("out"), options.get("where", True), options.get("dtype")
        if isinstance(out, tuple) and self.nout == 1:
            (out,) = out
        operands = [one if type(one) in _SCALARS else _operand(one) for one in args[: self.nin]]
        if all(isinstance(one, NUMBERS) for one in operands):
            if out is None and where is True:
                return brought(self._theirs(*operands, **{k: v for k, v in options.items() if k == "dtype"}))
            operands = [as_array(one) for one in operands]
        if any(isinstance(one, (np.ndarray, np.generic)) and dtypes.is_numpys_own(one) for one in operands):
            return in_numpy(self._theirs, args, kwargs)
        casting = options.get("casting", "same_kind")
        if dtype is not None:
            operands = [_cast(self.__name__, one, dtype, casting) for one in operands]
        if where is not True:
            return self._where(operands, as_array(where), out)
        if Array not in map(type, operands):
            operands = [as_array(one) for one in operands]
        result = self._ours(*operands)
        if out is None:
            return result
        shape = getattr(out, "shape", None)  # of a tuple of them there is none
        if shape is not None and result.shape != shape and np.broadcast_shapes(result.shape, shape) == shape:
            result = xp.broadcast_to(result, shape)
        return _options.out_by(self.__name__, out, options)(result)

    def _into(self, out: Array, operands: Sequence[Any]) -> Any:
        """The call with its result in `out`, mostly of its shape and dtype."""
        found = [self._ours(*operands)]
        if type(found[0]) is Array and found[0].shape == out.shape and found[0].dtype == out.dtype:
            out[...] = found.pop()  # a variable would keep a chain from being computed right there
            return out
        return self._call_any(operands, {"out": out})

    def _where(self, operands: Sequence[Any], where: Array, out: Any) -> Any:
        """Compute where the condition holds; elsewhere stays what `out` has.

        There the function gets 1, for which it warns of nothing, and whose derivatives are finite.
        """
        arrays = [as_array(one) for one in operands]
        result = self._ours(*[xp.where(where, one, xp.ones((), dtype=one.dtype)) for one in arrays])
        shape = np.broadcast_shapes(where.shape, (result[0] if isinstance(result, tuple) else result).shape)
        results = result if isinstance(result, tuple) else (result,)
        outs = out if isinstance(out, tuple) else (out,) * len(results)
        found = []
        for one, before in zip(results, outs, strict=True):
            if before is None:
                found.append(xp.where(where, one, xp.zeros(shape, dtype=one.dtype)))
            else:
                chosen = xp.where(where, xp.astype(one, before.dtype), before)
                found.append(_options.written(self.__name__, before, chosen))
        return tuple(found) if isinstance(result, tuple) else found[0]

    def _two(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise errors.ArgumentValueError(
                f"{self.__name__}.{method}: is for functions of two arguments with one result"
            )

    @_or_in_numpy
    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = np._NoValue, where: Any = True,
    ) -> Any:  # fmt: skip
        """The function applied over an axis; None means all axes."""
        self._two("reduce")
        x = as_array(array)
        name = _REDUCTIONS.get(self.__name__)
        if dtype is not None and self.__name__ not in ("add", "multiply"):
            x = xp.astype(x, dtype)
        if name is not None:
            options = {"axis": axis, "keepdims": keepdims, "out": out, "where": where}
            if initial is not np._NoValue:
                options["initial"] = initial
            if dtype is not None and name in ("sum", "prod"):
                options["dtype"] = dtype
            return getattr(Array, name)(x, **options)
        if where is not True:
            raise errors.ArgumentTypeError(f"{self.__name__}.reduce: where is not supported. Use np.where on the array")
        result = self._in_memory("reduce", x, axis=axis, keepdims=keepdims)
        if result is None:
            result = self._reduced(x, axis, keepdims)
        if initial is not np._NoValue:
            result = self._ours(result, initial)
        return result if out is None else _options.written(f"{self.__name__}.reduce", out, result)

    def _reduced(self, x: Array, axis: Any, keepdims: bool) -> Array:
        """The reduction by a function for which there is no other."""
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        for one in sorted({at % x.ndim for at in axes}, reverse=True):
            parts = xp.unstack(x, axis=one)
            if not parts:
                if self.identity is None:
                    raise errors.ArgumentValueError(
                        f"{self.__name__}.reduce: array must have elements on axis {one}, as there is no identity"
                    )
                total = xp.full_like(xp.sum(x, axis=one), self.identity)
            else:
                total = parts[0]
                for part in parts[1:]:
                    total = self._ours(total, part)
            x = xp.expand_dims(total, axis=one) if keepdims else total
        return x

    @_or_in_numpy
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results of all steps of `reduce` along an axis."""
        self._two("accumulate")
        x = as_array(array)
        name = _ACCUMULATIONS.get(self.__name__)
        if name is not None:
            result = getattr(xp, name)(x, axis=axis, dtype=dtype)
        else:
            result = self._in_memory("accumulate", x, axis=axis, dtype=dtype)
            if result is None:
                x = x if dtype is None else xp.astype(x, dtype)
                result = xp.moveaxis(self._accumulated(xp.moveaxis(x, axis, 0)), 0, axis)
        return result if out is None else _options.written(f"{self.__name__}.accumulate", out, result)

    def _in_memory(self, method: str, x: Array, *args: Any, **kwargs: Any) -> Array | None:
        """What NumPy's own method gives of an array that stays in NumPy.

        Elsewhere None: it is composed of calls of the function.
        """
        home, native = dispatch.home_of_array(self.__name__, x), x._native
        if home is not x._home or type(native) is not np.ndarray or home.is_traced(native):
            return None
        return dispatch.wrap(getattr(self._theirs, method)(native, *args, **kwargs), home)

    def _accumulated(self, x: Array) -> Array:
        """The accumulation along the first axis."""
        length = x.shape[0]
        if length == 0:
            return x
        if self.__name__ in _ASSOCIATIVE:
            step = 1
            while step < length:
                x = xp.concat([x[:step], self._ours(x[:-step], x[step:])], axis=0)
                step *= 2
            return x
        parts = [x[0]]
        for i in range(1, length):
            parts.append(self._ours(parts[-1], x[i]))
        return xp.stack(parts, axis=0)

    @_or_in_numpy
    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """The function of each element of A with each of B."""
        self._two("outer")
        a, b = as_array(A), as_array(B)
        if not kwargs and type(a) is type(b) is Array:
            return self._ours(a.reshape((*a.shape, *[1] * b.ndim)), b)
        return self._call_any((xp.reshape(a, (*a.shape, *[1] * b.ndim)), b), kwargs)

    def at(self, a: Array, indices: Any, b: Any = None, /) -> None:
        """Write the function of the elements at these indices over them.

        `b` is its second operand. An index that comes several times counts each time.
        """
        if type(a) is not Array:
            raise errors.ArgumentTypeError(
                f"{self.__name__}.at: a must be an Array, not {type(a).__name__}. Wrap it: np.asarray(a)"
            )
        if a.device.library == "numpy":
            self._theirs.at(np.asarray(a), *[values_of(one) for one in (indices, b) if one is not None])
            return
        if self.nout != 1 or (b is None) != (self.nin == 1):
            raise errors.ArgumentValueError(f"{self.__name__}.at: takes {self.nin + 1} arguments")
        flat = xp.reshape(xp.arange(a.size), a.shape)[indices]
        places = np.asarray(flat).ravel()
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if places.size else np.array([], int)
        turn = np.empty(places.size, int)  # how many times the index came before
        turn[order] = np.arange(places.size) - np.repeat(starts, np.diff(np.r_[starts, places.size]))
        whole = xp.reshape(a, (-1,))
        values = None if b is None else xp.reshape(xp.broadcast_to(as_array(b), flat.shape), (-1,))
        is_sum = values is not None and values.dtype.kind == "f" and self.__name__ in ("add", "subtract")
        if values is not None and is_sum and turn.max(initial=0) > _TURNS:
            whole = self._summed_at(whole, places, values)
        else:
            for n in range(int(turn.max(initial=-1)) + 1):
                chosen = np.flatnonzero(turn == n)
                at = xp.asarray(places[chosen])
                here = xp.take(whole, at)
                new = self._ours(here) if values is None else self._ours(here, xp.take(values, xp.asarray(chosen)))
                whole = xp.asarray(whole, copy=True)
                whole[at] = xp.astype(new, a.dtype)
        a[...] = xp.reshape(whole, a.shape)

    def _summed_at(self, whole: Array, places: np.ndarray[Any, Any], values: Array) -> Array:
        """The function of each element and of the sum of its values."""
        sums = counted.bincount(xp.asarray(places), weights=values, length=whole.size)
        at = xp.asarray(np.unique(places))
        whole = xp.asarray(whole, copy=True)
        whole[at] = xp.astype(self._ours(xp.take(whole, at), xp.take(sums, at)), whole.dtype)
        return whole

    @_or_in_numpy
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The reductions of the slices that begin at each of the indices."""
        self._two("reduceat")
        x = as_array(array)
        result = self._in_memory("reduceat", x, values_of(indices), axis=axis, dtype=dtype)
        if result is None:
            x = xp.moveaxis(x, axis, 0)
            starts = [int(one) for one in np.asarray(indices)]
            ends = [*starts[1:], x.shape[0]]
            parts = [
                self.reduce(x[start:end], axis=0, dtype=dtype) if start < end else x[start]
                for start, end in zip(starts, ends, strict=True)
            ]
            result = xp.moveaxis(xp.stack(parts, axis=0), 0, axis)
        return result if out is None else _options.written(f"{self.__name__}.reduceat", out, result)


class _OfOne(ufunc):
    """A universal function of one argument."""

    def _in_python(self, x: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            kind = type(x)
            if kind is Array:
                return self._ours(x)
            if kind in _NUMBERS:
                return self._theirs(x)
            if kind in _NESTS:
                array = as_array(x)
                if type(array) is Array:
                    return self._ours(array)
        elif type(x) is Array:
            out = _out_alone(args, kwargs)
            if out is not None:
                return self._into(out, (x,))
        return self._call_any((x, *args), kwargs)


class _OfTwo(ufunc):
    """A universal function of two arguments."""

    def _in_python(self, x1: Any, x2: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            one, two = type(x1), type(x2)
            if (one is Array and two in _DIRECT) or (two is Array and one in _SCALARS):
                return self._ours(x1, x2)
            if one in _NUMBERS and two in _NUMBERS:
                return self._theirs(x1, x2)
            if one in _NESTS or two in _NESTS:
                a, b = (as_array(x) if type(x) in _NESTS else x for x in (x1, x2))
                if (type(a) is Array and type(b) in _DIRECT) or (type(b) is Array and type(a) in _SCALARS):
                    return self._ours(a, b)
        elif type(x1) in _DIRECT and type(x2) in _DIRECT and not (type(x1) in _SCALARS and type(x2) in _SCALARS):
            out = _out_alone(args, kwargs)
            if out is not None:
                return self._into(out, (x1, x2))
        return self._call_any((x1, x2, *args), kwargs)


def _out_alone(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Array | None:
    """The array of `out`, by position or by name, if nothing else is given."""
    out = args[0] if len(args) == 1 and not kwargs else kwargs.get("out") if len(kwargs) == 1 and not args else None
    return out if type(out) is Array else None


def ufunc_of(name: str, theirs: np.ufunc, ours: Callable[..., Any]) -> ufunc:
    """The universal function of that name, which computes `ours`."""
    first = None if name.startswith("logical_") else ours
    if name.startswith("logical_"):
        ours = functools.partial(_of_truths, ours)
    if name in ("fmax", "fmin", "maximum", "minimum"):
        ours = _of_ordered(ours, name)
    if name in ("less", "less_equal", "greater", "greater_equal"):
        ours = _comparing(ours, name)
    return (_OfOne if theirs.nin == 1 else _OfTwo)(name, theirs, ours, first)


def _of_truths(ours: Callable[..., Any], *operands: Any) -> Any:
    """A logical function, for which any number that is not zero is true."""
    return ours(*[one if one.dtype.kind == "b" else one != 0 for one in map(as_array, operands)])


def _of_ordered(ours: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A maximum or minimum, for which complex numbers are in NumPy's order."""
    is_highest, leaves_nan_out = name.endswith(("max", "maximum")), name.startswith("f")

    def function(x1: Any, x2: Any, /) -> Any:
        try:
            return ours(x1, x2)
        except errors.ArgumentTypeError:
            return complex_order.extreme_of_two(x1, x2, is_highest=is_highest, leaves_nan_out=leaves_nan_out)

    return function


def _comparing(ours: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A comparison, for which complex numbers are in NumPy's order."""

    def function(x1: Any, x2: Any, /) -> Any:
        try:
            return ours(x1, x2)
        except errors.ArgumentTypeError:
            complex_order.require_complex(x1, x2)
            return complex_order.compared(name, x1, x2)

    return function


_TURNS: Final = 64
"""How many turns of writes are made before values are added up first."""
_OPTIONS: Final = {"out", "where", "casting", "order", "dtype", "subok", "signature", "axes", "axis", "keepdims"}


def _cast(name: str, operand: Any, dtype: Any, casting: str) -> Array:
    """An operand in the dtype in which the function is computed."""
    if type(operand) in _SCALARS and np.result_type(dtype, operand) == dtype:
        return xp.asarray(operand, dtype=dtype)
    x = as_array(operand)
    if not np.can_cast(np.dtype(x.dtype), dtype, casting):  # type: ignore[arg-type]  # NumPy checks it
        raise errors.ArgumentTypeError(
            f"{name}: an argument of dtype {x.dtype} cannot be cast to {np.dtype(dtype)} by the rule {casting!r}. "
            "Cast it: x.astype(...)"
        )
    return xp.astype(x, dtype)


def _operand(value: Any) -> Any:
    return value if isinstance(value, NUMBERS) else as_array(value)


def _signature(theirs: np.ufunc) -> inspect.Signature:
    try:
        return inspect.signature(theirs)
    except ValueError:  # before NumPy 2.4
        p = inspect.Parameter
        names = ["x"] if theirs.nin == 1 else [f"x{i + 1}" for i in range(theirs.nin)]
        positional = [p(name, p.POSITIONAL_ONLY) for name in names]
        options = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
        keyword = [p(name, p.KEYWORD_ONLY, default=value) for name, value in options.items()]
        return inspect.Signature([*positional, p("out", p.POSITIONAL_OR_KEYWORD, default=None), *keyword])


def _named(name: str) -> Any:
    import anyarray.numpy

    return getattr(anyarray.numpy, name)
