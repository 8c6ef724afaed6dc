"""NumPy's private ufuncs of linear algebra, for small arrays.

NumPy's functions first check dtypes, shapes and values in Python, which the compiled calls have done already: without
these checks calls take 0.3 to 0.7 of the time, for float32 0.5 to 0.9. `benchmarks.small_calls` has a row for each,
such as `xp.linalg.inv(q)`. The ufuncs, of `numpy.linalg._umath_linalg`, are not part of NumPy's API. So each is None
unless NumPy has one of that name, signature and loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

_MODULE: Final = getattr(np.linalg, "_umath_linalg", None)

Kernel = Callable[..., Any] | None


def _ufunc(name: str, signature: str, loops: dict[str, str]) -> Any:
    """A kernel by name, signature and loops; None if NumPy has no such."""
    found = getattr(_MODULE, name, None)
    if not isinstance(found, np.ufunc) or (found.signature or "").replace(" ", "") != signature:
        return None
    return found if {*loops.values()} <= {*found.types} else None


def _kernel(name: str, signature: str, *, is_quiet: bool = False, **loops: str) -> Kernel:
    """A kernel for arrays of one dtype; None if NumPy has no such.

    Of float32 and complex64 NumPy computes in float64 and complex128, too, and rounds what it finds: `loops` are those
    to take, by NumPy's codes of the narrow dtypes. If `is_quiet`, the kernel raises where it finds nothing.
    """
    ufunc = _ufunc(name, signature, loops)
    if ufunc is None:
        return None

    def of_dtype(*arrays: Any) -> Any:
        code = arrays[0].dtype.char
        if code not in loops:
            return ufunc(*arrays)
        found = ufunc(*arrays, signature=loops[code])
        if type(found) is not tuple:
            return found.astype(_NARROW[found.dtype.char])
        return tuple([one.astype(_NARROW[one.dtype.char]) for one in found])

    def quiet(*arrays: Any) -> Any:
        # As NumPy sets it. The error is not seen: NumPy's own function is called then, which raises a clearer one.
        with np.errstate(all="ignore", invalid="raise"):
            return of_dtype(*arrays)

    return quiet if is_quiet else of_dtype


_NARROW: Final = {"d": "f", "D": "F"}


def _solving() -> Kernel:
    of_vector = _kernel("solve1", "(m,m),(m)->(m)", is_quiet=True, f="dd->d", F="DD->D")
    of_matrix = _kernel("solve", "(m,m),(m,n)->(m,n)", is_quiet=True, f="dd->d", F="DD->D")
    if of_vector is None or of_matrix is None:
        return None

    def solve(a: Any, b: Any) -> Any:
        if a.dtype != b.dtype:
            raise ValueError("NumPy's function promotes them")
        return (of_vector if b.ndim == 1 else of_matrix)(a, b)

    return solve


det: Final = _kernel("det", "(m,m)->()", f="d->d", F="D->D")
slogdet: Final = _kernel("slogdet", "(m,m)->(),()", f="d->dd", F="D->Dd")
inv: Final = _kernel("inv", "(m,m)->(m,m)", is_quiet=True, f="d->d", F="D->D")
solve: Final = _solving()
cholesky: Final = _kernel("cholesky_lo", "(m,m)->(m,m)", is_quiet=True, f="d->d", F="D->D")
eigh: Final = _kernel("eigh_lo", "(m,m)->(m),(m,m)", is_quiet=True, f="d->dd", F="D->dD")
eigvalsh: Final = _kernel("eigvalsh_lo", "(m,m)->(m)", is_quiet=True, f="d->d", F="D->d")
eig: Final = _kernel("eig", "(m,m)->(m),(m,m)", is_quiet=True, f="d->DD")
"""Of finite floats, as the next ones."""
eigvals: Final = _kernel("eigvals", "(m,m)->(m)", is_quiet=True, f="d->D")
svd: Final = _kernel("svd_f", "(m,n)->(m,m),(p),(n,n)", is_quiet=True, f="d->ddd")
"""With full matrices."""
