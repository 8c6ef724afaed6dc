"""The memory of the processes that run tests is kept, and looked at."""

from __future__ import annotations

from collections.abc import Callable

import process_memory
import pytest

is_known = pytest.mark.skipif(not process_memory.peak(), reason="this system does not tell")


def test_a_process_that_took_too_much_is_named() -> None:
    said = process_memory.complaint({"gw0": 2_400_000_000, "gw1": 7_040_000_000})
    assert said.startswith("gw1 took 7.0 GB; a process that runs tests may take 3.0. ")
    assert not process_memory.complaint({"gw0": 2_400_000_000})


@is_known
def test_what_jax_compiled_is_dropped_once_the_process_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    function = jax.jit(lambda x: x + 1)
    function(1.0)
    monkeypatch.setattr(process_memory._Growth, "until", process_memory.peak() + 1_000_000_000)
    process_memory.bound()
    assert function._cache_size() == 1
    monkeypatch.setattr(process_memory._Growth, "until", 0)
    process_memory.bound()
    assert function._cache_size() == 0
    assert process_memory._Growth.until >= process_memory.USUAL


@is_known
def test_a_run_in_which_a_process_took_too_much_fails(run_python: Callable[..., str]) -> None:
    program = """
        import sys
        sys.path.insert(0, "tests")
        import process_memory, pytest
        for process_memory.MOST in (3_000_000_000, 1_000_000):
            print(int(pytest.main(["-q", "-p", "no:cacheprovider", "--backends=numpy", "tests/test_platforms.py"])))
    """
    lines = run_python(program).splitlines()
    assert [line for line in lines if line in ("0", "1")] == ["0", "1"]
    assert [line.partition(" GB; ")[0] for line in lines if "may take" in line] == ["pytest took 0.1"]
