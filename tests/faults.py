"""Faults put into a copy of the package, to see which the tests find.

    python tests/faults.py                       # all of them, some half an hour on one core
    python tests/faults.py torch .c              # those with one of these words in the file's path or the backends

Each row of FAULTS is a file below `anyarray/`, the backends, and the tests that are run until one fails: those of
`tests/test_*.py`, or those of their tests with a word in their names. Then follow the old text, which stands there
once, and the new. C is compiled anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
USUAL: Final = ("numpy", "jax", "tf")
"""What `nox -s tests` runs on."""
LONGEST: Final = 1200
"""Seconds after which the tests count as hanging, which is a way to fail."""

FAULTS: Final = """
_array/assignment.py | numpy | operators:place errors:place
    if home.shape_of(native) != x._home.shape_of(before):
    if False:
_array/complex_order.py | jax,tf | methods:argsort
    return _xp.lexsort((imag, real, rank), axis=axis)
    return _xp.lexsort((real, imag, rank), axis=axis)
_array/flat.py | numpy | methods:flat
    return found.copy() if found.ndim else found
    return found
_array/layout.py | numpy | views:read_only
    if value and not self.writeable:
    if False:
_array/methods.py | numpy | methods:reshape
    wanted)[::-1], copy=copy).T
    wanted), copy=copy).T
_base/blocks.py | numpy | blocks:opened
    if self._open is not None:
    if False:
_base/dtypes.py | numpy | dtypes
    return {1: "float16", 2: "float32"}.get
    return {1: "float32", 2: "float32"}.get
_base/dtypes.py | numpy | dask
    "i": "int64", "u": "uint64"}.get(kind
    "i": "int64", "u": "int64"}.get(kind
_call/batching.py | numpy | batching transforms
    tuple(range(1, 1 + missing))) if missing
    tuple(range(missing))) if missing
_call/by_position.py | numpy | by_position
    "n axis prepend append"
    "axis n prepend append"
_call/diagnosis.py | numpy,jax,tf | errors:axis
    if isinstance(one, int) and not -ndim <= one < ndim:
    if isinstance(one, int) and not -ndim <= one <= ndim:
_speedups/entry/iteration.c | numpy | views:rows
    if (ndim == 0 || (ndim > 1 && !is_writable(native))) {
    if (ndim == 0) {
_speedups/numerics/loops.c | numpy | operators:laid
    if (!PyArray_ISBEHAVED_RO(array) || (ndim > 1 && !PyArray_IS_C_CONTIGUOUS(array))) {
    if (!PyArray_ISBEHAVED_RO(array)) {
_speedups/entry/operators.c | numpy | operators:place writes:place
    || PyArray_DESCR(to) != PyArray_DESCR(from)) {
    || PyArray_ITEMSIZE(to) != PyArray_ITEMSIZE(from)) {
_speedups/numerics/quotients.c | numpy | chains many_elements operators
    quotient -= ((rest < 0) != (divisor < 0))
    quotient -= ((rest < 0) == (divisor < 0))
_speedups/numerics/random.c | numpy,jax | random/keys random/generator random/distributions
    x1 += b + n;
    x1 += b;
_speedups/lazy/recording.c | numpy | chains many_elements
    record_named(call, home, constants.multiply, operands, 2, below) : NULL;
    record_named(call, home, constants.square, operands, 1, below) : NULL;
_speedups/numerics/sums.c | numpy | many_elements:variance
    .operand = has_mean ? 2 : 0,
    .operand = has_mean ? 1 : 0,
_calibration/fitting.py | numpy | profile:visit profile:law
    max(p.spread, LEAST_SPREAD)
    min(p.spread, LEAST_SPREAD)
_choice/automatic.py | numpy | automatic
    paid <= LEFT * here and paid
    paid >= LEFT * here and paid
_cli/results.py | numpy | command_line history
    self.names]
    self.names[:1]]
_memory/ownership.py | numpy,jax,tf | sharing:result
    SOLE_REFERENCES + views  # as `_reference_count`
    SOLE_REFERENCES + views + 1  # as `_reference_count`
_memory/transfer.py | numpy,jax,tf | sharing:guard
    if mode == "raise":
    if False:
_memory/views.py | jax,tf | views
    child, view = parent, view_of(parent)
    child, view = parent, None
_registry/registry.py | numpy | backends choice
    and (not index or index.isdecimal()):
    :
backends/_shared/composed.py | numpy | backends/composed
    axis %= x.ndim
    pass
backends/_parts.py | numpy | backends/numpy_parts
    if i != axis % x.ndim], key
    ], key
backends/_shared/promoting.py | numpy,jax | backends dtypes
    function(zero, home.constant(-1, "int64"))
    function(home.constant(-1, "int64"), zero)
backends/_rows.py | numpy | backends/numpy_parts many_elements
    if whole < count:
    if False:
backends/cupy/__init__.py | cupy | writes
    if not exclusive:
    if False:
backends/cupy/__init__.py | cupy | indexing writes backends/cupy_on_numpy
    places < 0, places + x.shape[0], places)
    places < 0, places, places)
backends/_shared/arithmetic.py | jax | operators:binary differential:floor_divide
    x2 == 0, exact, whole)
    x2 == 0, whole, whole)
backends/jax/linalg.py | jax | backends/gradients:det
    jnp.sum(_cofactors(x) * tangent
    jnp.sum(_cofactors(x).mT * tangent
backends/jax/linear_algebra.py | jax | backends/edges:values
    jnp.matmul(jnp.conj(x1)[..., None, :]
    jnp.matmul(x1[..., None, :]
backends/jax/sorting.py | jax | sorting:sort differential:sort
    jnp.sort(x, axis=axis, descending=descending, stable=stable)
    jnp.sort(x, descending=descending, stable=stable)
backends/jax/statistical.py | jax | backends/jax_values:values differential:var
    variance = _shared(total, count - correction if count > correction else math.nan)
    variance = _shared(total, count - correction)
backends/numpy.py | numpy | sorting:greatest
    return x.argmin(axis, keepdims=keepdims)
    return x.argmax(axis, keepdims=keepdims)
backends/tensorflow/elementwise.py | tf | backends/edges:exactly differential:less
    where(_is_negative(x2), raw(constant(0), constant(-1)),
    where(_is_negative(x2), raw(constant(-1), constant(0)),
backends/tensorflow/indexing.py | tf | indexing
    ends_at_edge=stop < 0), count
    ends_at_edge=False), count
backends/tensorflow/manipulation.py | tf | differential:tile backends/tensorflow_values:tile
    if name_of(x) == "uint16":
    if False:
backends/_shared/axes.py | tf | differential:roll backends/edges:values
    n % (m or 1) if
    n % (m + 1) if
backends/tensorflow/sets.py | tf | differential:isin backends/tensorflow_values:values
    found = ops.LogicalAnd(isin(y1, y2), ops.GreaterEqual
    found = ops.LogicalOr(isin(y1, y2), ops.GreaterEqual
backends/tensorflow/statistical.py | tf | backends/gradients:values_beside
    return where(ops.Equal(ops.StopGradient(y), zero), zero, others)
    return others
backends/torch/elementwise.py | torch | extremes backends/edges:shift differential:shift
    torch.where(a < 0, -1, 0)
    torch.where(a < 0, 0, -1)
backends/torch/indexing.py | torch | backends/edges writes backends/torch_native
    if extra and math.prod(value.shape[:extra]) == 1:
    if False:
backends/torch/sorting.py | torch | sorting:sort differential:sort
    torch.sort(ordered(x), dim=axis, descending=descending, stable=stable)[0]
    torch.sort(ordered(x), dim=axis, stable=stable)[0]
backends/torch/statistical.py | torch | differential:mean many_elements:mean backends/edges:values
    return torch.mean(x, axes, keepdims)
    return torch.mean(x, axes)
backends/torch/utility.py | torch | differential:strict backends/edges:values
    if axis is None and not keepdims:
    if axis is None:
extensions/calculus.py | jax,tf | extensions/calculus extensions/in_transforms:gradient
    return -(near + both) / (near * both) * f0
    return (near + both) / (near * both) * f0
extensions/elementwise.py | jax,tf | extensions/in_transforms:fmod
    return xp.copysign(xp.remainder(*magnitudes), x1)
    return xp.remainder(*magnitudes)
extensions/histograms.py | numpy | extensions/histograms extensions/in_transforms:wrong
    if low > high:
    if low >= high:
extensions/linalg.py | jax,tf | extensions/linalg:least_squares extensions/linalg:lstsq
    if m <= n or known(rank)
    if m < n or known(rank)
extensions/manipulation.py | jax,tf | extensions/manipulation:insert extensions/in_transforms:insert
    wrong = where[(where < -length) | (where > length)]
    wrong = where[(where < -length) | (where >= length)]
extensions/sets.py | jax,tf | extensions/sets extensions/in_transforms:unique
    xp.sum(xp.where(is_nan, counts, 0))
    xp.max(xp.where(is_nan, counts, 0))
numpy/_differing_linalg.py | jax,tf | drop_in/functions:eigh
    xp.conj(xp.matrix_transpose(x))
    xp.matrix_transpose(x)
numpy/_options.py | numpy | drop_in/functions
    if not np.can_cast(np.dtype(result.dtype), np.dtype(value.dtype), casting):
    if False:
numpy/_ufuncs.py | jax,tf | drop_in/functions:multiply
    for n in range(int(turn.max(initial=-1)) + 1):
    for n in range(min(1, int(turn.max(initial=-1)) + 1)):
random/_draws.py | numpy,jax | random/distributions random/keys
    centred = (steps + 0.5) * unit
    centred = steps * unit
transforms/_derivatives.py | numpy | transformed_functions:argnums
    if len(set(numbers)) < len(numbers):
    if False:
transforms/_vmap.py | numpy | transforms:vmap batching:axis
    home.moveaxis(x, source, destination)
    home.moveaxis(x, destination, source)
"""


class Fault(NamedTuple):
    file: str
    backends: str
    tests: list[tuple[str, str]]
    """Files, each with a word that is in the names of its tests that are run."""
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.old} -> {self.new}"


def faults() -> list[Fault]:
    lines = FAULTS.strip().splitlines()
    found = []
    for row, old, new in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        file, backends, names = row.split(" | ")
        tests = list[tuple[str, str]]()
        for name in names.split():
            path, _, word = name.partition(":")
            folder, slash, stem = path.rpartition("/")
            tests.append((f"tests/{folder}{slash}test_{stem}.py", word))
        found.append(Fault(file, backends, tests, old.strip(), new.strip()))
    return found


def failure(fault: Fault, copy: Path) -> str:
    """The test that fails with the fault in the package of `copy`.

    Empty if none does.
    """
    file = copy / "anyarray" / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        raise SystemExit(f"{fault}: the old text stands there {text.count(fault.old)} times")
    file.write_text(text.replace(fault.old, fault.new))
    try:
        if file.suffix == ".c":
            compile_in(copy)
        stand_in = ("-p", "cupy_on_numpy") if fault.backends == "cupy" else ()
        # With all of them, so that a case runs where it does in every run.
        is_usual = set(fault.backends.split(",")) <= set(USUAL)
        backends = ",".join(USUAL) if is_usual and "numpy" not in fault.backends else fault.backends
        options = ("-x", "-q", "-p", "no:cacheprovider", *stand_in, "--backends", backends)
        files = {path: None for path, _ in fault.tests if (copy / path).exists()}  # older tests may not have all
        done = run(copy, "-m", "pytest", *options, *files, "-k", selection(fault))
    except subprocess.TimeoutExpired:
        return "it hangs"
    finally:
        file.write_text(text)
    if done.returncode == 5:
        raise SystemExit(f"{fault}: none of the tests is there")
    failed = re.search(r"^(FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "" if not done.returncode else failed[2] if failed else f"exit status {done.returncode}"


def selection(fault: Fault) -> str:
    """For `-k`: tests by words in their names, on the backends."""
    tests = [f"({Path(path).stem} and {word})" if word else Path(path).stem for path, word in fault.tests]
    backends = fault.backends.replace(",", " or ").replace("tf", "tf or tensorflow")
    meant = "" if "numpy" in fault.backends else f" and ({backends})"
    return f"({' or '.join(tests)}){meant}"


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    there = os.environ | {"PYTHONPATH": os.pathsep.join([str(copy), str(copy / "tests")]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=there, capture_output=True, text=True, timeout=LONGEST, check=False)


def compile_in(copy: Path) -> None:
    done = run(copy, "setup.py", "-q", "build_ext", "--inplace", "--force")
    if done.returncode:
        raise SystemExit(done.stderr)


def main(words: list[str]) -> None:
    chosen = [one for one in faults() if not words or any(word in f"{one.file} {one.backends}" for word in words)]
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".nox", ".venv", "build", "_build"))
        is_compiled = False
        for fault in chosen:
            if is_compiled and not fault.file.endswith(".c"):
                compile_in(copy)  # as it was
                is_compiled = False
            is_compiled |= fault.file.endswith(".c")
            started = time.perf_counter()
            by = failure(fault, copy)
            found += bool(by)
            print(f"{'found' if by else 'NOT  '} {time.perf_counter() - started:4.0f} s  {fault}\n    {by}", flush=True)
    print(f"{found} of {len(chosen)} faults found")


if __name__ == "__main__":
    main(sys.argv[1:])
