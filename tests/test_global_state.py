"""Import and use change nothing of NumPy, JAX, TensorFlow or the process."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import anyarray as xp
from anyarray._base import extension

USE = """
def use(name):
    with xp.backend(name):
        x = xp.linspace(0, 1, 5)
        x[1] = 7
        x += 1
        xp.linalg.svd(xp.reshape(xp.arange(6.0), (2, 3)))
        xp.fft.fft(x)
        xp.unique_all(xp.sort(x))
        repr(x)
        try:
            x + xp.ones(3)
        except ValueError:
            pass
"""


@pytest.mark.parametrize(
    "use", ["", "xp.exp(xp.asarray([1.0, 1.0]) + 1)", "try: xp.exp([1, 2])\nexcept TypeError: pass"]
)
def test_import_and_calls_on_numpy_load_no_framework(use: str, run_python: Callable[..., str]) -> None:
    heavy = {"jax", "jaxlib", "tensorflow", "cupy", "matplotlib", "rich", "keras", "ml_dtypes"}
    program = f"import sys\nimport anyarray as xp\n{use}\nprint(sorted({heavy} & set(sys.modules)))"
    assert run_python(program) == "[]\n"


def test_import_changes_nothing_of_the_process(run_python: Callable[..., str]) -> None:
    program = """
        import logging, os, signal, sys, threading, warnings
        import numpy as np

        def state():
            return {
                "environment": dict(os.environ),
                "warning filters": [str(f) for f in warnings.filters],
                "error state": np.geterr(),
                "print options": {k: str(v) for k, v in np.get_printoptions().items()},
                "random state": str(np.random.get_state()),
                "handlers": [str(h) for h in logging.root.handlers],
                "threads": threading.active_count(),
                "path": sys.path,
                "recursion limit": sys.getrecursionlimit(),
                "interrupt": str(signal.getsignal(signal.SIGINT)),
            }

        before = state()
        import anyarray
        print([name for name, value in state().items() if value != before[name]])
    """
    assert run_python(program) == "[]\n"


@pytest.mark.parametrize(("package", "device"), [("jax", "jax"), ("tensorflow", "tf"), ("torch", "torch")])
def test_loading_a_library_is_quiet_and_leaves_random_numbers_the_environment_and_other_libraries(
    package: str, device: str, run_python: Callable[..., str]
) -> None:
    pytest.importorskip(package)
    program = f"""
        import os, random, sys
        os.dup2(1, 2)  # what goes to stderr is seen, too
        import numpy
        import anyarray as xp
        random.seed(1)
        numpy.random.seed(1)
        expected = random.random(), numpy.random.random()
        random.seed(1)
        numpy.random.seed(1)
        before = dict(os.environ)
        xp.exp(xp.ones(2, device="{device}"))
        print((random.random(), numpy.random.random()) == expected)
        print(sorted(name for name in {{*before, *os.environ}} if before.get(name) != os.environ.get(name)))
        print(*sorted({{"jax", "tensorflow", "torch", "cupy"}} & set(sys.modules)))
    """
    numbers, changed, loaded = run_python(program).splitlines()
    assert numbers == "True"
    assert {package} <= set(loaded.split()) <= {package, "jax"}  # which TensorFlow imports itself
    # Memory of a GPU must be asked for modestly before a library is imported; nothing else is set.
    memory = {"jax": "XLA_PYTHON_CLIENT_PREALLOCATE", "tf": "TF_FORCE_GPU_ALLOW_GROWTH"}
    assert changed in (f"['{memory.get(device)}']", "[]")


@pytest.mark.usefixtures("backend")
def test_use_leaves_numpy_s_settings() -> None:
    before = np.geterr(), np.geterrcall(), np.get_printoptions()
    x = xp.asarray([1.0, 2.0])
    repr(1 / x)
    str(xp.zeros(2000))
    assert (np.geterr(), np.geterrcall(), np.get_printoptions()) == before


CHAINS = """
import resource
import anyarray as xp

x = xp.ones(30_000)  # all temporaries together fit in no huge page

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def chain():
    y = x + x
    z = y * x
    return x * (z - y)

with xp.backend("numpy"):
    for _ in range(10):
        chain()
    before = faults()
    for _ in range(10):
        chain()
print((faults() - before) // 10)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have rules of their own")
def test_freed_memory_serves_the_next_array(run_python: Callable[..., str]) -> None:
    pages_of_an_array = 240_000 // 4096
    assert int(run_python(CHAINS)) < pages_of_an_array // 10


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the variable is glibc's")
def test_what_the_user_says_of_freed_memory_holds(run_python: Callable[..., str]) -> None:
    pages_of_an_array = 240_000 // 4096
    assert int(run_python(CHAINS, MALLOC_MMAP_THRESHOLD_="131072")) >= pages_of_an_array
    assert int(run_python(CHAINS, ANYARRAY_MALLOC="off")) >= pages_of_an_array


HUGE = """
import numpy as np
import anyarray as xp

def is_advised(address):
    is_inside = False
    for line in open("/proc/self/smaps"):
        first, *rest = line.split()
        if not first.endswith(":"):
            start, end = [int(one, 16) for one in first.split("-")]
            is_inside = start <= address < end
        elif first == "VmFlags:" and is_inside:
            return "hg" in rest

first = np.empty(200_000)
kept = [xp.ones(300_000)._native for _ in range(60)]  # the heap grows by them
print(is_advised(first.ctypes.data + first.nbytes // 2), sum([is_advised(one.ctypes.data) for one in kept]) / len(kept))
"""

HAS_HUGE_PAGES = platform.libc_ver()[0] == "glibc" and Path("/sys/kernel/mm/transparent_hugepage").exists()


@pytest.mark.skipif(not HAS_HUGE_PAGES, reason="the system has no huge pages")
@pytest.mark.skipif(extension.speedups is None, reason="compiled calls ask for them")
def test_new_memory_of_the_heap_comes_in_huge_pages_unless_the_user_wants_none(run_python: Callable[..., str]) -> None:
    first, most = run_python(HUGE).split()
    assert first == "True"
    assert float(most) >= 0.9  # all but what makes it grow
    for variable in ({"NUMPY_MADVISE_HUGEPAGE": "0"}, {"ANYARRAY_MALLOC": "off"}):
        assert run_python(HUGE, **variable).split() == ["False", "0.0"]


GIVEN_BACK = """
import os
from pathlib import Path
import numpy as np
from anyarray._memory import alignment

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

held = [np.ones(7 << 20, np.uint8) for _ in range(6)]
most = resident()
del held
alignment.trim_malloc()
print(round((most - resident()) / (6 * 7 << 20), 1))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have rules of their own")
def test_freed_memory_is_given_back_unless_the_user_keeps_larger_blocks(run_python: Callable[..., str]) -> None:
    assert float(run_python(GIVEN_BACK)) >= 1.0  # and what imports have freed
    kept = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592"
    assert float(run_python(GIVEN_BACK, GLIBC_TUNABLES=kept)) == 0.0


def test_the_user_s_error_state_holds_on_numpy() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        xp.ones(2) / xp.zeros(2)


JAX_STATE = """
import jax, jax.numpy as jnp
import anyarray as xp

def state():
    return {name: str(value) for name, value in jax.config.values.items()} | {
        "x64 in effect": bool(jax.config.jax_enable_x64),
        "device in effect": str(jax.config.jax_default_device),
        "precision in effect": str(jax.config.jax_default_matmul_precision),
        "dtype of ones": str(jnp.ones(2).dtype),
        "dtype of a sum": str((jnp.ones(2) + 1.5).dtype),
        "dtype of an integer": str(jnp.arange(2).dtype),
    }
"""


def test_jax_s_settings_are_as_before(forked: Callable[..., str]) -> None:
    pytest.importorskip("jax")
    program = (
        JAX_STATE
        + USE
        + """
import asyncio, threading

before = state()

def record(what):
    for name, value in state().items():
        if value != before[name]:
            print(what, name)

xp.device("jax")
record("import")
use("jax")
record("use")
try:
    with xp.backend("jax"):
        xp.ones(2) + xp.ones(3)
except ValueError:
    record("an exception")
with xp.backend("jax"):
    record("inside a block")

async def task():
    with xp.backend("jax"):
        x = xp.ones(2)
        await asyncio.sleep(0)
        y = xp.exp(x)
        await asyncio.sleep(0)
        record("inside a task")
        return y.dtype

async def other():
    await asyncio.sleep(0)
    record("in a task beside")
    await asyncio.sleep(0)

async def main():
    await asyncio.gather(task(), other())

asyncio.run(main())
record("tasks")
thread = threading.Thread(target=use, args=("jax",))
thread.start()
thread.join()
record("a thread")
jax.jit(lambda v: xp.to_native(xp.exp(xp.asarray(v)) * 2))(jnp.ones(2))
record("a trace")
try:
    jax.jit(lambda v: xp.to_native(xp.asarray(v)[xp.asarray(v) > 0]))(jnp.ones(2))
except Exception:
    record("a failed trace")
    print("done")
"""
    )
    assert forked(program) == "done\n"


def test_tasks_that_interleave_keep_64_bits_in_ours_and_32_in_the_user_s() -> None:
    jnp = pytest.importorskip("jax.numpy")

    async def ours() -> list[xp.DType]:
        seen = []
        with xp.backend("jax"):
            for _ in range(3):
                seen.append((xp.ones(2) * 1.5).dtype)
                await asyncio.sleep(0)
        return seen

    async def theirs() -> list[str]:
        seen = []
        for _ in range(3):
            seen.append(str((jnp.ones(2) * 1.5).dtype))
            await asyncio.sleep(0)
        return seen

    async def main() -> tuple[list[xp.DType], list[str]]:
        return await asyncio.gather(ours(), theirs())

    assert asyncio.run(main()) == [[xp.float64] * 3, ["float32"] * 3]


def test_tensorflow_s_settings_and_tensors_are_as_before(forked: Callable[..., str]) -> None:
    pytest.importorskip("tensorflow")
    program = (
        """
import os
import tensorflow as tf
import anyarray as xp
"""
        + USE
        + """
def outcome(call):
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__

def state():
    one, two = tf.constant([1, 2]), tf.constant([1.0, 2.0])
    return {
        "TF32": tf.config.experimental.tensor_float_32_execution_enabled(),
        "soft placement": tf.config.get_soft_device_placement(),
        "threads between ops": tf.config.threading.get_inter_op_parallelism_threads(),
        "threads of an op": tf.config.threading.get_intra_op_parallelism_threads(),
        "eager": tf.executing_eagerly(),
        "run eagerly": tf.config.functions_run_eagerly(),
        "jit": tf.config.optimizer.get_jit(),
        "policy": outcome(lambda: tf.keras.mixed_precision.global_policy().name),
        "floatx": outcome(lambda: tf.keras.backend.floatx()),
        "tensor + float": outcome(lambda: one + 1.5),
        "tensor + tensor of another dtype": outcome(lambda: one + two),
        "tensor[list]": outcome(lambda: two[[0, 1]]),
        "tensor.astype": outcome(lambda: one.astype("float32")),
        "tensor.T": outcome(lambda: one.T),
        "tensor == list": outcome(lambda: one == [1, 2]),
        "tensor @ tensor": outcome(lambda: one @ one),
        "log level": os.environ.get("TF_CPP_MIN_LOG_LEVEL"),
        "logger": tf.get_logger().level,
    }

before = state()
use("tf")
after = state()
print([name for name in before if before[name] != after[name]])
"""
    )
    assert forked(program).splitlines()[-1] == "[]"


def test_what_the_user_set_about_gpu_memory_stays(run_python: Callable[..., str]) -> None:
    pytest.importorskip("jax")
    program = """
        import os
        import anyarray as xp
        xp.device("jax")
        print(os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE"), os.environ.get("XLA_PYTHON_CLIENT_MEM_FRACTION"))
    """
    assert run_python(program, XLA_PYTHON_CLIENT_MEM_FRACTION="0.5") == "None 0.5\n"
