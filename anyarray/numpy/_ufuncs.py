"""Universal functions, with `out=`, `where=` and methods as `np.add.at`."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, SupportsIndex

import numpy as np

from anyarray._array import complex_order
from anyarray._array.array import Array
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DType
from anyarray._call import compiled
from anyarray._call.arguments import known_shape
from anyarray._call.operators import decides
from anyarray._call.placement import home_of_array
from anyarray._call.wrapping import wrap
from anyarray.extensions import histograms as counted
from anyarray.numpy._itself import values_of
from anyarray.numpy._wrapper import NUMBERS, as_array, at_once, brought, in_numpy
from anyarray.standard import namespace as xp

_SCALARS: Final = frozenset({bool, int, float, complex})
_NUMBERS: Final = _SCALARS | {np.dtype(code).type for code in "?bhilqBHILQefdFD"}
"""Classes of numbers, of which NumPy makes a number."""
_DIRECT: Final = frozenset({Array, *_SCALARS})
_NESTS: Final = frozenset({list, tuple})
_REDUCTIONS: Final = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_OF_BOOLS: Final = {"sum": "any", "prod": "all"}
"""Reductions in the dtype bool, in which NumPy adds and multiplies without counting."""
_ACCUMULATIONS: Final = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
_ASSOCIATIVE: Final = frozenset({
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "gcd", "hypot", "lcm", "logaddexp",
    "logaddexp2", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
})  # fmt: skip
"""Functions for which (a b) c is a (b c) to the last digits: they are accumulated in steps of powers of two."""
_METHODS: Final = {"accumulate": 1, "at": 1, "outer": 2, "reduce": 1, "reduceat": 1}
"""The methods of ufuncs, and how many of their first arguments are operands."""
_NO_VALUE: Final[Any] = np._NoValue


def _named_as(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an object as a function of that name."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    function.__name__ = name
    return function


class ufunc(compiled.Called):  # type: ignore[misc]  # noqa: N801 - a class in C; NumPy's name
    """A universal function of NumPy on every backend, such as `np.add`.

    `nin`, `nout`, `identity` and the methods are those of `numpy.ufunc`. NumPy's own ufunc applies the rules: for a
    call with options, it checks the arguments on zeros of their dtypes and resolves the dtypes of the computation.
    """

    def __init__(self, name: str, theirs: np.ufunc, ours: Callable[..., Any], first: Callable[..., Any] | None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"As `numpy.{name}`, on every backend.\\n\\n{inspect.getdoc(theirs) or ''}"
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
            own: Any = functools.partial(self._apply, method)
            setattr(self, method, at_once(_named_as(method, own), getattr(theirs, method)))

    @property
    def identity(self) -> Any:
        """The identity element, or None."""
        return self._identity

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__name__,)

    def _in_python(self, *args: Any, **kwargs: Any) -> Any:
        """A call that compiled code has left, the common ones first."""
        kinds, count = {*map(type, args)}, len(args)
        if count == self.nin and not kwargs:
            if kinds & _NESTS:
                args = tuple([as_array(one) if type(one) in _NESTS else one for one in args])
                kinds = {*map(type, args)}
            if Array in kinds and kinds <= _DIRECT:
                return self._ours(*args)
            if kinds <= _NUMBERS:
                return self._theirs(*args)
        elif Array in kinds and kinds <= _DIRECT and self.nout == 1:
            by_name = count == self.nin and kwargs.keys() == {"out"}
            out = kwargs["out"] if by_name else args[-1] if count == self.nargs and not kwargs else None
            if type(out) is Array and Array in map(type, args[: self.nin]):
                return self._into(out, args[: self.nin])
        return self._apply("__call__", *args, **kwargs)

    def _into(self, out: Array, operands: Sequence[Any]) -> Any:
        """The call with its result in `out`, mostly of its shape and dtype."""
        found = [self._ours(*operands)]
        if type(found[0]) is Array and found[0].shape == out.shape and found[0].dtype == out.dtype:
            out[...] = found.pop()  # a variable would keep a chain from being computed right there
            return out
        return self._apply("__call__", *operands, out=out)

    def _apply(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """A call, or a call of a method, with any arguments."""
        theirs = getattr(self._theirs, method)
        if not args and "array" in kwargs:
            args = (kwargs.pop("array"),)
        count, is_call = _METHODS.get(method, self.nin), method == "__call__"
        rest, where = args[count:], kwargs.get("where")
        out: Any = rest if is_call and rest else kwargs.get("out")
        others = (*args, *(out if isinstance(out, tuple) else (out,)))
        if any(map(decides, (*others, where))):
            return in_numpy(theirs, args, kwargs)
        operands = [one if is_call and isinstance(one, NUMBERS) else as_array(one) for one in args[:count]]
        if out is where is None and all(isinstance(one, NUMBERS) for one in operands):
            return brought(theirs(*operands, *rest, **kwargs))
        if any(isinstance(one, np.ndarray) and dtypes.is_numpys_own(one) for one in (*operands, *others)):
            return in_numpy(theirs, args, kwargs)
        options = kwargs
        if where is not None and where is not True:  # NumPy warns of a condition without `out`
            options = {**kwargs, "where": as_array(where)} | ({"out": None} if out is None else {})
        try:
            if method == "at":
                return self._at(*args, **kwargs)
            if method == "reduceat":
                rest = (*map(_listed, rest[:1]), *rest[1:])
                options = {name: _listed(one) if name == "indices" else one for name, one in options.items()}
            _check(theirs, (*operands, *rest), options, keeps_lengths=method == "reduceat")
            if not is_call:
                return getattr(self, f"_{method}")(*operands, *rest, **options)
            if rest:
                options = {**options, "out": (*rest, *(None,) * (self.nargs - len(args)))}
            computed: Any = self._computed
            return computed(*operands, **options)
        except _OnlyNumPyHas:
            return in_numpy(theirs, args, kwargs)

    def _computed(
        self, *operands: Any, out: Any = None, where: Any = True, dtype: Any = None, signature: Any = None,
        casting: Any = "same_kind", axes: Any = None, axis: Any = None, keepdims: bool = False, **without_effect: Any,
    ) -> Any:  # fmt: skip
        """The call with options that NumPy has checked."""
        given: Sequence[Any] = operands
        results: Sequence[DType | None] = [None] * self.nout
        if dtype is not None or signature is not None or casting != "same_kind":
            loop = self._loop(given, signature or ((None,) * self.nin + (dtype,) * self.nout), casting)
            given = [_cast(one, wanted) for one, wanted in zip(given, loop, strict=False)]
            results = loop[self.nin :]
        if where is not True:  # elsewhere the function gets 1, of which none warns, and whose derivatives are finite
            given = [xp.where(where, one, xp.ones((), dtype=one.dtype)) for one in map(as_array, given)]
        elif Array not in map(type, given):
            given = [as_array(one) for one in given]
        is_along = axes is not None or axis is not None or keepdims
        found = self._along(given, axes, axis, keepdims) if is_along else self._ours(*given)
        parts: Sequence[Array] = found if isinstance(found, tuple) else (found,)
        parts = [one if wanted is None else _cast(one, wanted) for one, wanted in zip(parts, results, strict=True)]
        outs = out if isinstance(out, tuple) else (out,) * self.nout
        done = tuple([_written(to, one, where) for to, one in zip(outs, parts, strict=True)])
        return done if self.nout > 1 else done[0]

    def _loop(self, operands: Sequence[Any], signature: Any, casting: Any) -> Sequence[DType]:
        """The dtypes of NumPy's loop for these operands."""
        loops: Any = signature
        if isinstance(signature, tuple):
            loops = tuple([None if one is None else _numpys(np.dtype(one)) for one in signature])
        wanted = (*_kinds(self._theirs, operands), *(None,) * self.nout)
        loop = _known(self._theirs.resolve_dtypes(wanted, signature=loops, casting=casting))
        has_bfloat16 = "bfloat16" in map(str, (*signature, *[getattr(one, "dtype", "") for one in operands]))
        return [xp.bfloat16 if has_bfloat16 and one is xp.float16 else one for one in loop]

    def _along(self, operands: Sequence[Any], axes: Any, axis: Any, keepdims: bool) -> Any:
        """The product of vectors or matrices along given axes."""
        if axes is None:  # of vectors
            axes = [-1 if axis is None else axis] * self.nin
        axes = [(one,) if isinstance(one, SupportsIndex) else tuple(one) for one in axes]
        arrays = zip(map(as_array, operands), axes, strict=False)
        found = self._ours(*[xp.moveaxis(x, at, tuple(range(-len(at), 0))) for x, at in arrays])
        found = xp.expand_dims(found, axis=-1) if keepdims else found
        to = axes[self.nin] if len(axes) > self.nin else axes[0] if keepdims else ()
        return xp.moveaxis(found, tuple(range(-len(to), 0)), to)

    def _outer(self, a: Array, b: Array, **options: Any) -> Any:
        """The function of each pair of elements."""
        return self._computed(xp.reshape(a, (*a.shape, *[1] * b.ndim)), b, **options)

    def _reduce(
        self, x: Array, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = _NO_VALUE, where: Any = True,
    ) -> Any:  # fmt: skip
        """The function applied over an axis; None means all axes."""
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, SupportsIndex) else axis
        axes = tuple([operator.index(one) % x.ndim for one in axes]) if x.ndim else ()
        return _written(out, self._reduced(self._in_loop(x, dtype, out), axes, keepdims, initial, where))

    def _in_loop(self, x: Array, dtype: Any, out: Any) -> Array:
        """An array in the dtype in which NumPy reduces it."""
        (to,) = out if isinstance(out, tuple) else (out,)
        if self.__name__ == "ldexp":  # whose operands differ in dtype
            raise _OnlyNumPyHas
        if dtype is not None:
            return _cast(x, *_known([np.dtype(dtype)]))
        if to is None and self.__name__ in _ACCUMULATIONS and x.dtype.kind in "biu":
            return _cast(x, xp.uint64 if x.dtype.kind == "u" else xp.int64)
        given = (None if to is None else _numpys(to.dtype), _numpys(x.dtype), None)
        _, second, _ = _known(self._theirs.resolve_dtypes(given, casting="unsafe", reduction=True))
        return x if _numpys(x.dtype) == second else _cast(x, second)

    def _reduced(
        self, x: Array, axes: tuple[int, ...], keepdims: bool = False, initial: Any = _NO_VALUE, where: Any = True
    ) -> Array:
        """The reduction over axes, in the dtype of the array."""
        has_initial = initial is not _NO_VALUE and initial is not None
        name = _REDUCTIONS.get(self.__name__, "")
        if x.dtype.kind == "b":
            name = _OF_BOOLS.get(name, name)
        options: dict[str, Any] = {"axis": axes, "keepdims": keepdims}
        if name:
            options |= {"where": where} | ({"dtype": x.dtype} if name in ("prod", "sum") else {})
            if has_initial and name not in ("all", "any"):
                options["initial"] = initial
            found: Array = getattr(Array, name)(x, **options)
            return self._ours(found, _cast(initial, x.dtype)) if has_initial and name in ("all", "any") else found
        if where is True and not has_initial:
            in_memory = self._in_memory("reduce", x, **options, dtype=np.dtype(x.dtype))
            if in_memory is not None:
                return in_memory
        rest = [at for at in range(x.ndim) if at not in axes]
        lengths = [x.shape[at] for at in rest]

        def lines(array: Array) -> Sequence[Array]:
            first = xp.permute_dims(array, (*axes, *rest))
            return xp.unstack(xp.reshape(first, (math.prod(x.shape[at] for at in axes), *lengths)))

        parts = lines(x)
        masks = None if where is True else lines(xp.broadcast_to(where, x.shape))
        start = initial if has_initial else self.identity if masks or not parts else None
        total: Any = None if start is None else xp.broadcast_to(_cast(start, x.dtype), lengths)
        for at, part in enumerate(parts):
            new: Any = part if total is None else self._ours(total, part)
            total = new if masks is None or total is None else xp.where(masks[at], new, total)
        kept = [1 if at in axes else length for at, length in enumerate(x.shape)]
        return xp.reshape(total, kept) if keepdims else total

    def _accumulate(self, x: Array, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results of all steps of `reduce` along an axis."""
        x, axis = self._in_loop(x, dtype, out), operator.index(axis)
        name = _ACCUMULATIONS.get(self.__name__)
        if name is not None and x.dtype.kind != "b":
            return _written(out, getattr(xp, name)(x, axis=axis, dtype=x.dtype))
        found = self._in_memory("accumulate", x, axis=axis, dtype=np.dtype(x.dtype))
        if found is None:
            found = xp.moveaxis(self._accumulated(xp.moveaxis(x, axis, 0)), 0, axis)
        return _written(out, found)

    def _in_memory(self, method: str, x: Array, *args: Any, **kwargs: Any) -> Array | None:
        """The result of NumPy's own method of an array that stays in NumPy.

        Elsewhere None: it is composed of calls of the function.
        """
        home, native = home_of_array(self.__name__, x), x._native
        if home is not x._home or type(native) is not np.ndarray or home.is_traced(native):
            return None
        return wrap(getattr(self._theirs, method)(native, *args, **kwargs), home)

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

    def _reduceat(self, x: Array, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """The reductions of the slices that begin at each of the indices."""
        x, axis = self._in_loop(x, dtype, out), operator.index(axis)
        starts = [int(one) for one in np.asarray(values_of(indices))]
        found = self._in_memory("reduceat", x, np.array(starts, int), axis=axis, dtype=np.dtype(x.dtype))
        if found is None:
            x = xp.moveaxis(x, axis, 0)
            ends = [*starts[1:], x.shape[0]]
            parts = [
                self._reduced(x[start:end], (0,)) if start < end else x[start]
                for start, end in zip(starts, ends, strict=False)
            ]
            found = xp.moveaxis(xp.stack(parts, axis=0) if parts else x[:0], 0, axis)
        return _written(out, found)

    def _at(self, a: Array, indices: Any, /, *others: Any) -> None:
        """Write the function of the elements at these indices over them.

        The second operand may follow. An index that comes several times counts each time.
        """
        if type(a) is not Array or known_shape(a).count(None):
            raise _OnlyNumPyHas
        if a.device.library == "numpy" and not a._home.is_traced(a._native):
            self._theirs.at(np.asarray(a), *map(values_of, (indices, *others)))
            return
        operands = [one if type(one) in _SCALARS else as_array(one) for one in others]
        kinds = [one if type(one) in _SCALARS else np.zeros((), _numpys(one.dtype)) for one in operands]
        _check(self._theirs.at, (np.zeros(1, _numpys(a.dtype)), [0], *kinds), {})
        keys = indices if isinstance(indices, tuple) else (indices,)
        is_traced = any(type(one) is Array and one._home.is_traced(one._native) for one in keys)
        if is_traced:
            flat: Any = xp.reshape(xp.arange(a.size), a.shape)[indices]
        else:
            flat = np.arange(a.size).reshape(a.shape)[values_of(indices)]
        values = [xp.reshape(xp.broadcast_to(_beside(one, a), flat.shape), (-1,)) for one in operands]
        whole, is_sum = xp.reshape(a, (-1,)), values and self.__name__ in ("add", "subtract")
        if is_sum and a.dtype.kind in "iuf" and (is_traced or flat.size > _MANY):
            whole = self._summed_at(whole, xp.reshape(xp.asarray(flat), (-1,)), *values)
        elif is_traced:
            raise errors.ArgumentTypeError(
                f"{self.__name__}.at: indices must be known inside jit, grad and vmap, but for sums of real numbers. "
                "Make them outside"
            )
        else:
            places = flat.ravel()
            order = np.argsort(places, kind="stable")
            ordered = places[order]
            starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: places.size])
            turn = np.empty(places.size, int)  # how many times the index came before
            turn[order] = np.arange(places.size) - np.repeat(starts, np.diff(np.r_[starts, places.size]))
            for n in range(int(turn.max(initial=-1)) + 1):
                chosen = np.flatnonzero(turn == n)
                at = xp.asarray(places[chosen])
                new = self._ours(xp.take(whole, at), *[xp.take(one, xp.asarray(chosen)) for one in values])
                whole = xp.asarray(whole, copy=True)
                whole[at] = _cast(new, a.dtype)
        a[...] = xp.reshape(whole, a.shape)

    def _summed_at(self, whole: Array, places: Array, values: Array) -> Array:
        """The function of each element and of the sum of its values."""

        def sums(of: Any) -> Array:
            return counted.bincount(places, weights=of, length=whole.size)

        if values.dtype.kind == "f":
            total = sums(values)
        else:  # sums of halves are exact in float64
            wide = xp.astype(values, xp.int64)
            low, high = (xp.astype(sums(one), xp.int64) for one in (wide & 0xFFFFFFFF, wide >> 32))
            total = low + (high << 32)
        is_chosen = counted.bincount(places, length=whole.size) > 0
        return xp.where(is_chosen, _cast(self._ours(whole, total), whole.dtype), whole)


class _OnlyNumPyHas(Exception):  # noqa: N818 - a signal within the module, no error
    """The dtype to compute in is one that NumPy alone has."""


_ARRAYS: Final = (Array, np.ndarray)
_LENGTHS: Final = re.compile(r"(?<=[(,])\d+(?=[,)])|(?<=size )\d+|(?<=from )\d+")
"""The lengths in NumPy's messages about shapes: `(2,3)`, `size 3 is different from 2`."""


def _check(theirs: Any, args: Sequence[Any], options: Mapping[str, Any], *, keeps_lengths: bool = False) -> None:
    """Let NumPy check the arguments of a call, on zeros of the same dtypes.

    They have few elements: lengths from 2 on become as short as they can, in the same order, unless `keeps_lengths`.
    """
    given = [*args, *options.values()]
    arrays = [
        one for value in given for one in (value if type(value) is tuple else (value,)) if isinstance(one, _ARRAYS)
    ]
    lengths = sorted({n for one in arrays for n in one.shape if type(n) is int and n > 1})
    short = {n: n if keeps_lengths else at for at, n in enumerate(lengths, start=2)}

    def zeros(value: Any) -> Any:
        if isinstance(value, _ARRAYS):
            return np.zeros([short.get(n, n) if type(n) is int else 1 for n in value.shape], _numpys(value.dtype))
        if type(value) is tuple:
            return tuple(map(zeros, value))
        return _numpys(value) if isinstance(value, DType) else value

    try:
        with np.errstate(all="ignore"):
            theirs(*map(zeros, args), **{name: zeros(value) for name, value in options.items()})
    except ValueError as error:
        if isinstance(error, np.exceptions.AxisError):
            raise
        long = {str(its): str(n) for n, its in short.items()}
        text = _LENGTHS.sub(lambda found: long.get(found[0], found[0]), str(error)).strip()
        method = "" if theirs.__name__ == "__call__" else f".{theirs.__name__}"
        raise errors.ArgumentValueError(f"{theirs.__self__.__name__}{method}: {text}") from None


def _numpys(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype of an array.

    It is float16 for bfloat16, whose casts are of the same kinds.
    """
    return np.dtype(np.float16 if dtype.name == "bfloat16" else dtype)


def _kinds(theirs: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """The dtypes of operands, or the classes of Python numbers.

    `ldexp` resolves none of those classes.
    """
    is_weak = theirs is not np.ldexp
    return [
        type(one) if is_weak and type(one) in (int, float, complex) else _numpys(as_array(one).dtype)
        for one in operands
    ]


def _known(loop: Sequence[np.dtype[Any]]) -> Sequence[DType]:
    """The dtypes of a loop as ours."""
    if any(one.name not in dtypes.KNOWN for one in loop):
        raise _OnlyNumPyHas
    return [dtypes.dtype(one) for one in loop]


def _cast(value: Any, dtype: DType) -> Array:
    """An array in a dtype, cast as NumPy does by the rule "unsafe"."""
    x = as_array(value)
    if x.dtype.kind == "c" and dtype.kind != "c":
        return x != 0 if dtype.kind == "b" else xp.astype(xp.real(x), dtype)
    return xp.astype(x, dtype)


def _beside(value: Any, array: Array) -> Array:
    """An operand beside an array, which gives a Python number its dtype."""
    return _cast(value, xp.result_type(array, value)) if type(value) in _SCALARS else value


def _listed(indices: Any) -> Any:
    """Indices in a list, of whatever class an array of integers is."""
    values = values_of(indices)
    return values.tolist() if isinstance(values, np.ndarray) and np.can_cast(values.dtype, np.intp) else values


def _written(out: Any, result: Array, where: Any = True) -> Any:
    """`out` with the result where the condition holds.

    Without `out` zeros stay elsewhere.
    """
    (to,) = out if isinstance(out, tuple) else (out,)
    if where is not True:
        dtype = result.dtype if to is None else to.dtype
        result = xp.where(where, _cast(result, dtype), xp.zeros((), dtype=dtype) if to is None else to)
    if isinstance(to, np.ndarray):
        np.copyto(to, np.asarray(result), casting="unsafe")
    elif to is not None:
        to[...] = _cast(result, to.dtype)
    return result if to is None else to


def ufunc_of(name: str, theirs: np.ufunc, ours: Callable[..., Any]) -> ufunc:
    """The universal function of that name, which computes `ours`."""
    first = None if name.startswith("logical_") or name in _RESOLVED else ours
    if name.startswith("logical_"):
        ours = functools.partial(_of_truths, ours)
    if name == "reciprocal":
        ours = functools.partial(_of_integers, ours)
    if name in ("fmax", "fmin", "maximum", "minimum"):
        ours = _of_ordered(ours, name)
    if name in ("less", "less_equal", "greater", "greater_equal"):
        ours = _comparing(ours, name)
    return ufunc(name, theirs, _in_loop_of(theirs, ours, name in _RESOLVED), first)


_RESOLVED: Final = frozenset(
    "bitwise_count deg2rad degrees fabs heaviside ldexp rad2deg radians reciprocal spacing".split()
)
"""Functions of ours that promote otherwise than NumPy's, or take more dtypes, on some backend."""


def _in_loop_of(theirs: Any, ours: Callable[..., Any], is_resolved: bool) -> Callable[..., Any]:
    """The function in the dtypes of NumPy's loop for the operands.

    Only if it `is_resolved`, or refuses their own dtypes.
    """

    def function(*operands: Any) -> Any:
        refusal = None
        if not is_resolved:
            try:
                return ours(*operands)
            except errors.ArgumentTypeError as error:
                refusal = error
        arrays = [as_array(one) for one in operands]
        try:
            loop = _known(theirs.resolve_dtypes((*_kinds(theirs, operands), *(None,) * theirs.nout)))
        except (TypeError, _OnlyNumPyHas):
            raise refusal or errors.ArgumentTypeError(
                f"{theirs.__name__}: has no loop for the dtypes {', '.join(str(one.dtype) for one in arrays)}"
            ) from None
        if refusal is not None and all(one.dtype is to for one, to in zip(arrays, loop, strict=False)):
            raise refusal
        is_half = any(one.dtype.name == "bfloat16" for one in arrays)
        return ours(*arrays if is_half else [_cast(one, to) for one, to in zip(arrays, loop, strict=False)])

    return function


def _of_truths(ours: Callable[..., Any], *operands: Any) -> Any:
    """A logical function, for which any number that is not zero is true."""
    return ours(*[one if one.dtype.kind == "b" else one != 0 for one in map(as_array, operands)])


def _of_integers(ours: Callable[..., Any], x: Array, /) -> Any:
    """The reciprocal, which is an integer of integers, cut off."""
    return xp.where(xp.abs(x) == 1, x, xp.zeros((), dtype=x.dtype)) if x.dtype.kind in "iu" else ours(x)


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


_MANY: Final = 64
"""From so many indices on values are added up first."""


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
