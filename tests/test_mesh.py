"""A mesh of JAX's devices as a backend, in one process and over two."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("jax")


PROGRAMS: Final = Path(__file__).with_name("mesh")


def started(program: str, devices: int, *args: str) -> subprocess.Popen[str]:
    """An interpreter that runs a program in a folder of its own."""
    several = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    flags = {"XLA_FLAGS": several, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, str(PROGRAMS / program), *args]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env={**os.environ, **flags}, stdout=pipe, stderr=pipe, text=True)


def test_a_mesh_in_one_process() -> None:
    out, err = started("one_process.py", 8).communicate(timeout=240)
    assert out.strip() == "done", err


def test_programs_give_on_a_mesh_what_they_give_in_numpy(pytestconfig: pytest.Config) -> None:
    pytest.importorskip("rich")
    every = pytestconfig.getoption("--all-cases")
    out, err = started("programs.py", 2, "every" if every else "kmeans").communicate(timeout=240)
    assert out.strip() == "done", err


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_mesh_over_two_processes(tmp_path: Path) -> None:
    port = str(free_port())
    ranks = [started("two_processes.py", 4, rank, port, str(tmp_path)) for rank in "01"]
    try:
        said = [one.communicate(timeout=240) for one in ranks]
    finally:
        for one in ranks:
            one.kill()
    assert [out.splitlines()[-1:] for out, _ in said] == [["done"], ["done"]], said
