"""The benchmark of GPUs runs without one, on the backends of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rich")


@pytest.mark.few_backends
def test_times_of_every_backend_are_reported(name: str, forked: Callable[..., str]) -> None:
    told = forked(
        f"""
        from benchmarks import gpu

        only = ["sort", "linalg.qr", "fft.rfft", "x[0]"]
        times = [t for backend in ("numpy", {name!r}) for t in gpu.functions(backend, [64], 0.001, only)]
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


def test_every_chapter_is_called(forked: Callable[..., str]) -> None:
    told = forked(
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


@pytest.mark.few_backends
def test_transfers_and_compiled_functions_are_timed(name: str, forked: Callable[..., str]) -> None:
    forked(
        f"""
        from benchmarks import gpu

        times = list(gpu.transfers({name!r}, [1024, 4096], 0.001))
        assert [(t.function, t.size) for t in times] == [(f, n) for n in (1024, 4096) for f in gpu.TRANSFERS]
        assert all(t.ours > 0 and t.own > 0 and t.backend == {name!r} for t in times)
        gpu.report_transfers(times)
        times = list(gpu.compiled({name!r}, [64], 0.001))
        assert [t.function for t in times] == ["sigmoid", "sigmoid, jit"]
        assert times[0].own is None and times[1].own > 0
        """
    )


def test_a_part_that_fails_takes_no_other_with_it(forked: Callable[..., str], tmp_path: Path) -> None:
    told = forked(
        f"""
        import json, sys
        from pathlib import Path
        from benchmarks import gpu

        sys.argv = ["gpu", "numpy", "nowhere", "--part", "functions", "--part", "transfers", "--sizes", "64"]
        sys.argv += ["--only", "sort,to the host", "--seconds", "0.001", "--json", {str(tmp_path / "times.json")!r}]
        try:
            gpu.main()
        except SystemExit as end:
            print("code", end.code)
        found = json.loads(Path({str(tmp_path / "times.json")!r}).read_text())
        print([(one["backend"], one["function"]) for one in found["times"]])
        print([(one["part"], one["backend"], one["failure"] is None) for one in found["outcomes"]])
        """
    )
    assert "code 1" in told
    assert "[('numpy', 'sort'), ('numpy', 'to the host')]" in told
    ok = [
        (part, backend, backend == "numpy") for part in ("functions", "transfers") for backend in ("numpy", "nowhere")
    ]
    assert str(ok) in told
    assert 'backend "nowhere" is unknown' in told
