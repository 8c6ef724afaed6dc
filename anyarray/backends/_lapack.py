"""NumPy's kernels of linear algebra, for few elements.

NumPy's functions look at dtypes, shapes and values in Python first, which the compiled calls have done already: without
that calls take 0.4 to 0.75 of the time. The kernels are no part of NumPy's interface. So each is looked at
before it is taken, and where NumPy has no such kernel its function stands for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray.backends._shortcut import direct

_MODULE: Final = getattr(np.linalg, "_umath_linalg", None)


def _kernel(name: str, signature: str, *loops: str) -> Any:
    """A kernel by what it takes and gives; None if there is no such."""
    found = getattr(_MODULE, name, None)
    if not isinstance(found, np.ufunc) or (found.signature or "").replace(" ", "") != signature:
        return None
    return found if set(loops) <= set(found.types) else None


def _quiet(kernel: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that raises where it finds nothing; else the function."""
    if kernel is None:
        return direct(function)

    def called(*arrays: Any) -> Any:
        # As NumPy sets it; what is raised is nobody's to see, as its own function is called then, which says more.
        with np.errstate(all="ignore", invalid="raise"):
            return kernel(*arrays)

    return called


def _solving() -> Callable[..., Any]:
    of_vector = _kernel("solve1", "(m,m),(m)->(m)", "dd->d", "DD->D")
    of_matrix = _kernel("solve", "(m,m),(m,n)->(m,n)", "dd->d", "DD->D")
    if of_vector is None:
        return direct(np.linalg.solve)
    return _quiet(of_matrix and (lambda a, b: (of_vector if b.ndim == 1 else of_matrix)(a, b)), np.linalg.solve)


det: Final = _kernel("det", "(m,m)->()", "d->d", "D->D") or direct(np.linalg.det)
"""Of float64 and complex128, as all of these: of narrower dtypes NumPy's functions compute in those, too."""
slogdet: Final = _kernel("slogdet", "(m,m)->(),()", "d->dd", "D->Dd") or direct(np.linalg.slogdet)
inv: Final = _quiet(_kernel("inv", "(m,m)->(m,m)", "d->d", "D->D"), np.linalg.inv)
solve: Final = _solving()
cholesky: Final = _quiet(_kernel("cholesky_lo", "(m,m)->(m,m)", "d->d", "D->D"), np.linalg.cholesky)
eigh: Final = _quiet(_kernel("eigh_lo", "(m,m)->(m),(m,m)", "d->dd", "D->dD"), np.linalg.eigh)
eigvalsh: Final = _quiet(_kernel("eigvalsh_lo", "(m,m)->(m)", "d->d", "D->d"), np.linalg.eigvalsh)
_svd_of_wide: Final = _quiet(_kernel("svd_f", "(m,n)->(m,m),(p),(n,n)", "d->ddd"), np.linalg.svd)
_svd: Final = direct(np.linalg.svd)


def svd(x: Any) -> Any:
    """With full matrices, of finite floats."""
    return (_svd_of_wide if x.dtype.char == "d" else _svd)(x)


def eig(function: Callable[..., Any]) -> Callable[..., Any]:
    """What `function` gives of finite float64: complex numbers."""
    return _quiet(_kernel("eig", "(m,m)->(m),(m,m)", "d->DD"), function)


def eigvals(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same of the eigenvalues alone."""
    return _quiet(_kernel("eigvals", "(m,m)->(m)", "d->D"), function)
