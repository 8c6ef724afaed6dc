"""What `calibrate` measures: launching and working, class by class; bringing arrays over; importing; compiling.

The backends take turns in short rounds and the least round of each counts, as noise only ever adds. All cells (a class of
functions at one size and width) are passed over twice, so that a slow minute of the machine spoils no cell, and a run that
is cut short has measured every class it came to.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from anyarray import _automatic, _backend, _choice, _cost, _errors, _profile, _transfer
from anyarray._backend import Backend
from anyarray.standard import creation, elementwise, fft, linalg, linear_algebra, manipulation
from anyarray.standard import indexing, searching, sets, sorting, statistical
from anyarray.transforms import jit

__all__ = ["calibrate"]

Host = np.ndarray[Any, Any]

SPACES: Final = (
    elementwise, statistical, sorting, searching, sets, linear_algebra, linalg, fft, indexing, manipulation, creation,
)  # fmt: skip
ROUND_SECONDS: Final = 5e-4
"""About the length of a round: shorter than the slice of time that a busy machine gives."""
LONGEST: Final = 0.15
"""Seconds of a call from which on no larger size is tried."""
PASSES: Final = 2


# ---------------------------------------------------------------------- inputs
def _vector(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return (np.resize(random.uniform(0.1, 1.0, min(n, 1 << 20)), n).astype(dtype),)


def _two_vectors(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return _vector(random, n, dtype) * 2


def _complex_vector(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return (_vector(random, 2 * n, dtype)[0].view(np.result_type(dtype, np.complex64)),)


def _sought(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return np.sort(_vector(random, n, dtype)[0]), *_vector(random, n, dtype)


def _few_values(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return (random.integers(0, 1000, n).astype(dtype),)


def _indices(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return *_vector(random, n, dtype), random.integers(0, n, n)


def _matrix(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return (random.standard_normal((round(n**0.5),) * 2).astype(dtype),)


def _two_matrices(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return _matrix(random, n, dtype) * 2


def _positive(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    (a,) = _matrix(random, n, dtype)
    return (a @ a.T + len(a) * np.eye(len(a), dtype=dtype),)


def _list(random: np.random.Generator, n: int, dtype: Any) -> tuple[list[Host]]:
    return (list(_two_vectors(random, n, dtype)),)


_LONG: Final = (1 << 6, 1 << 12, 1 << 16, 1 << 20, 1 << 24)
_SQUARE: Final = (4**2, 32**2, 128**2, 512**2, 2048**2)
INPUTS: Final[dict[str, tuple[Callable[..., Any], tuple[int, ...]]]] = {
    "remainder": (_two_vectors, _LONG),
    "power": (_two_vectors, _LONG),
    "arithmetic": (_two_vectors, _LONG),
    "search": (_sought, _LONG),
    "unique": (_few_values, _LONG),
    "matmul": (_two_matrices, _SQUARE),
    "dot": (_two_vectors, _LONG),
    "outer": (_two_vectors, (1 << 3, 1 << 6, 1 << 8, 1 << 10)),
    "fft": (_complex_vector, _LONG),
    "solve": (lambda random, n, dtype: _positive(random, n, dtype) * 2, _SQUARE),
    "cholesky": (_positive, _SQUARE),
    "qr": (_matrix, _SQUARE),
    "svd": (_matrix, _SQUARE),
    "eigh": (_positive, _SQUARE),
    "gather": (_indices, _LONG),
    "join": (_list, _LONG),
}
"""How the inputs of a class are made, and their sizes in elements; one vector where a class is not named."""


def _function(kind: str) -> Callable[..., Any]:
    """The function that stands for a class."""
    name = _cost.CLASSES[kind].functions[0]
    return next(getattr(space, name) for space in SPACES if hasattr(space, name))  # type: ignore[no-any-return]


def _chain(x: Any) -> Any:
    """Elementwise calls in a row: what compiling as a whole is for."""
    y = 1 / (1 + elementwise.exp(-x))
    return y * (1 - y) + elementwise.tanh(x) * 2 - x * x


FUSED: Final = "fused"
"""Beside the classes: the chain, compiled."""


@dataclass(frozen=True)
class Cell:
    """A class of functions at one width and one size."""

    kind: str
    width: int
    size: int

    def inputs(self) -> tuple[Any, ...]:
        """NumPy arrays, or a list of them."""
        make = INPUTS.get(self.kind, (_vector, _LONG))[0]
        made: tuple[Any, ...] = make(np.random.default_rng(0), self.size, np.dtype(f"f{self.width}"))
        return made

    def work(self) -> float:
        """In the unit of the class; elements for the chain."""
        shapes = [a.shape for one in self.inputs() for a in (one if isinstance(one, list) else [one])]
        return float(self.size) if self.kind == FUSED else _cost.CLASSES[self.kind].work(shapes).amount


def _cells() -> list[Cell]:
    """All cells, the sizes of a class from small to large."""
    return [
        Cell(kind, width, size)
        for kind in (*_cost.CLASSES, FUSED)
        for width in _cost.WIDTHS
        for size in INPUTS.get(kind, (_vector, _LONG))[1]
    ]


# ---------------------------------------------------------------------- timing
def _in_turns(calls: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, tuple[float, float]]:
    """For each call the least seconds it took, and what its first call took longer; who fails is left out."""
    found: dict[str, tuple[float, float]] = {}
    loops: dict[str, int] = {}
    for name, call in calls.items():
        try:
            first = _timed(call, 1)
            once = min(_timed(call, 1), _timed(call, 1))
        except Exception:  # noqa: BLE001 - whatever a library raises, it cannot do this: so it is no candidate
            continue
        loops[name] = max(1, round(ROUND_SECONDS / once))
        found[name] = once, first
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, (least, first) in found.items():
            found[name] = min(least, _timed(calls[name], loops[name])), first
    return {name: (least, first - least) for name, (least, first) in found.items()}


def _timed(call: Callable[[], Any], loops: int) -> float:
    started = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - started) / loops


def _waiting(function: Callable[..., Any], inputs: Sequence[Any], backend: Backend) -> Callable[[], Any]:
    """The call on a backend, inputs there already; it returns when the result is computed."""
    synchronize = backend.hook("synchronize")
    with _choice.backend(backend):
        arrays = [
            [creation.asarray(a) for a in one] if isinstance(one, list) else creation.asarray(one) for one in inputs
        ]

    def called() -> None:
        with _choice.backend(backend):
            result = function(*arrays)
        synchronize((result[0] if isinstance(result, tuple) else result)._native)

    return called


# ---------------------------------------------------------------------- calibration
@dataclass
class Calibration:
    """What is measured of some backends; `steps` goes on with it, `data` is what there is so far."""

    backends: Sequence[Backend]
    importing: Mapping[str, float]
    """Seconds by library."""
    _least: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _first: dict[tuple[Cell, str], float] = field(default_factory=dict[tuple[Cell, str], float])
    _routes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def steps(self, seconds: float) -> Iterator[tuple[float, str]]:
        """Measure for about that long; yields the part that is done and what comes next."""
        end = time.perf_counter() + seconds
        pairs = [(a, b) for a in self.backends for b in self.backends if a is not b]
        for i, (source, target) in enumerate(pairs):
            yield 0.05 * i / len(pairs), f"{source} to {target}"
            self._measure_route(source, target, 0.04 * seconds / len(pairs) / len(_BYTES))
        cells = _cells()
        for turn in range(PASSES):
            for i, cell in enumerate(cells):
                done = turn * len(cells) + i
                left = end - time.perf_counter()
                if left <= 0 and turn:
                    return
                yield 0.05 + 0.95 * done / (PASSES * len(cells)), f"{cell.kind} {cell.size}"
                self._measure(cell, max(left, 0.0) / (PASSES * len(cells) - done))

    def _measure(self, cell: Cell, seconds: float) -> None:
        names = [backend for backend in self.backends if not self._is_too_long(cell, backend)]
        if not names:
            return
        function, inputs = jit(_chain) if cell.kind == FUSED else _function(cell.kind), cell.inputs()
        calls: dict[str, Callable[[], Any]] = {}
        for backend in names:
            try:
                calls[backend.name] = _waiting(function, inputs, backend)
            except Exception:  # noqa: BLE001 - it has no such dtype, or no room
                continue
        started = time.perf_counter()
        for name, (least, first) in _in_turns(calls, 0.0).items():
            self._note(cell, name, least, first)
        rest = seconds - (time.perf_counter() - started)
        if rest > 0:
            known = {name: call for name, call in calls.items() if (cell, name) in self._least}
            for name, (least, _) in _in_turns(known, rest).items():
                self._note(cell, name, least, 0.0)

    def _note(self, cell: Cell, name: str, least: float, first: float) -> None:
        self._least[cell, name] = min(least, self._least.get((cell, name), least))
        self._first.setdefault((cell, name), max(first, 0.0))

    def _is_too_long(self, cell: Cell, backend: Backend) -> bool:
        """Whether a backend needs too long for a size, by what it took for the one before, or failed there."""
        sizes = INPUTS.get(cell.kind, (_vector, _LONG))[1]
        at = sizes.index(cell.size)
        if at == 0:
            return False
        before = self._least.get((Cell(cell.kind, cell.width, sizes[at - 1]), backend.name))
        growth = 1.5 if sizes is _SQUARE else 1.0
        return before is None or before * (cell.size / sizes[at - 1]) ** growth > LONGEST

    def _measure_route(self, source: Backend, target: Backend, seconds: float) -> None:
        way = _transfer.route(source, target)
        numpy = _backend.backend_of_name("numpy")
        points: list[tuple[int, float]] = []
        view: float | None = None
        for nbytes in _BYTES:
            # Aligned, and held by nobody else: memory that can be shared if any can.
            host = numpy.free.exported(np.zeros(nbytes // 4, dtype=np.float32))
            native = _transfer.moved(host, numpy, source, "calibrate")[0] if source is not numpy else host
            copy, share, wait = way.copy, way.share, target.hook("synchronize")
            calls = {"copy": lambda native=native: wait(copy(native))}
            if share is not None and share(native) is not None:
                calls["view"] = lambda native=native: wait(share(native))
            found = _in_turns(calls, seconds)
            if "copy" in found:
                points.append((nbytes, found["copy"][0]))
            if "view" in found:
                view = max(view or 0.0, found["view"][0])
        self._routes.append({"source": source.name, "target": target.name, "copy": points, "view": view})

    def data(self) -> dict[str, Any]:
        """What the profile holds, as JSON knows it."""
        return {
            "backends": {backend.name: self._costs(backend) for backend in self.backends},
            "routes": self._routes,
        }

    def _costs(self, backend: Backend) -> dict[str, Any]:
        classes: dict[str, dict[str, list[tuple[float, float]]]] = {}
        firsts: dict[str, list[float]] = {}
        for (cell, name), seconds in self._least.items():
            if name == backend.name:
                classes.setdefault(cell.kind, {}).setdefault(str(cell.width), []).append((cell.work(), seconds))
                firsts.setdefault(cell.kind, []).append(self._first[cell, name])
        first = {kind: float(np.median(found)) for kind, found in firsts.items()}
        return {
            "importing": self.importing.get(backend.library, 0.0),
            "compiling": first.pop(FUSED, 0.0),
            "fused": classes.pop(FUSED, {}),
            "first": first,
            "classes": classes,
        }


_BYTES: Final = (1 << 8, 1 << 16, 1 << 20, 1 << 23)


def prepared(names: Sequence[str] | None = None) -> Calibration:
    """A calibration of these backends, or of every device kind of every library that works here; imports them.

    Raises BackendError for a name that was given and cannot be used.
    """
    importing: dict[str, float] = {}
    backends = [_backend.backend_of_name("numpy")]
    for name in names or _backend.libraries():
        try:
            library = _backend.parse(name)[0]
            if library.name not in importing and library.name != "numpy":
                importing[library.name] = _import_seconds(library)
            found = _backend.backend_of_name(name)
        except (_errors.BackendError, ImportError, OSError):  # the latter two: a broken installation
            if names:
                raise
            continue
        backends.append(found)
    return Calibration(list(dict.fromkeys(backends)), importing)


def _import_seconds(library: _backend.Library) -> float:
    """Seconds that loading a library takes; in another process if it is loaded here."""
    started = time.perf_counter()
    if library.is_loaded():
        program = f"from anyarray import _backend; _backend.load(_backend.LIBRARIES[{library.name!r}])"
        subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    else:
        _backend.load(library)
    return time.perf_counter() - started


def calibrate(*, seconds: float = 60.0, backends: Sequence[str] | None = None) -> Path | None:
    """Measure the backends of this machine, so that the automatic choice can choose; gives the profile's path.

    Takes about `seconds` beyond importing and compiling. `backends` are names, such as ["numpy", "jax"]; left out, all that work
    here. The profile is used at once and by every later program of this user. Interrupted by Ctrl-C it
    keeps what is measured. None, and nothing is written, if ANYARRAY_PROFILE is "off". The same at the command line:
    `python -m anyarray calibrate`. Raises BackendError for a name that cannot be used.

    >>> import anyarray as xp
    >>> xp.calibrate.__name__  # takes about a minute
    'calibrate'
    """
    measuring = prepared(backends)
    try:
        for _ in measuring.steps(seconds):
            pass
    finally:
        written = keep(measuring)
    return written


def keep(measuring: Calibration) -> Path | None:
    """Write what was measured into the profile, and use it from now on; its path."""
    file = _profile.path()
    if file is not None:
        _profile.save(measuring.data(), {backend.library: None for backend in measuring.backends}, file)
        _automatic.forget()
    return file
