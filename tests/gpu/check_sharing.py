"""What CuPy and JAX share on an NVIDIA GPU, whether rightly, and how fast.

Run it by hand, `python tests/gpu/check_sharing.py`: no test run has a GPU. It ends with an error if a check fails.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np

import anyarray as xp


def pointer(x: xp.Array) -> int:
    """Where the device memory of an Array begins."""
    native = xp.to_native(x)
    return int(native.unsafe_buffer_pointer() if hasattr(native, "unsafe_buffer_pointer") else native.data.ptr)


def microseconds(call: Callable[[], object]) -> float:
    """The least time of a call."""
    return min(timeit.repeat(call, number=20, repeat=20)) / 20 * 1e6


def check_jax_to_cupy() -> None:
    """CuPy shares an immutable array of JAX, and copies before it writes."""
    x = xp.ones(1_000_000, device="jax-gpu")
    with xp.transfers() as log:
        y = x.to_device("cupy")
    assert [row.kind for row in log.rows] == ["view"], str(log)
    assert pointer(x) == pointer(y)
    y[0] = 5.0
    assert float(x[0]) == 1.0 and float(y[0]) == 5.0
    x[1] = 7.0
    assert float(y[1]) == 1.0


def check_cupy_to_jax() -> None:
    """JAX gets a copy of CuPy's memory, as that can be written.

    The copy is made on the device, never by way of the host.
    """
    x = xp.ones(1_000_000, device="cupy")
    with xp.transfers() as log:
        y = x.to_device("jax-gpu")
    assert [row.target for row in log.rows] == ["jax-gpu"], str(log)
    x[0] = 5.0
    assert float(y[0]) == 1.0 and float(x[0]) == 5.0
    shared = xp.asarray(x, device="jax-gpu", copy=False)
    assert pointer(shared) == pointer(x)


def check_the_guard() -> None:
    """Reading a device from the host is an implicit copy."""
    for name in ("cupy", "jax-gpu"):
        x = xp.ones(3, device=name)
        with xp.no_transfers():
            try:
                float(x[0])
            except xp.TransferError as error:
                print(error)
            else:
                raise AssertionError(f"{name}: the guard let a copy pass")


def check_values() -> None:
    """A few functions of each chapter give NumPy's values on both."""
    a = np.random.default_rng(0).standard_normal((64, 64))
    for name in ("cupy", "jax-gpu"):
        with xp.backend(name):
            x = xp.asarray(a)
            for got, expected in [
                (xp.exp(x), np.exp(a)),
                (x @ x, a @ a),
                (xp.sum(x, axis=0), a.sum(axis=0)),
                (xp.sort(x, axis=1), np.sort(a, axis=1)),
                (xp.linalg.svdvals(x), np.linalg.svd(a, compute_uv=False)),
                (xp.fft.fft(x), np.fft.fft(a)),
                (x[x > 0], a[a > 0]),
            ]:
                # Order of additions differs; float64 keeps ten digits through 64 terms.
                np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-10, atol=1e-10)


def main() -> None:
    """Run every check, then print what the transfers cost."""
    for check in (check_jax_to_cupy, check_cupy_to_jax, check_the_guard, check_values):
        check()
        print(f"{check.__name__}: right")
    for source, target in [("jax-gpu", "cupy"), ("cupy", "jax-gpu"), ("numpy", "cupy"), ("cupy", "numpy")]:
        for n in (125, 12_500_000):
            x = xp.ones(n, device=source)
            took = microseconds(lambda x=x, target=target: (x + 0).to_device(target))  # a new Array: nothing is kept
            print(f"{source} -> {target}, {8 * n:>11,} bytes: {took:.1f} us, an addition included")


if __name__ == "__main__":
    main()
