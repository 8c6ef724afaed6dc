"""Products, diagonals and patterned matrices beyond the standard."""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from anyarray._array import layout
from anyarray._array.array import AnyArray, Array
from anyarray._base import dtypes, errors, sizes
from anyarray._base.dtypes import DTypeLike
from anyarray._call.arguments import as_array, as_integer, known_shape
from anyarray._call.dispatch import composed
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import axis_of
from anyarray.standard import namespace as xp

__all__ = [
    "cross", "diag", "diagflat", "diagonal", "dot", "einsum", "einsum_path", "inner", "kron", "matvec", "outer",
    "trace", "tri", "vander", "vdot", "vecmat",
]  # fmt: skip


def _product(function: Callable[[Array, Array], Array], a: AnyArray, b: AnyArray) -> Array:
    """A product of arrays that promote to one dtype.

    Of bools, it is whether any term is true.
    """
    dtype = xp.result_type(a, b)
    if dtype.kind == "b":
        return xp.not_equal(function(xp.astype(a, xp.int64), xp.astype(b, xp.int64)), 0)
    return function(xp.astype(a, dtype, copy=False), xp.astype(b, dtype, copy=False))


@composed(own="numpy cupy", fit="dot")
def dot(a: AnyArray, b: AnyArray) -> Array:
    """Product of two vectors or matrices, and of more axes.

    The products are summed over the last axis of `a` and the second-to-last axis of `b`, or its only axis. The result
    has the other axes of `a`, then those of `b`. A 0-d array is multiplied. Complex numbers are not conjugated.
    Raises ValueError if the lengths of the two axes differ.

    >>> import anyarray as xp
    >>> xp.dot(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10])).tolist()
    [21, 43]

    Source: NumPy 2.4, numpy.dot.
    """
    return _product(_dot, a, b)


def _dot(a: Array, b: Array) -> Array:
    if not a.ndim or not b.ndim:
        return xp.multiply(a, b)
    if b.ndim <= 2:
        return xp.matmul(a, b)
    return xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 2,)))


@composed(own="numpy cupy", fit="as many elements in both", reads_no_values=True)
def vdot(a: AnyArray, b: AnyArray, /) -> Array:
    """Sum of the products of all elements; `a` is conjugated.

    Raises ValueError unless both have the same number of elements.

    >>> import anyarray as xp
    >>> xp.vdot(xp.asarray([[1, 2]]), xp.asarray([[3], [4]])).tolist()
    11

    Source: NumPy 2.4, numpy.vdot.
    """
    return _product(xp.vecdot, xp.reshape(a, (-1,)), xp.reshape(b, (-1,)))


@composed(own="numpy cupy", x1="numeric", x2="numeric", fit="any", reads_no_values=True)
def matvec(x1: AnyArray, x2: AnyArray, /) -> Array:
    """Products of matrices and vectors, (..., m, n) and (..., n).

    >>> import anyarray as xp
    >>> xp.matvec(xp.asarray([[1, 2], [3, 4]]), xp.asarray([[1, 0], [1, 10]])).tolist()
    [[1, 3], [21, 43]]

    Source: NumPy 2.4, numpy.matvec.
    """
    return xp.squeeze(xp.matmul(x1, xp.expand_dims(x2, axis=-1)), axis=-1)


@composed(own="numpy cupy", x1="numeric", x2="numeric", fit="any", reads_no_values=True)
def vecmat(x1: AnyArray, x2: AnyArray, /) -> Array:
    """Products of conjugate vectors and matrices, (..., n) and (..., n, m).

    >>> import anyarray as xp
    >>> xp.vecmat(xp.asarray([1, 10]), xp.asarray([[1, 2], [3, 4]])).tolist()
    [31, 42]

    Source: NumPy 2.4, numpy.vecmat.
    """
    conjugate = xp.conj(x1) if x1.dtype.kind == "c" else x1
    return xp.squeeze(xp.matmul(xp.expand_dims(conjugate, axis=-2), x2), axis=-2)


@composed(own="numpy cupy", fit="inner")
def inner(a: AnyArray, b: AnyArray, /) -> Array:
    """Sums of products over the last axes of both.

    The result has the other axes of `a`, then those of `b`. With a 0-d array it is a multiplication.
    Raises ValueError if the lengths of the last axes differ.

    >>> import anyarray as xp
    >>> xp.inner(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10])).tolist()
    [21, 43]

    Source: NumPy 2.4, numpy.inner.
    """
    return _product(_inner, a, b)


def _inner(a: Array, b: Array) -> Array:
    if not a.ndim or not b.ndim:
        return xp.multiply(a, b)
    return xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def outer(a: AnyArray, b: AnyArray) -> Array:
    """Products of each element of `a` with each of `b`; both are flattened.

    >>> import anyarray as xp
    >>> xp.outer(xp.asarray([1, 2]), xp.asarray([3, 4])).tolist()
    [[3, 4], [6, 8]]

    Source: NumPy 2.4, numpy.outer.
    """
    first, second = as_array("outer", "a", a), as_array("outer", "b", b)
    if first.ndim != 1 or second.ndim != 1:
        first, second = xp.reshape(first, (-1,)), xp.reshape(second, (-1,))
    if first.dtype.kind == second.dtype.kind == "b":
        return xp.logical_and(first[:, None], second)
    return xp.linalg.outer(first, second)


@composed(own="numpy cupy", reads_no_values=True)
def kron(a: AnyArray, b: AnyArray) -> Array:
    """Kronecker product: `b`, multiplied by each element of `a`, as blocks.

    An array with fewer axes gets new axes of length 1 at the front.

    >>> import anyarray as xp
    >>> xp.kron(xp.asarray([1, 10]), xp.asarray([1, 2])).tolist()
    [1, 2, 10, 20]

    Source: NumPy 2.4, numpy.kron.
    """
    ndim = max(len(a.shape), len(b.shape))
    shapes = [(1,) * (ndim - len(x.shape)) + tuple(x.shape) for x in (a, b)]
    first = xp.reshape(a, tuple([n for length in shapes[0] for n in (length, 1)]))
    second = xp.reshape(b, tuple([n for length in shapes[1] for n in (1, length)]))
    is_boolean = a.dtype.kind == b.dtype.kind == "b"
    products = xp.logical_and(first, second) if is_boolean else xp.multiply(first, second)
    return xp.reshape(products, tuple([m * n for m, n in zip(*shapes, strict=True)]))


def cross(
    a: AnyArray, b: AnyArray, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Vector product of the vectors along `axisa` of `a` and `axisb` of `b`.

    The vectors of the result are along `axisc`. `axis` replaces all three. The other axes broadcast.
    Raises ValueError unless the vectors are of length 3.

    >>> import anyarray as xp
    >>> xp.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0])).tolist()
    [0, 0, 1]

    Source: NumPy 2.4, numpy.cross.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = as_array("cross", "a", a), as_array("cross", "b", b)
    first = xp.moveaxis(first, axis_of("cross", axisa, first.ndim, "axisa"), -1)
    second = xp.moveaxis(second, axis_of("cross", axisb, second.ndim, "axisb"), -1)
    if known_shape(first)[-1] != 3 or known_shape(second)[-1] != 3:
        raise errors.ArgumentValueError(
            f"cross: the vectors of a and b must be of length 3, not {first.shape[-1]} and {second.shape[-1]}"
        )
    found = xp.linalg.cross(first, second)
    return xp.moveaxis(found, -1, axis_of("cross", axisc, found.ndim, "axisc"))


def diagonal(a: AnyArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of the matrices along two axes.

    They are along the last axis of the result. `offset` counts from the main diagonal to the right.

    >>> import anyarray as xp
    >>> xp.diagonal(xp.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]

    Source: NumPy 2.4, numpy.diagonal.
    """
    return xp.linalg.diagonal(_matrices("diagonal", a, axis1, axis2), offset=offset)


def trace(a: AnyArray, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None) -> Array:
    """Sums of the diagonals of the matrices along two axes.

    `offset` counts from the main diagonal to the right. Narrow integers are summed in the default integer dtype.

    >>> import anyarray as xp
    >>> xp.trace(xp.asarray([[1, 2], [3, 4]])).tolist()
    5

    Source: NumPy 2.4, numpy.trace.
    """
    return xp.linalg.trace(_matrices("trace", a, axis1, axis2), offset=offset, dtype=dtype)


def _matrices(function: str, a: AnyArray, axis1: int, axis2: int) -> AnyArray:
    """The array with these axes at the end."""
    ndim = as_array(function, "a", a).ndim
    if ndim == 2 and axis1 == 0 and axis2 == 1:
        return a  # as most are, in half the time
    if ndim < 2:
        raise errors.ArgumentValueError(f"{function}: a must have at least 2 axes, not {ndim}")
    first, second = axis_of(function, axis1, ndim, "axis1"), axis_of(function, axis2, ndim, "axis2")
    if first == second:
        raise errors.ArgumentValueError(f"{function}: axis1 and axis2 must not be the same, {axis1}")
    if (first, second) == (ndim - 2, ndim - 1):
        return a
    return xp.permute_dims(a, (*[one for one in range(ndim) if one not in (first, second)], first, second))


def diag(v: AnyArray, k: int = 0) -> Array:
    """The diagonal `k` of a matrix, or a matrix with that diagonal.

    Raises ValueError unless `v` has one axis or two.

    >>> import anyarray as xp
    >>> xp.diag(xp.asarray([1, 2])).tolist()
    [[1, 0], [0, 2]]

    Source: NumPy 2.4, numpy.diag.
    """
    ndim = as_array("diag", "v", v).ndim
    if ndim not in (1, 2):
        raise errors.ArgumentValueError(f"diag: v must have 1 or 2 axes, not {ndim}")
    return diagflat(v, k) if ndim == 1 else xp.linalg.diagonal(v, offset=k)


def diagflat(v: AnyArray, k: int = 0) -> Array:
    """A matrix with the elements of `v`, flattened, as its diagonal `k`.

    >>> import anyarray as xp
    >>> xp.diagflat(xp.asarray([1, 2]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]

    Source: NumPy 2.4, numpy.diagflat.
    """
    flat = xp.reshape(v, (-1,))
    if isinstance(k, int) and abs(k) >= sizes.LARGE:
        sizes.refuse_overflow("diag", (flat.shape[0] + abs(k),) * 2, flat.dtype.itemsize)
    return _matrix_of(flat, k)


def _diagonal_matrix(v: AnyArray, k: int = 0) -> Array:
    """A matrix with the vector `v` as its diagonal `k`."""
    flat = as_array("diag", "v", v)
    if k:
        more = xp.zeros((abs(k),), dtype=flat.dtype)
        flat = xp.concat([more, flat] if k > 0 else [flat, more])
    length = flat.shape[0]
    # Not a product with `eye`: NaN times 0 is NaN.
    zero = xp.zeros((), dtype=flat.dtype)
    return xp.where(xp.eye(length, k=k, dtype=xp.bool), flat, zero)


_diagonal_matrix.__name__ = "diag"
_matrix_of: Final = composed(own="numpy jax cupy")(_diagonal_matrix)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:  # noqa: N803 - NumPy's names
    """A matrix of ones on and below the diagonal `k`, zeros above it.

    It has `N` rows and `M` columns; `M` defaults to `N`.

    >>> import anyarray as xp
    >>> xp.tri(2, 3, dtype=xp.int64).tolist()
    [[1, 0, 0], [1, 1, 0]]

    Source: NumPy 2.4, numpy.tri.
    """
    rows = as_integer("tri", "N", N)
    columns = rows if M is None else as_integer("tri", "M", M)
    narrow = xp.int16 if max(rows, columns) + abs(k) < 1 << 15 else xp.int64  # a quarter of the memory traffic
    is_below = xp.arange(rows, dtype=narrow)[:, None] >= xp.arange(-k, columns - k, dtype=narrow)
    return xp.astype(is_below, dtypes.default(float) if dtype is None else dtype)


@composed(own="numpy cupy", reads_no_values=True)
def vander(x: AnyArray, N: int | None = None, increasing: bool = False) -> Array:  # noqa: N803 - NumPy's name
    """Vandermonde matrix: the powers of each element in a row.

    `x` has the shape (n,), the result (n, N): N columns of descending powers, or ascending if `increasing` is True. N
    defaults to n.

    >>> import anyarray as xp
    >>> xp.vander(xp.asarray([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]

    Source: NumPy 2.4, numpy.vander.
    """
    if len(x.shape) != 1:
        raise errors.ArgumentValueError(f"vander: x must have 1 axis, not {len(x.shape)}")
    columns = x.shape[0] if N is None else N
    base = xp.astype(x, xp.result_type(x, xp.int64), copy=False)
    powers = [xp.ones_like(base)[:, None]][:columns]
    if columns > 1:
        rows = xp.broadcast_to(base[:, None], (base.shape[0], columns - 1))
        powers.append(xp.cumulative_prod(rows, axis=1, dtype=base.dtype))
    found = xp.concat(powers, axis=1) if powers else xp.zeros((base.shape[0], 0), dtype=base.dtype)
    return found if increasing else xp.flip(found, axis=1)


Labels: TypeAlias = tuple[str, ...]
"""The letters of the axes of an operand."""

_LETTERS: Final = string.ascii_uppercase + string.ascii_lowercase
"""The letters of the axes that are given as integers, as NumPy assigns them."""


def einsum(*operands: AnyArray | str | Sequence[Any], optimize: Any = False) -> Array:
    """Sums of products of arrays by Einstein's convention.

    `einsum("ij,jk->ik", a, b)` names the axes of each array by letters, then those of the result. Axes that the result
    lacks are summed. Without an arrow, the result has the letters that occur once, in alphabetical order. `...` means
    all other axes, which broadcast. A letter that an operand has twice takes a diagonal.
    `einsum(a, [0, 1], b, [1, 2], [0, 2])` names the axes by integers. The result of one array without sums is a view.
    `optimize` is a path from `einsum_path`. True, "greedy" and "optimal" search for one, which is the default for large
    arrays and on every backend except NumPy. The arrays promote to the dtype of the result.
    Raises ValueError for subscripts that do not fit.

    >>> import anyarray as xp
    >>> a = xp.asarray([[1, 2], [3, 4]])
    >>> xp.einsum("ij,jk->ik", a, a).tolist()
    [[7, 10], [15, 22]]
    >>> xp.einsum("ii", a).tolist()
    5

    Source: NumPy 2.4, numpy.einsum.
    """
    subscripts, arrays = _einsum_arguments("einsum", operands)
    if type(optimize) is tuple and len(optimize) == 2 and isinstance(optimize[1], (int, float)):
        optimize = np.einsum_path(subscripts, *map(_of_shape, arrays), optimize=optimize)[0]
    found = _einsum(arrays, subscripts=subscripts, optimize=tuple(optimize) if type(optimize) is list else optimize)
    if len(arrays) == 1 and found._home is arrays[0]._home and layout.may_be_strided(arrays[0]):
        axes, _, kept = subscripts.partition("->")
        if set(axes) == set(kept):
            return layout.strided(arrays[0], functools.partial(np.einsum, subscripts), found)  # type: ignore[no-any-return]  # an Array
    return found


def einsum_path(*operands: AnyArray | str | Sequence[Any], optimize: Any = "greedy") -> tuple[list[Any], str]:
    """The order in which `einsum` contracts arrays, and a text about its cost.

    Pass the order to `optimize`.

    >>> import anyarray as xp
    >>> xp.einsum_path("ij,jk,kl->il", *[xp.ones((2, 2))] * 3)[0]
    ['einsum_path', (0, 1), (0, 1)]

    Source: NumPy 2.4, numpy.einsum_path.
    """
    subscripts, arrays = _einsum_arguments("einsum_path", operands)
    path, text = np.einsum_path(subscripts, *map(_of_shape, arrays), optimize=optimize)
    return list(path), str(text)


def _of_shape(array: Array) -> np.ndarray[Any, Any]:
    """An ndarray of that shape, which takes no memory."""
    return np.broadcast_to(np.zeros((), np.dtype(array.dtype.name)), array.shape)


def _einsum_arguments(function: str, operands: tuple[Any, ...]) -> tuple[str, list[Array]]:
    """Subscripts with an arrow and without dots, and the arrays."""
    subscripts: str
    if operands and isinstance(operands[0], str):
        subscripts, given = operands[0], operands[1:]
    else:
        given = operands[: len(operands) // 2 * 2 : 2]
        terms = [_term(function, one) for one in operands[1::2]]
        subscripts = ",".join(terms)
        if len(operands) % 2:
            subscripts += f"->{_term(function, operands[-1])}"
    if not given:
        raise errors.ArgumentValueError(f"{function}: operands must hold subscripts and at least one Array")
    arrays = [one if is_array(one) else as_array(function, f"operands[{i}]", one) for i, one in enumerate(given)]
    return _explicit(function, subscripts, tuple([one.ndim for one in arrays])), arrays


def _term(function: str, axes: Any) -> str:
    """The letters of axes that are given as integers."""
    if not isinstance(axes, Iterable):
        raise errors.ArgumentTypeError(f"{function}: the axes of an Array must be a list of integers, not {axes!r}")
    found = ""
    for one in axes:
        at = None if one is Ellipsis else as_integer(function, "the axes of an Array", one)
        if at is not None and not 0 <= at < len(_LETTERS):
            raise errors.ArgumentValueError(f"{function}: an axis must be an integer from 0 to 51, not {at}")
        found += "..." if at is None else _LETTERS[at]
    return found


@functools.lru_cache(maxsize=1024)
def _explicit(function: str, subscripts: str, ndims: tuple[int, ...]) -> str:
    """Subscripts with an arrow and a letter for each axis.

    Raises ValueError if they do not fit operands of so many axes.
    """
    subscripts = subscripts.replace(" ", "")
    left, arrow, right = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise errors.ArgumentValueError(
            f"{function}: subscripts {subscripts!r} are of {len(terms)} operands, but {len(ndims)} were given"
        )
    named = [term.replace("...", "", 1) for term in terms]
    for letter in "".join([*named, right.replace("...", "", 1)]):
        if letter not in _LETTERS:
            raise errors.ArgumentValueError(f"{function}: invalid subscript {letter!r} in {subscripts!r}, not a letter")
    others: list[int] = []
    for i, (term, letters, ndim) in enumerate(zip(terms, named, ndims, strict=True)):
        others.append(ndim - len(letters))
        if others[-1] < 0 or (others[-1] and "..." not in term):
            raise errors.ArgumentValueError(
                f"{function}: subscripts {term!r} do not fit operands[{i}], which has {ndim} axes"
            )
    most = max(others)
    free = [letter for letter in _LETTERS if letter not in subscripts]
    if len(free) < most:
        raise errors.ArgumentValueError(f"{function}: operands must have at most 52 different axes")
    broadcast = "".join(free[:most])
    inputs = [term.replace("...", broadcast[most - count :]) for term, count in zip(terms, others, strict=True)]
    joined = "".join(named)
    if not arrow:
        once = sorted(letter for letter in set(joined) if joined.count(letter) == 1)
        return f"{','.join(inputs)}->{broadcast}{''.join(once)}"
    letters = right.replace("...", "", 1)
    if len(set(letters)) < len(letters) or not set(letters) <= set(joined):
        raise errors.ArgumentValueError(
            f"{function}: the output {right!r} must name axes of the operands, each once, in {subscripts!r}"
        )
    if most and "..." not in right:
        raise errors.ArgumentValueError(f"{function}: the output {right!r} must hold '...', as the operands do")
    return f"{','.join(inputs)}->{right.replace('...', broadcast)}"


def _sums_of_products(operands: Sequence[AnyArray], *, subscripts: str, optimize: Any) -> Array:
    """What `einsum` gives, from explicit subscripts."""
    left, _, output = subscripts.partition("->")
    dtype = xp.result_type(*operands)
    wide = xp.int64 if dtype.kind == "b" else dtype
    terms = [
        (tuple(labels), xp.astype(array, wide, copy=False))
        for labels, array in zip(left.split(","), operands, strict=True)
    ]
    for group in _path(subscripts, [array for _, array in terms], optimize):
        taken = [terms[at] for at in group]
        terms = [one for at, one in enumerate(terms) if at not in group]
        while len(taken) > 1:
            first, second, *taken = taken
            kept = {*output}.union(*[labels for labels, _ in (*taken, *terms)])
            taken.insert(0, _contracted(first[0], first[1], second[0], second[1], kept))
        terms += taken
    labels, found = _summed(terms[0][0], terms[0][1], {*output})
    order = tuple([labels.index(one) for one in output])
    found = xp.permute_dims(found, order) if order != tuple(range(len(order))) else found
    return (
        xp.not_equal(found, 0) if dtype.kind == "b" else xp.asarray(found, copy=True) if found is operands[0] else found
    )


_sums_of_products.__name__ = "einsum"
_einsum: Final = composed(own="", fit="subscripts")(_sums_of_products)


def _path(subscripts: str, arrays: Sequence[Array], optimize: Any) -> Sequence[Sequence[int]]:
    """Which of the operands that are left are contracted, step by step."""
    if isinstance(optimize, tuple) and optimize and optimize[0] == "einsum_path":
        return optimize[1:]
    if len(arrays) <= 2:
        return [range(len(arrays))]
    shapes: list[Any] = [known_shape(array) for array in arrays]
    if any(None in shape for shape in shapes):
        return [range(len(arrays))]  # from left to right, as no lengths are known
    kind = optimize if optimize not in (False, True) else "greedy"
    path: Sequence[Sequence[int]] = np.einsum_path(subscripts, *map(_of_shape, arrays), optimize=kind)[0][1:]
    return path


def _summed(labels: Labels, array: Array, kept: Collection[str]) -> tuple[Labels, Array]:
    """An operand with diagonals taken, and summed over what is not kept."""
    for one in set(labels):
        while labels.count(one) > 1:
            first = labels.index(one)
            second = labels.index(one, first + 1)
            if known_shape(array)[first] != known_shape(array)[second]:
                raise errors.ArgumentValueError(f"einsum: the axes {one!r} of an operand must be of one length")
            rest = [at for at in range(len(labels)) if at not in (first, second)]
            array = xp.linalg.diagonal(xp.permute_dims(array, (*rest, first, second)))
            labels = (*[labels[at] for at in rest], one)
    summed = tuple([at for at, one in enumerate(labels) if one not in kept])
    if summed:
        array = xp.sum(array, axis=summed, dtype=array.dtype)
        labels = tuple([one for one in labels if one in kept])
    return labels, array


def _contracted(
    labels: Labels, array: Array, others: Labels, other: Array, kept: Collection[str]
) -> tuple[Labels, Array]:
    """The product of two operands, summed over what is not kept."""
    labels, array = _summed(labels, array, {*kept, *others})
    others, other = _summed(others, other, {*kept, *labels})
    (labels, array), (others, other) = (
        _without_broadcast(labels, array, others, other),
        _without_broadcast(others, other, labels, array),
    )
    labels, array = _summed(labels, array, {*kept, *others})
    others, other = _summed(others, other, {*kept, *labels})
    shared = [one for one in labels if one in others]
    batch = [one for one in shared if one in kept]
    summed = [one for one in shared if one not in kept]
    left = [one for one in labels if one not in shared]
    right = [one for one in others if one not in shared]
    array = _ordered(array, labels, [*batch, *left, *summed])
    other = _ordered(other, others, [*batch, *summed, *right])
    found = (*batch, *left, *right)
    if not summed:
        if right and left:
            array = xp.expand_dims(array, tuple(range(-len(right), 0)))
            other = xp.expand_dims(other, tuple(range(len(batch), len(batch) + len(left))))
        elif left:
            other = xp.expand_dims(other, tuple(range(len(batch), len(batch) + len(left))))
        elif right:
            array = xp.expand_dims(array, tuple(range(-len(right), 0)))
        return found, xp.multiply(array, other)
    lengths = dict(zip([*batch, *left, *summed], known_shape(array), strict=True))
    lengths.update(zip([*batch, *summed, *right], known_shape(other), strict=True))
    first = _grouped(array, lengths, batch, left, summed)
    second = _grouped(other, lengths, batch, summed, right)
    product = xp.matmul(first, second)
    if len(left) != 1 or len(right) != 1:
        product = xp.reshape(product, _known([lengths[one] for one in found]))
    return found, product


def _without_broadcast(labels: Labels, array: Array, others: Labels, other: Array) -> tuple[Labels, Array]:
    """An operand without the axes of length 1 that the other broadcasts."""
    gone = [
        at
        for at, one in enumerate(labels)
        if one in others and known_shape(array)[at] == 1 and known_shape(other)[others.index(one)] != 1
    ]
    if not gone:
        return labels, array
    return tuple([one for at, one in enumerate(labels) if at not in gone]), xp.squeeze(array, tuple(gone))


def _ordered(array: Array, labels: Labels, wanted: Sequence[str]) -> Array:
    order = tuple([labels.index(one) for one in wanted])
    return array if order == tuple(range(len(order))) else xp.permute_dims(array, order)


def _grouped(
    array: Array, lengths: dict[str, int | None], batch: Sequence[str], rows: Sequence[str], columns: Sequence[str]
) -> Array:
    """A stack of matrices, of axes that are ordered so."""
    if len(rows) == len(columns) == 1:
        return array
    sizes = [_size([lengths[one] for one in group]) for group in (rows, columns)]
    return xp.reshape(array, _known([*[lengths[one] for one in batch], *sizes]))


def _size(lengths: Sequence[int | None]) -> int | None:
    """The product of lengths, None if one is unknown."""
    known = [one for one in lengths if one is not None]
    return math.prod(known) if len(known) == len(lengths) else None


def _known(shape: Sequence[int | None]) -> tuple[int, ...]:
    """A shape for `reshape`, with -1 for an unknown length."""
    return tuple([-1 if one is None else one for one in shape])
