"""Predicted seconds of a call on each backend: pure arithmetic over a profile.

A function belongs to a *class* of functions whose time grows alike; one of each class is measured at many sizes, the
others at one, which tells how many times longer they work. The size of a call is its *work*, in the unit that time
follows: elements of the broadcast inputs, n log n for sorts and transforms, 2mnk for products, n^3 for factorisations.
Matrices far from square are measured apart, and between the two it is interpolated by how far; so are reductions of
short rows, by how many there are, and of tiny ones, which NumPy's backend reduces by columns. A product takes at least
what reading its matrices takes, which products with a vector show. Between measured points time is interpolated on
log-log axes, below the first it is that of the first (launching is all there is), beyond the last it grows with the
work.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from anyarray._base.dtypes import DType

NUMPY: Final = "numpy"
"""The backend with which all others are compared, and the home of free data."""
Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None
"""What a function is told of axes; None if nothing, or if it does not matter for the time."""


class Work(NamedTuple):
    """The size of a call."""

    amount: float
    """In the unit of the class."""
    results: float
    """Elements of what it gives; what it would take to bring that back."""


def _elements(shapes: Sequence[Shape]) -> Work:
    amount = float(math.prod(_broadcast(shapes)))
    return Work(amount, amount)


def _reduced(shapes: Sequence[Shape]) -> Work:
    # To how much depends on `axis`; to one row, say.
    return Work(math.prod(shapes[0]), math.prod(shapes[0][1:]))


def _joined(shapes: Sequence[Shape]) -> Work:
    amount = float(sum(map(math.prod, shapes)))
    return Work(amount, amount)


def _ordered(shapes: Sequence[Shape]) -> Work:
    # Each row by itself; along which axis they lie is not known here, the last is usual.
    n = math.prod(shapes[0])
    return Work(n * math.log2(max(shapes[0][-1] if shapes[0] else 1, 2)), n)


def _distinguished(shapes: Sequence[Shape]) -> Work:
    return _ordered([(math.prod(shapes[0]),)])


def _searched(shapes: Sequence[Shape]) -> Work:
    sought = math.prod(shapes[-1])
    return Work(sought * math.log2(max(math.prod(shapes[0]), 2)), sought)


def _lengths(shapes: Sequence[Shape]) -> tuple[int, int, int, int]:
    """Of a product of matrices: how many there are, m, k and n."""
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


def _outer(shapes: Sequence[Shape]) -> Work:
    amount = float(math.prod(shapes[0]) * math.prod(shapes[-1]))
    return Work(amount, amount)


def _row_length(shape: Shape, axis: Axis) -> int:
    """The elements that lie in memory one by one and NumPy reduces at once.

    `LONG_ROW` if they are as many as can matter.
    """
    if axis in (None, ()) or not shape:
        return LONG_ROW
    reduced = {one % len(shape) for one in ((axis,) if isinstance(axis, int) else axis)}
    last = len(shape) - 1
    if last in reduced:
        whole = next((one for one in range(last, -1, -1) if one not in reduced), -1)
        return min(math.prod(shape[whole + 1 :]), LONG_ROW)
    together = math.prod(shape[max(reduced) + 1 :])
    if reduced == {0} and together <= NARROW_ROW:
        return LONG_ROW
    return min(max(together, SHORT_ROW), LONG_ROW)


def _row_lengths(shapes: Sequence[Shape], axis: Axis) -> Shape:
    return LONG_ROW, _row_length(shapes[0], axis)


def _runs(shapes: Sequence[Shape], axis: Axis) -> Shape:
    """Of two arrays: `LONG_ROW`, and how many elements lie one by one in both.

    Or in one of them, beside the same element of the other.
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
    """Of a transform: as far from square as counts, unless it is of rows."""
    return (1, 1) if axis in (None, -1, len(shapes[0]) - 1) else (SLIMMEST, 1)


def _factorised(shapes: Sequence[Shape]) -> Work:
    *stack, m, n = shapes[0]
    return Work(math.prod(stack) * m * n * min(m, n), math.prod(shapes[0]))


def _gathered(shapes: Sequence[Shape]) -> Work:
    amount = float(math.prod(shapes[-1]) * math.prod(shapes[0][1:]))
    return Work(amount, amount)


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that shapes broadcast to.

    The call itself refuses those that do not.
    """
    ndim = max(map(len, shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    return tuple([0 if 0 in lengths else max(lengths) for lengths in zip(*padded, strict=True)])


class FunctionClass(NamedTuple):
    """Functions that take about as long on the same data."""

    work: Callable[[Sequence[Shape]], Work]
    growth: float
    """The most work of a call with arrays of n elements is about n to this power.

    That of a call with two arrays is at most `_OF_TWO` times the product of their elements, if it is more than 1.
    """
    kinds: str
    """Kinds of dtypes that the measurements speak for; others run where they are."""
    first: str
    """The function that is measured at many sizes."""
    slim: str = ""
    """The class of the same functions on matrices far from square."""
    short: int = 0
    """Elements of the rows of that class, if it is one of rows."""
    tiny: str = ""
    """The class of the same reductions of rows shorter than `SHORT_ROW`."""
    lengths: Callable[[Sequence[Shape], Axis], Shape] = lambda shapes, axis: shapes[0][-2:]
    """What has to be equal in a square one."""
    is_by_axis: bool = False
    """Whether it hangs on the axis how slim a call is."""
    least: str = ""
    """A class whose time it takes at least, and all of it if one of the lengths is 1."""
    is_elementwise: bool = False
    """Whether an element of the result follows from those at its place alone."""
    is_linear_if_even: bool = False
    """Whether the work grows with the elements if two arrays have one shape."""


SLIMMEST: Final = 256
"""How many times longer than wide are the matrices that count as far from square."""
LONG_ROW: Final = 4096
"""Elements of a row from which it does not matter how many there are."""
SHORT_ROW: Final = 16
"""Elements of the rows that count as short; what has fewer is tiny, and reduced by columns in NumPy."""
TINY_ROW: Final = 4
"""Elements of the tiny rows that are measured, and of those over which arrays are broadcast."""
NARROW_ROW: Final = 64
"""Elements of rows many of which NumPy's backend takes for one, if it goes down them."""


CLASSES: Final[dict[str, FunctionClass]] = {
    "arithmetic": FunctionClass(
        _elements, 1, "biufc", "add",
        slim="arithmetic of short rows", short=TINY_ROW, lengths=_runs, is_elementwise=True,
    ),
    "arithmetic of short rows": FunctionClass(_elements, 1, "biufc", "add"),
    "transcendental": FunctionClass(_elements, 1, "iuf", "exp", is_elementwise=True),
    "sum": FunctionClass(
        _reduced, 1, "biufc", "sum",
        slim="sum of short rows", short=SHORT_ROW, tiny="sum of tiny rows",
        lengths=_row_lengths, is_by_axis=True,
    ),
    "sum of short rows": FunctionClass(_reduced, 1, "biufc", "sum"),
    "sum of tiny rows": FunctionClass(_reduced, 1, "biufc", "sum"),
    "extremum": FunctionClass(
        _reduced, 1, "biuf", "max",
        slim="extremum of short rows", short=SHORT_ROW, tiny="extremum of tiny rows",
        lengths=_row_lengths, is_by_axis=True,
    ),
    "extremum of short rows": FunctionClass(_reduced, 1, "biuf", "max"),
    "extremum of tiny rows": FunctionClass(_reduced, 1, "biuf", "max"),
    "variance": FunctionClass(
        _reduced, 1, "iuf", "var",
        slim="variance of short rows", short=SHORT_ROW, tiny="variance of tiny rows",
        lengths=_row_lengths, is_by_axis=True,
    ),
    "variance of short rows": FunctionClass(_reduced, 1, "iuf", "var"),
    "variance of tiny rows": FunctionClass(_reduced, 1, "iuf", "var"),
    "cumulative": FunctionClass(_elements, 1, "iuf", "cumulative_sum"),
    "sort": FunctionClass(_ordered, 1, "iuf", "sort"),
    "argsort": FunctionClass(_ordered, 1, "iuf", "argsort"),
    "search": FunctionClass(_searched, 1, "iuf", "searchsorted"),
    "unique": FunctionClass(_distinguished, 1, "iuf", "unique_values"),
    "matmul": FunctionClass(
        _product, 1.5, "fc", "matmul",
        slim="product of a slim matrix", lengths=_product_shape, least="product with a vector",
    ),
    "product of a slim matrix": FunctionClass(_product, 1.5, "fc", "matmul"),
    "product with a vector": FunctionClass(_read, 1, "fc", "matmul"),
    "dot": FunctionClass(_elements, 1, "fc", "vecdot"),
    "outer": FunctionClass(_outer, 2, "fc", "outer"),
    "fft": FunctionClass(
        _ordered, 1, "fc", "fft", slim="fft of columns", lengths=_columns, is_by_axis=True
    ),
    "fft of columns": FunctionClass(_ordered, 1, "fc", "fft"),
    "fft of all axes": FunctionClass(_distinguished, 1, "fc", "fftn"),
    "solve": FunctionClass(_factorised, 1.5, "f", "solve"),
    "cholesky": FunctionClass(_factorised, 1.5, "f", "cholesky"),
    "qr": FunctionClass(_factorised, 1.5, "f", "qr", slim="qr of a slim matrix"),
    "qr of a slim matrix": FunctionClass(_factorised, 1.5, "f", "qr"),
    "svd": FunctionClass(_factorised, 1.5, "f", "svd", slim="svd of a slim matrix"),
    "svd of a slim matrix": FunctionClass(_factorised, 1.5, "f", "svd"),
    "eigh": FunctionClass(_factorised, 1.5, "f", "eigh"),
    "gather": FunctionClass(_gathered, 2, "biuf", "take", is_linear_if_even=True),
    "join": FunctionClass(_joined, 1, "biufc", "concat"),
    "creation": FunctionClass(_elements, 1, "biufc", "ones_like"),
}  # fmt: skip
"""The classes by name; what a declaration calls the cost of a function. Only a call is slim, no function."""


def _contracted(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The matrices of whose product a tensordot is one.

    Over how many axes it sums is not known here. Raises ValueError unless the shapes tell.
    """
    first, second = shapes[0], shapes[-1]
    (n,) = (n for n in range(1, min(len(first), len(second)) + 1) if first[-n:] == second[:n])
    summed = math.prod(second[:n])
    return (math.prod(first[:-n]), summed), (summed, math.prod(second[n:]))


def _one_by_one(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The vectors of which one is taken where whole rows are not."""
    return (math.prod(shapes[0]),), (math.prod(shapes[-1]),)


class Like(NamedTuple):
    """The cost of a function that no class has: it is predicted as another."""

    function: str
    kinds: str
    """Kinds of dtypes for which they are alike."""
    shapes: Callable[[Sequence[Shape]], Sequence[Shape]] = lambda shapes: shapes
    """The shapes of the other's inputs."""


LIKES: Final[dict[str, Like]] = {
    "complex negative": Like("negative", "c"),
    "gather of single elements": Like("take", "biuf", _one_by_one),
    "matmul at least": Like("matmul", "fc", lambda shapes: (shapes[0], shapes[0])),
    "matmul of what is reshaped": Like("matmul", "fc", _contracted),
}
"""Costs of functions that take about as long as one of a class, or longer. They are not measured themselves."""

COSTS: Final = (*CLASSES, *LIKES)
"""What a declaration may say of the cost."""

class_of: Final[dict[str, str]] = {}
"""The class of a function, as declared."""
like: Final[dict[str, Like]] = {}
"""What a function that no class has is predicted as, as declared."""


def _variants(kind: str) -> tuple[str, ...]:
    """The class, and those of the same functions on other shapes."""
    row = CLASSES[kind]
    return tuple([one for one in (kind, row.slim, row.tiny, row.least) if one])


def classify(function: str, cost: str) -> None:
    """Let a function cost what a class of `CLASSES` does, or one of `LIKES`.

    No time is predicted of a function without a cost: it runs where its inputs are. So do views, and what gives no more
    than numbers about an array; creation, for which NumPy is home; copies in another order and the like, which take
    about as long as bringing the data; what hardly any accelerator has; and what depends on values, or on more
    arguments than shapes.
    """
    if cost in LIKES:
        like[function] = LIKES[cost]
    else:
        class_of[function] = cost


WIDTHS: Final = (4, 8)
"""Bytes of the real numbers that are measured, float32 and float64; each dtype counts as the nearer one."""


DECIDING: Final = 1e-4
"""Seconds that must be won at least: where it is less, nothing moves and nobody decides.

A decision takes some 30 us, several times that where large arrays have driven Python out of the caches. Where a library
is faster that has compiled the call, it is made at each call until moving has paid.
"""
GAIN: Final = 2 / 3
"""Part of the time here that a call may take elsewhere at most.

Less of a gain is within the error: a call takes half as long again where the threads of a library were asleep, or where
its result is not given the memory of the one before.
"""
GAIN_AT_HOME: Final = 3 / 4
"""The same of a call that goes home to NumPy, from where its data went for the sake of another call.

There it cannot take longer than in NumPy alone, however wrong the prediction. Yet the call there takes a fifth longer
on data that other threads have just written, and so does the next one elsewhere.
"""
GAIN_BESIDE: Final = 1 / 2
"""What `GAIN` is for products and factorisations on the CPU that is NumPy's, too.

Each library has a BLAS of its own, whose threads wait by spinning: they take a core from the other one's next call,
which then takes up to twice as long.
"""
LOOKED: Final = 1.5
"""Times `DECIDING` that a call takes NumPy from which it is looked at for the sake of what was missed before it."""
STEP: Final = 1.5
"""How near a work that is searched for is found."""
FAR: Final = 16.0
"""How many times more work than was measured a backend is trusted with where NumPy was measured."""


def gain(name: str, kind: str) -> float:
    """Part of the time here that a call of a class may take on a backend."""
    if name == NUMPY:
        return GAIN_AT_HOME
    return GAIN_BESIDE if CLASSES[kind].work in (_product, _read, _factorised) and name.endswith("-cpu") else GAIN


class Call(NamedTuple):
    """A call, as far as its time goes."""

    function: str
    kind: str
    """Name of its class."""
    width: int
    """One of `WIDTHS`."""
    work: Work
    itemsize: int
    """Bytes of an element of the inputs."""
    slimness: float = 0.0
    """0 for square matrices, 1 for those that are `SLIMMEST` or slimmer; by the logarithm between.

    Of rows how many there are, beside those that are measured.
    """
    least: tuple[str, float] | None = None
    """A class whose time for so much work it takes at least."""


def call(function: str, shapes: Sequence[Shape], dtypes: Sequence[DType], *, axis: Axis = None) -> Call | None:
    """The call of a function with inputs of these shapes and dtypes.

    `axis` counts for functions of a class that `is_by_axis`. None if no measurement speaks for it.
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
        return None  # too few axes: the call itself says so
    least = (row.least, CLASSES[row.least].work(shapes).amount) if row.least else None
    if least is not None and min(lengths) <= 1:
        return Call(function, least[0], width, Work(least[1], work.results), widest)
    if row.short:
        length = max(min(lengths), 1)
        if row.tiny and length < row.short:
            return Call(function, row.tiny, width, work, widest)
        return Call(function, kind, width, work, widest, 0.0 if length == LONG_ROW else row.short / length)
    ratio = max(*lengths, 1) / max(min(lengths), 1)
    return Call(function, kind, width, work, widest, min(1.0, math.log(ratio) / math.log(SLIMMEST)), least)


class Curve:
    """Seconds by work, or by bytes, through measured points."""

    def __init__(self, points: Sequence[Sequence[float]]) -> None:
        self.points = sorted((float(x), float(seconds)) for x, seconds in points)
        self._logs = [(math.log(max(x, 1.0)), math.log(max(seconds, 1e-9))) for x, seconds in self.points]
        self._xs = [x for x, _ in self._logs]
        self.reach = self.points[-1][0]
        """The largest work, or bytes, that was measured."""

    def __call__(self, x: float) -> float:
        """Seconds at `x`."""
        logs, at = self._logs, math.log(max(x, 1.0))
        i = bisect.bisect(self._xs, at)
        if i == 0:
            return math.exp(logs[0][1])
        x0, y0 = logs[i - 1]
        if i == len(logs):
            return math.exp(y0 + at - x0)
        x1, y1 = logs[i]
        return math.exp(y0 + (y1 - y0) * (at - x0) / (x1 - x0))


class Beside(NamedTuple):
    """A function beside the first of its class.

    One that takes longer computes more, however fast memory is; one that takes less computes, reads or writes less.
    What takes more than in proportion, as new pages of memory do, takes both the same.
    """

    part: float = 1.0
    """Of the other's time, launching aside."""
    more: float = 0.0
    """Seconds on top, by work."""
    at: float = math.inf
    """The work at which they were compared."""


class Costs(NamedTuple):
    """What is known of one backend."""

    curves: Mapping[tuple[str, int], Curve]
    """Seconds by work, for each class and width."""
    others: Mapping[tuple[str, int], Beside] = {}
    """The functions that are not the first of their class, by name and width."""
    first: Mapping[str, float] = {}
    """Seconds that the first call of a function with new shapes takes longer, compiling say; by class."""
    fused: Mapping[int, Curve] = {}
    """Seconds of a chain of elementwise calls by elements, compiled as a whole if the backend does; by width."""
    compiling: float = 0.0
    """Seconds that compiling that chain takes."""
    importing: float = 0.0
    """Seconds that importing the library takes."""
    entering: float = 0.0
    """Seconds that a call takes longer right after NumPy's.

    They drove the library's code out of the caches, and its threads fell asleep.
    """


_SAME: Final = Beside()


class Route(NamedTuple):
    """What bringing arrays from one backend to another takes."""

    copy: Curve
    """Seconds by bytes."""
    view: float | None = None
    """Seconds where memory is shared; None where it cannot be."""


_OF_TWO: Final = 3
"""The most work of a call with two arrays, reading them included, beside the product of their elements."""


class Limits(NamedTuple):
    """Elements of inputs below which a call of a function is not looked at."""

    elements: float
    """Of any one input."""
    product: float
    """Of two inputs of any shapes, multiplied."""
    even: float
    """Of the first of inputs of one shape; never less than `elements`."""


class Model(NamedTuple):
    """What is known of a machine."""

    backends: Mapping[str, Costs]
    """By name, NumPy's first."""
    routes: Mapping[tuple[str, str], Route]
    added: tuple[str, ...] = ()
    """Libraries that were installed since it was measured."""

    def seconds(self, backend: str, what: Call) -> float | None:
        """Seconds of a call, all inputs at hand; None if not measured there.

        A backend that was too slow to be measured on sizes on which NumPy was is not trusted with them either, unless
        they are near.
        """
        kind, width, amount = what.kind, what.width, what.work.amount
        curves, numpys = self.backends[backend].curves, self.backends["numpy"].curves
        if (kind, width) not in curves:
            return None
        slim = CLASSES[kind].slim if (CLASSES[kind].slim, width) in curves else ""
        near = (slim if slim and what.slimness > 0.5 else kind), width
        if near in numpys and FAR * curves[near].reach < min(amount, numpys[near].reach):
            return None
        seconds = self._worked(backend, what.function, kind, width, amount)
        if what.slimness and slim:
            slims = self._worked(backend, what.function, slim, width, amount)
            if CLASSES[kind].short:
                seconds += (what.slimness if slims > seconds else min(what.slimness, 1.0)) * (slims - seconds)
            else:
                seconds = math.exp((1 - what.slimness) * math.log(seconds) + what.slimness * math.log(slims))
        if what.least is not None and (what.least[0], width) in curves:
            seconds = max(seconds, self._worked(backend, what.function, what.least[0], width, what.least[1]))
        return seconds

    def _worked(self, backend: str, function: str, kind: str, width: int, amount: float) -> float:
        """Seconds of so much work of a function, whose class was measured."""
        costs = self.backends[backend]
        curve = costs.curves[kind, width]
        launching = curve.points[0][1]
        others = costs.others
        beside = others.get((function, width)) or others.get((function, sum(WIDTHS) - width)) or _SAME
        part, more, at = beside
        working = curve(amount) - launching
        in_proportion = working if amount <= at else min(working, (curve(at) - launching) * amount / at)
        return launching + part * in_proportion + (working - in_proportion) + more * amount

    def first(self, backend: str, what: Call) -> float:
        """Seconds that its first call with new shapes takes longer."""
        return self.backends[backend].first.get(what.kind, 0.0)

    def bringing(self, source: str, target: str, nbytes: float, *, is_view: bool = False) -> float:
        """Seconds of bringing an array.

        It goes by NumPy where there is no measured route.
        """
        if source == target:
            return 0.0
        route = self.routes.get((source, target))
        if route is None:
            legs = [(source, "numpy"), ("numpy", target)]
            return sum(self.bringing(*leg, nbytes) for leg in legs) if "numpy" not in (source, target) else math.inf
        return route.view if is_view and route.view is not None else route.copy(nbytes)

    def crossover(self, kind: str, width: int, backend: str, function: str = "") -> float:
        """The work from which a backend clearly beats NumPy, if ever.

        It is infinity if never. Inputs are at hand. The work is that of the first function of a class unless another is
        named.
        """
        numpys, ours = (self.backends[name].curves.get((kind, width)) for name in ("numpy", backend))
        if numpys is None or ours is None:
            return math.inf
        marks = sorted({x for curve in (numpys, ours) for x, _ in curve.points})
        finer = [a * (b / a) ** (i / 16) for a, b in itertools.pairwise(marks) for i in range(16)]
        theirs, its = (functools.partial(self._worked, name, function, kind, width) for name in ("numpy", backend))
        part = gain(backend, kind)
        return next((x for x in [*finer, *marks[-1:]] if its(x) + DECIDING < part * theirs(x)), math.inf)

    def limits(self, function: str, widths: Sequence[int] = WIDTHS) -> Limits:
        """The least elements of inputs with which a call may be decided about.

        Below, all calls with dtypes of these widths are fastest in NumPy. From where they take NumPy long enough for a
        decision to add little, they are looked at, too: what was missed for the inputs is kept, though nobody is faster
        at this function.
        """
        function = like[function].function if function in like else function
        kind = class_of.get(function)
        others = [name for name in self.backends if name != "numpy"]
        if kind is None or not others:
            return Limits(math.inf, math.inf, math.inf)
        work = {
            one: min(
                min(self.crossover(one, width, name, function) for name in others for width in widths),
                min(self._work_in_numpy(one, width, function, LOOKED * DECIDING) for width in widths),
            )
            for one in _variants(kind)
        }
        row = CLASSES[kind]
        of_one_shape = {kind: work[kind]} if row.is_elementwise else work
        elements = min(self._elements_of(one, least) for one, least in work.items())
        return Limits(
            elements,
            elements if row.growth == 1 else min(work.values()) / _OF_TWO,
            min(
                least if row.is_linear_if_even else self._elements_of(one, least) for one, least in of_one_shape.items()
            ),
        )

    def _work_in_numpy(self, kind: str, width: int, function: str, seconds: float) -> float:
        """The work that takes NumPy so many seconds, from above.

        It is infinite if the class was not measured.
        """
        curve = self.backends["numpy"].curves.get((kind, width))
        if curve is None:
            return math.inf
        worked = functools.partial(self._worked, "numpy", function, kind, width)
        low, high = 1.0, max(curve.reach, 1.0)
        if worked(high) < seconds:
            return high * seconds / worked(high)
        while high > STEP * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if worked(middle) >= seconds else (middle, high)
        return high if worked(low) < seconds else low

    def _elements_of(self, kind: str, work: float) -> float:
        """The least elements of inputs with which a class has so much work."""
        row = CLASSES[kind]
        if work == math.inf:
            return work
        if row.work in (_ordered, _distinguished, _searched):
            work /= math.log2(max(work, 2))
        return float(work ** (1 / row.growth))


BEYOND: Final = 1e30
"""What no number of a profile comes near: sums and products of smaller ones stay finite."""


def _number(given: Any) -> float:
    """A number of a profile.

    Raises ValueError unless it is finite and not negative.
    """
    number = float(given)
    if not 0 <= number < BEYOND:
        raise ValueError(f"{number} is neither a time nor a size")
    return number


def _size(given: Any) -> float:
    """A number of a profile that is not 0 either: a size or its time."""
    number = _number(given)
    if not number:
        raise ValueError("a size or its time is 0")
    return number


def _curve(points: Sequence[Sequence[float]]) -> Curve:
    return Curve([(_size(x), _size(seconds)) for x, seconds in points])


def model_of(data: Mapping[str, Any]) -> Model:
    """The model in a profile.

    Raises LookupError, AttributeError, TypeError, ValueError or OverflowError for one that is not as it should be.
    """
    backends = {
        name: Costs(
            {
                (kind, int(width)): _curve(points)
                for kind, by_width in row["classes"].items()
                for width, points in by_width.items()
                if points
            },
            {
                (function, int(width)): Beside(_number(part), _number(more), _size(at))
                for function, by_width in row["others"].items()
                for width, (part, more, at) in by_width.items()
            },
            {kind: _number(seconds) for kind, seconds in row["first"].items()},
            {int(width): _curve(points) for width, points in row["fused"].items() if points},
            _number(row["compiling"]),
            _number(row["importing"]),
            _number(row.get("entering", 0)),
        )
        for name, row in data["backends"].items()
    }
    if "numpy" not in backends:
        raise ValueError("numpy is missing")
    routes = {
        (row["source"], row["target"]): Route(
            _curve(row["copy"]), None if row["view"] is None else _number(row["view"])
        )
        for row in data["routes"]
        if row["copy"]
    }
    return Model(backends, routes)
