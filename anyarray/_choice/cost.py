"""Predicted seconds of a call on each backend: pure arithmetic over a profile.

A function belongs to a *class* of functions whose time grows alike. Each class, and each function that was measured by
itself, has a `Law` on each backend: a launch, and a throughput that saturates with the *work* of the call. Work is in
the unit to which time is proportional: elements of the broadcast inputs, n log n for sorts and transforms, 2mnk for
products, n^3 for factorisations. Matrices far from square and short rows have laws of their own, and the time between
is interpolated by the ratio of their sides, or by the number of rows. A product takes at least the time of reading its
matrices, which products with a vector measure.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base.dtypes import DType
from anyarray._choice.law import Law

NUMPY: Final = "numpy"
"""The backend with which all others are compared, and the home of free data."""
Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None
"""The `axis` argument of a call; None without one, or if the time does not depend on it."""


class Work(NamedTuple):
    """The size of a call."""

    amount: float
    """In the unit of the class."""
    results: float
    """Elements of the result, which may have to be transferred back."""


def _elements(shapes: Sequence[Shape]) -> Work:
    amount = float(math.prod(_broadcast(shapes)))
    return Work(amount, amount)


def _reduced(shapes: Sequence[Shape]) -> Work:
    # The size of the result depends on `axis`; this assumes the first.
    return Work(math.prod(shapes[0]), math.prod(shapes[0][1:]))


def _joined(shapes: Sequence[Shape]) -> Work:
    amount = float(sum(map(math.prod, shapes)))
    return Work(amount, amount)


def _ordered(shapes: Sequence[Shape]) -> Work:
    # Each row is sorted separately; `axis` is not known here, the last is assumed.
    n = math.prod(shapes[0])
    return Work(n * math.log2(max(shapes[0][-1] if shapes[0] else 1, 2)), n)


def _distinguished(shapes: Sequence[Shape]) -> Work:
    return _ordered([(math.prod(shapes[0]),)])


def _searched(shapes: Sequence[Shape]) -> Work:
    sought = math.prod(shapes[-1])
    return Work(sought * math.log2(max(math.prod(shapes[0]), 2)), sought)


def _lengths(shapes: Sequence[Shape]) -> tuple[int, int, int, int]:
    """For a matrix product: the size of the stack, m, k and n."""
    first, second = shapes[0], shapes[-1]
    *left, m, k = first if len(first) > 1 else (1, *first)
    *right, _, n = second if len(second) > 1 else (*second, 1)
    return math.prod(_broadcast((tuple(left), tuple(right)))), m, k, n


def _product(shapes: Sequence[Shape]) -> Work:
    stack, m, k, n = _lengths(shapes)
    return Work(2.0 * stack * m * n * k, stack * m * n)


def _product_shape(shapes: Sequence[Shape], axis: Axis) -> Shape:
    return _lengths(shapes)[1:]


def _read(shapes: Sequence[Shape]) -> Work:
    stack, m, k, n = _lengths(shapes)
    return Work(stack * (m * k + k * n + m * n), stack * m * n)


def _row_lengths(shapes: Sequence[Shape], axis: Axis) -> Shape:
    """`LONG_ROW`, and the length of the rows that NumPy's inner loop reduces.

    They are contiguous. At most `LONG_ROW`, above which it does not matter.
    """
    shape = shapes[0]
    if axis in (None, ()) or not shape:
        return LONG_ROW, LONG_ROW
    reduced = {one % len(shape) for one in ((axis,) if isinstance(axis, int) else axis)}
    last = len(shape) - 1
    if last in reduced:
        whole = next((one for one in range(last, -1, -1) if one not in reduced), -1)
        return LONG_ROW, min(math.prod(shape[whole + 1 :]), LONG_ROW)
    together = math.prod(shape[max(reduced) + 1 :])
    is_fast = reduced == {0} and together <= NARROW_ROW
    return LONG_ROW, LONG_ROW if is_fast else min(max(together, SHORT_ROW), LONG_ROW)


def _runs(shapes: Sequence[Shape], axis: Axis) -> Shape:
    """For two arrays: `LONG_ROW`, and the length of NumPy's inner loop.

    There both are contiguous, or one is contiguous and the other a repeated element.
    """
    if len(shapes) != 2 or shapes[0] == shapes[1]:
        return LONG_ROW, LONG_ROW
    length, is_repeated = 1, None
    for a, b in itertools.zip_longest(shapes[0][::-1], shapes[1][::-1], fillvalue=1):
        if a == b == 1:
            continue
        if is_repeated is None:
            is_repeated = a == 1, b == 1
        elif is_repeated != (a == 1, b == 1):
            return LONG_ROW, min(length, LONG_ROW)
        length *= max(a, b)
    return LONG_ROW, LONG_ROW


def _columns(shapes: Sequence[Shape], axis: Axis) -> Shape:
    """For a transform: square if it is along rows, else as slim as counts."""
    return (1, 1) if axis in (None, -1, len(shapes[0]) - 1) else (SLIMMEST, 1)


def _factorised(shapes: Sequence[Shape]) -> Work:
    *stack, m, n = shapes[0]
    return Work(math.prod(stack) * m * n * min(m, n), math.prod(shapes[0]))


def _gathered(shapes: Sequence[Shape]) -> Work:
    amount = float(math.prod(shapes[-1]) * math.prod(shapes[0][1:]))
    return Work(amount, amount)


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that shapes broadcast to.

    For shapes that do not broadcast the call itself raises.
    """
    ndim = max(map(len, shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    return tuple([0 if 0 in lengths else max(lengths) for lengths in zip(*padded, strict=True)])


USUAL: Final = 1e-9
"""Seconds of an element in NumPy, about, where no machine is measured."""


class FunctionClass(NamedTuple):
    """Functions that take about the same time on the same data."""

    work: Callable[[Sequence[Shape]], Work]
    growth: float
    """The exponent of the maximum work of a call with arrays of n elements.

    If it is more than 1, the work of a call with two arrays is at most `_OF_TWO` times the product of their sizes.
    """
    kinds: str
    """Kinds of dtypes for which the measurements hold; calls with others are not predicted."""
    first: str
    """The function that is measured at many sizes."""
    slim: str = ""
    """The class of the same functions on matrices far from square."""
    is_of_rows: bool = False
    """Whether that is a class of short rows."""
    lengths: Callable[[Sequence[Shape], Axis], Shape] = lambda shapes, axis: shapes[0][-2:]
    """The lengths whose ratio is the slimness of a call."""
    is_by_axis: bool = False
    """Whether the slimness of a call depends on its axis."""
    least: str = ""
    """A class whose time is a lower bound; the time itself if one of the lengths is 1."""
    is_elementwise: bool = False
    """Whether the functions are elementwise."""
    is_linear_if_even: bool = False
    """Whether the work is proportional to the elements if both arrays have the same shape."""
    usual: float = USUAL
    """The same of a unit of work of the class."""


MATRICES: Final = USUAL / 16
"""`usual` of products and factorisations: a core makes many operations at once, on numbers in its caches."""
SLIMMEST: Final = 256
"""The ratio of the sides from which a matrix counts as fully slim: far from square."""
LONG_ROW: Final = 4096
"""The row length above which it no longer affects the time."""
SHORT_ROW: Final = 16
"""The row length that is measured as short; NumPy's backend reduces shorter rows by columns."""
NARROW_ROW: Final = 64
"""The longest rows for which a reduction over axis 0 in NumPy's backend is as fast as one of long rows."""


CLASSES: Final[dict[str, FunctionClass]] = {
    "arithmetic": FunctionClass(
        _elements, 1, "biufc", "add", "arithmetic of short rows", lengths=_runs, is_of_rows=True, is_elementwise=True
    ),
    "arithmetic of short rows": FunctionClass(_elements, 1, "biufc", "add"),
    "transcendental": FunctionClass(_elements, 1, "iuf", "exp", is_elementwise=True, usual=3 * USUAL),
    "sum": FunctionClass(
        _reduced, 1, "biufc", "sum", "sum of short rows", lengths=_row_lengths, is_of_rows=True, is_by_axis=True
    ),
    "sum of short rows": FunctionClass(_reduced, 1, "biufc", "sum"),
    "extremum": FunctionClass(
        _reduced, 1, "biuf", "max", "extremum of short rows", lengths=_row_lengths, is_of_rows=True, is_by_axis=True
    ),
    "extremum of short rows": FunctionClass(_reduced, 1, "biuf", "max"),
    "variance": FunctionClass(
        _reduced, 1, "iuf", "var", "variance of short rows", lengths=_row_lengths, is_of_rows=True, is_by_axis=True
    ),
    "variance of short rows": FunctionClass(_reduced, 1, "iuf", "var"),
    "cumulative": FunctionClass(_elements, 1, "iuf", "cumulative_sum"),
    "sort": FunctionClass(_ordered, 1, "iuf", "sort"),
    "argsort": FunctionClass(_ordered, 1, "iuf", "argsort"),
    "search": FunctionClass(_searched, 1, "iuf", "searchsorted"),
    "unique": FunctionClass(_distinguished, 1, "iuf", "unique_values"),
    "matmul": FunctionClass(
        _product, 1.5, "fc", "matmul",
        slim="product of a slim matrix", lengths=_product_shape, least="product with a vector", usual=MATRICES,
    ),
    "product of a slim matrix": FunctionClass(_product, 1.5, "fc", "matmul", usual=MATRICES),
    "product with a vector": FunctionClass(_read, 1, "fc", "matmul"),
    "dot": FunctionClass(_elements, 1, "fc", "vecdot"),
    "fft": FunctionClass(
        _ordered, 1, "fc", "fft", slim="fft of columns", lengths=_columns, is_by_axis=True
    ),
    "fft of columns": FunctionClass(_ordered, 1, "fc", "fft"),
    "fft of all axes": FunctionClass(_distinguished, 1, "fc", "fftn"),
    "solve": FunctionClass(_factorised, 1.5, "f", "solve", usual=MATRICES),
    "cholesky": FunctionClass(_factorised, 1.5, "f", "cholesky", usual=MATRICES),
    "qr": FunctionClass(_factorised, 1.5, "f", "qr", slim="qr of a slim matrix", usual=MATRICES),
    "qr of a slim matrix": FunctionClass(_factorised, 1.5, "f", "qr", usual=MATRICES),
    "svd": FunctionClass(_factorised, 1.5, "f", "svd", slim="svd of a slim matrix", usual=MATRICES),
    "svd of a slim matrix": FunctionClass(_factorised, 1.5, "f", "svd", usual=MATRICES),
    "eigh": FunctionClass(_factorised, 1.5, "f", "eigh", usual=MATRICES),
    "gather": FunctionClass(_gathered, 2, "biuf", "take", is_linear_if_even=True),
    "join": FunctionClass(_joined, 1, "biufc", "concat"),
    "creation": FunctionClass(_elements, 1, "biufc", "ones_like"),
}  # fmt: skip
"""The classes by name, the option `cost` of declarations; the others follow from a call's shapes."""


WHOLE: Final = {one: kind for kind, row in CLASSES.items() for one in (row.slim, row.least) if one}
"""The class of the same functions on long rows or square matrices."""


def _contracted(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes of the matrix product that a tensordot is.

    The number of summed axes is inferred from the shapes. Raises ValueError unless that is unambiguous.
    """
    first, second = shapes[0], shapes[-1]
    (n,) = (n for n in range(1, min(len(first), len(second)) + 1) if first[-n:] == second[:n])
    summed = math.prod(second[:n])
    return (math.prod(first[:-n]), summed), (summed, math.prod(second[n:]))


def _one_by_one(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes of vectors, for a gather of single elements."""
    return (math.prod(shapes[0]),), (math.prod(shapes[-1]),)


class Like(NamedTuple):
    """The cost of a function that is in no class: that of another function."""

    function: str
    kinds: str
    """Kinds of dtypes for which both take the same time."""
    shapes: Callable[[Sequence[Shape]], Sequence[Shape]] = lambda shapes: shapes
    """The shapes of the other function's inputs."""


LIKES: Final[dict[str, Like]] = {
    "complex negative": Like("negative", "c"),
    "gather of single elements": Like("take", "biuf", _one_by_one),
    "outer": Like("multiply", "fc", lambda shapes: ((math.prod(shapes[0]), 1), (1, math.prod(shapes[-1])))),
    "matmul at least": Like("matmul", "fc", lambda shapes: (shapes[0], shapes[0])),
    "matmul of what is reshaped": Like("matmul", "fc", _contracted),
}
"""Costs of functions that take as long as a function of a class, or longer. They are not measured themselves."""

COSTS: Final = (*CLASSES, *LIKES)
"""The values of the option `cost` of declarations."""

class_of: Final[dict[str, str]] = {}
"""The class of each declared function that is in one."""
like: Final[dict[str, Like]] = {}
"""The `Like` of each declared function that has one."""


def predicted_as(function: str) -> str:
    """The function that a function is like, or itself."""
    return like[function].function if function in like else function


def _variants(kind: str) -> tuple[str, ...]:
    """The class, and those of the same functions on other shapes."""
    row = CLASSES.get(kind)
    return () if row is None else tuple([one for one in (kind, row.slim, row.least) if one])


def classify(function: str, cost: str) -> None:
    """Set the cost of a function: a class of `CLASSES`, or one of `LIKES`.

    A function without a cost is not predicted, and runs where its inputs are. Such are views, and functions that only
    return numbers about an array; creation, which runs on NumPy; copies in another order and the like, which take about
    as long as the transfer; functions that most accelerators lack; and those whose time depends on values, or on more
    arguments than shapes.
    """
    if cost in LIKES:
        like[function] = LIKES[cost]
    else:
        class_of[function] = cost


WIDTHS: Final = (4, 8)
"""Itemsizes that are measured, float32 and float64; each dtype counts as the nearer one."""


DECIDING: Final = 1e-4
"""The minimum saving in seconds: for less, nothing moves and no decision is made.

A decision takes some 30 us, several times that where large arrays have evicted Python from the CPU caches. If a faster
library has compiled the call, a decision is made at each call until moving has paid.
"""
GAIN: Final = 2 / 3
"""A call must take at most this part of the time here on another backend.

A smaller gain is within the error: a call takes half as long again if the threads of a library were asleep, or if its
result does not reuse the memory of the previous one.
"""
GAIN_AT_HOME: Final = 3 / 4
"""The same for a call that moves back to NumPy.

There it cannot take longer than in NumPy alone, however wrong the prediction.
"""
GAIN_BESIDE: Final = 1 / 2
"""The same for products and factorisations on a library on the CPU, which it shares with NumPy.

Each library has its own BLAS, whose idle threads spin: they take a core from the next call of the other library, which
then takes up to twice as long.
"""
LOOKED: Final = 1 / GAIN_AT_HOME
"""Threshold of a call's time in NumPy, as a multiple of `DECIDING`: one that takes less cannot win that elsewhere."""


def gain(name: str, kind: str) -> float:
    """Part of the time here that a call of a class may take on a backend."""
    if name == NUMPY:
        return GAIN_AT_HOME
    is_beside = name.endswith("-cpu") and CLASSES[kind].work in (_product, _read, _factorised)
    return GAIN_BESIDE if is_beside else GAIN


class Call(NamedTuple):
    """A call, reduced to what its time depends on."""

    function: str
    kind: str
    """Name of its class."""
    width: int
    """One of `WIDTHS`."""
    work: Work
    itemsize: int
    """Bytes of an element of the inputs."""
    slimness: float = 0.0
    """0 for square matrices, 1 for those that are `SLIMMEST` or slimmer; logarithmic between.

    For rows, the number of rows relative to that of the measured length.
    """
    least: tuple[str, float] | None = None
    """A class and an amount of work, whose time is a lower bound."""


def call(function: str, shapes: Sequence[Shape], dtypes: Sequence[DType], *, axis: Axis = None) -> Call | None:
    """The call of a function with inputs of these shapes and dtypes.

    `axis` matters for functions of a class that `is_by_axis`. None if no measurement applies.
    """
    other = like.get(function)
    if other is not None:
        if any(dtype.kind not in other.kinds for dtype in dtypes):
            return None
        try:
            shapes = other.shapes(shapes)
        except ValueError:
            return None
        return call(other.function, shapes, dtypes)
    kind = class_of.get(function)
    if kind is None:
        return None
    row = CLASSES[kind]
    if any(dtype.kind not in row.kinds for dtype in dtypes):
        return None
    itemsize = max(dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize for dtype in dtypes)
    width = WIDTHS[0] if itemsize <= WIDTHS[0] else WIDTHS[1]
    widest = max(d.itemsize for d in dtypes)
    try:
        work = row.work(shapes)
        if row.work is _elements and any(dtype.kind == "c" for dtype in dtypes):
            work = Work(2 * work.amount, work.results)  # elements are measured with real numbers
        if not row.slim:
            return Call(function, kind, width, work, widest)
        lengths = row.lengths(shapes, axis)
    except (ValueError, IndexError):
        return None  # too few axes: the call itself raises
    least = (row.least, CLASSES[row.least].work(shapes).amount) if row.least else None
    if least is not None and min(lengths) <= 1:
        return Call(function, least[0], width, Work(least[1], work.results), widest)
    if row.is_of_rows:
        length = max(min(lengths), 1)
        return Call(function, kind, width, work, widest, 0.0 if length == LONG_ROW else SHORT_ROW / length)
    ratio = max(*lengths, 1) / max(min(lengths), 1)
    return Call(function, kind, width, work, widest, min(1.0, math.log(ratio) / math.log(SLIMMEST)), least)


class Costs(NamedTuple):
    """The measured costs of one backend."""

    laws: Mapping[str, Law]
    """By class, and by function for those that were measured by themselves."""
    first: Mapping[str, float] = {}
    """Additional seconds of the first call of a function with new shapes, as for compilation; by class."""
    fused: Law | None = None
    """Of a chain of elementwise calls by elements, compiled as a whole if the backend can."""
    compiling: float = 0.0
    """Seconds of compiling that chain."""
    importing: float = 0.0
    """Seconds of importing the library."""


class Route(NamedTuple):
    """The time of transfers from one backend to another."""

    copy: Law
    """By bytes."""
    view: float | None = None
    """Seconds where memory is shared; None where it cannot be."""


_OF_TWO: Final = 3
"""An upper bound of the work of a call with two arrays, as a multiple of the product of their sizes."""


STEP: Final = 2.0**0.5
WORKS: Final = tuple([STEP**i for i in range(100)])
"""The amounts of work among which a crossover is looked for."""


class Limits(NamedTuple):
    """Thresholds of a function in elements: below, no decision is made."""

    elements: float
    """For the size of any one input."""
    product: float
    """For the product of the sizes of two inputs of any shapes."""
    even: float
    """For the size of inputs of one shape; never less than `elements`. For the first input of a product."""
    recorded: float
    """For the size of the result of a call that is recorded; never less than `even`. No decision is needed where no
    backend gains."""


NEVER: Final = Limits(math.inf, math.inf, math.inf, math.inf)


def _limits(work: Mapping[str, float]) -> Limits:
    """The thresholds for the work from which a call counts.

    It is given for a class and its variants.
    """
    if not work:
        return NEVER
    kind = next(iter(work))
    row = CLASSES[kind]
    elements = min([_elements_of(*one) for one in work.items()])
    even = work[kind] if row.is_elementwise or row.is_linear_if_even else elements
    of_products = [one for of, one in work.items() if CLASSES[of].growth > 1]
    if row.work is _product:  # of which the product of sizes tells the work: what is left is that of reading
        even = min([one / 2 for of, one in work.items() if CLASSES[of].growth == 1], default=elements)
    return Limits(elements, min(of_products) / _OF_TWO if of_products else elements, even, even)


def _elements_of(kind: str, work: float) -> float:
    """The minimum number of elements for an amount of work in a class."""
    row = CLASSES[kind]
    if work == math.inf:
        return work
    if row.work in (_ordered, _distinguished, _searched):
        work /= math.log2(max(work, 2))
    return float(work ** (1 / row.growth))


@functools.lru_cache(maxsize=1024)
def usual(function: str, shapes: tuple[Shape, ...]) -> float:
    """About the seconds of a call in NumPy, on any machine."""
    row = CLASSES.get(class_of.get(predicted_as(function), ""))
    try:
        return max(map(math.prod, shapes)) * USUAL if row is None else row.work(shapes).amount * row.usual
    except (ValueError, IndexError):
        return 0.0  # too few axes: the call itself raises


@functools.cache
def usual_limits(kind: str) -> Limits:
    """The thresholds of a class on a machine that is not measured."""
    return _limits({one: DECIDING / CLASSES[one].usual for one in _variants(kind)})


class Model(NamedTuple):
    """The cost model of a machine."""

    backends: Mapping[str, Costs]
    """By name, NumPy's first."""
    routes: Mapping[tuple[str, str], Route]
    added: tuple[str, ...] = ()
    """Libraries that were installed after it was measured."""

    def seconds(self, backend: str, what: Call) -> float | None:
        """Seconds of a call without transfers; None if not measured there."""
        kind, amount, laws = what.kind, what.work.amount, self.backends[backend].laws
        whole = WHOLE.get(kind, kind)
        if kind not in laws or whole not in laws:
            return None
        is_narrow = what.width == WIDTHS[0]
        seconds = laws[kind](amount, is_narrow=is_narrow)
        # What was measured of a function by itself: its time on long rows, or square matrices.
        beside = 1.0
        if what.function in laws:
            beside = laws[what.function](amount, is_narrow=is_narrow) / laws[whole](amount, is_narrow=is_narrow)
        seconds *= beside
        slim = laws.get(CLASSES[kind].slim)
        if what.slimness and slim is not None:
            slims = slim(amount, is_narrow=is_narrow) * beside
            if CLASSES[kind].is_of_rows:
                rows = what.slimness
                if rows > 1 and (slims < seconds or (backend == NUMPY and CLASSES[kind].is_by_axis)):
                    rows = 1 / rows  # by columns
                seconds += rows * (slims - seconds)
            else:
                seconds = math.exp((1 - what.slimness) * math.log(seconds) + what.slimness * math.log(slims))
        if what.least is not None and what.least[0] in laws:
            seconds = max(seconds, laws[what.least[0]](what.least[1], is_narrow=is_narrow))
        return seconds

    def first(self, backend: str, what: Call) -> float:
        """Additional seconds of the first call with new shapes."""
        return self.backends[backend].first.get(what.kind, 0.0)

    def bringing(self, source: str, target: str, nbytes: float, *, is_view: bool = False) -> float:
        """Seconds of the transfer of an array, by NumPy if not directly."""
        if source == target:
            return 0.0
        route = self.routes.get((source, target))
        if route is None:
            legs = [(source, "numpy"), ("numpy", target)]
            return sum(self.bringing(*leg, nbytes) for leg in legs) if "numpy" not in (source, target) else math.inf
        return route.view if is_view and route.view is not None else route.copy(nbytes)

    def limits(self, function: str, *, factor: float = 1.0) -> Limits:
        """The thresholds of a function: below, no decision is needed.

        NumPy takes `factor` times as long as predicted.

        A smaller call takes NumPy so little time that no backend gains enough (`automatic.gains`). Larger ones are
        decided about even if no backend is faster, as the profile may be wrong.
        """
        kind, laws = class_of.get(predicted_as(function), ""), self.backends[NUMPY].laws
        least = LOOKED * DECIDING / max(1.0, factor)
        few = {one: laws.get(function, laws[one]).work(least) for one in _variants(kind) if one in laws}
        found = _limits(few if len(self.backends) > 1 else {})
        if found.recorded == math.inf or not CLASSES[kind].is_elementwise:
            return found
        others = [name for name in self.backends if name != NUMPY]
        gained = min([self.crossover(kind, width, name, function, factor) for name in others for width in WIDTHS])
        return found._replace(recorded=max(found.recorded, gained / STEP))

    def crossover(self, kind: str, width: int, backend: str, function: str = "", factor: float = 1.0) -> float:
        """The work above which a backend is clearly faster than NumPy.

        That of a class, or of a function of it; NumPy takes `factor` times as long as predicted. Without transfers.
        Infinity if it never is.
        """
        theirs, its = (self.backends[name].laws for name in (NUMPY, backend))
        if kind not in theirs or kind not in its:
            return math.inf
        there, here = its.get(function, its[kind]), theirs.get(function, theirs[kind])
        part, is_narrow = gain(backend, kind), width == WIDTHS[0]

        def is_faster(work: float) -> bool:
            return there(work, is_narrow=is_narrow) + DECIDING < part * factor * here(work, is_narrow=is_narrow)

        return next((work for work in WORKS if is_faster(work)), math.inf)


BEYOND: Final = 1e30
"""An upper bound for numbers of a profile: sums and products of smaller ones stay finite."""


def _number(given: Any) -> float:
    """A number of a profile.

    Raises ValueError unless it is finite and not negative.
    """
    number = float(given)
    if not 0 <= number < BEYOND:
        raise ValueError(f"{number} is neither a time nor a size")
    return number


def _law(given: Any) -> Law:
    """A law of a profile: positive numbers, None for infinity."""
    numbers = [math.inf if one is None else _number(one) for one in given]
    if len(numbers) != len(Law._fields) or not all(numbers):
        raise ValueError(f"{str(given)[:80]} is no law")
    return Law(*numbers)


def model_of(data: Mapping[str, Any]) -> Model:
    """The model in a profile.

    Raises LookupError, AttributeError, TypeError, ValueError or OverflowError for a malformed one.
    """
    backends = {
        name: Costs(
            {of: _law(law) for of, law in row["laws"].items()},
            {kind: _number(seconds) for kind, seconds in row["first"].items()},
            None if row["fused"] is None else _law(row["fused"]),
            _number(row["compiling"]),
            _number(row["importing"]),
        )
        for name, row in data["backends"].items()
    }
    if NUMPY not in backends:
        raise ValueError("numpy is missing")
    routes = {
        (row["source"], row["target"]): Route(_law(row["copy"]), None if row["view"] is None else _number(row["view"]))
        for row in data["routes"]
    }
    return Model(backends, routes)
