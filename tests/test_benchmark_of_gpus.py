"""The benchmark of GPUs runs without one, on the backends of the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("rich")


def test_times_of_every_backend_are_reported(name: str, run_python: Callable[..., str]) -> None:
    told = run_python(
        f"""
        from benchmarks import gpu

        times = gpu.measured(["numpy", {name!r}], [64], 0.001, ["sort", "linalg.qr", "fft.rfft", "x[0]"])
        assert [(t.function, t.size) for t in times[:4]] == [(f, 64) for f in ("x[0]", "sort", "linalg.qr", "fft.rfft")]
        assert all(t.ours > 0 and (t.own is None or t.own > 0) for t in times)
        assert all(t.own is not None for t in times if t.function in ("x[0]", "linalg.qr"))
        gpu.report(times)
        slow = gpu.Time("sort", 64, "slow", 10 * max(t.ours for t in times), None)
        gpu.report([slow, *times])
        """
    )
    assert "numpy: " in told
    assert "slow: 1 of 1 beyond 1.2, 1 beyond 3.0" in told


def test_every_chapter_is_called(run_python: Callable[..., str]) -> None:
    told = run_python(
        """
        import anyarray as xp
        from benchmarks import gpu

        with xp.backend("numpy"):
            given = {n: xp.asarray(a) if hasattr(a, "dtype") else a for n, a in gpu.arrays_of(64).items()}
            names = [function for function, _ in gpu.calls({"xp": xp} | given)]
        print(len(set(names)), {"add", "take", "unique_all", "linalg.svd", "fft.fftn", "x[i]"} <= set(names))
        """
    )
    count, has_all = told.split()
    assert int(count) > 160
    assert has_all == "True"
