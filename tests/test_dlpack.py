"""DLPack: Arrays go out to NumPy, JAX and TensorFlow and come in from them.

Every argument of the protocol is used.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import anyarray as xp

CPU = (1, 0)
DTYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_numpy_takes_every_dtype(dtype: str) -> None:
    a = np.from_dlpack(xp.asarray([0, 1, 1], dtype=getattr(xp, dtype)))
    assert (a.dtype.name, a.tolist()) == (dtype, [0, 1, 1])


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)], ids=str)
@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_numpy_takes_every_shape(shape: tuple[int, ...]) -> None:
    assert np.from_dlpack(xp.ones(shape)).shape == shape


VERSIONS = [None, (0, 8), (1, 0), (1, 1)]


def can_say_read_only(version: tuple[int, int] | None) -> bool:
    return version is not None and version[0] >= 1


@pytest.mark.parametrize(
    ("max_version", "dl_device", "copy"),
    [
        (version, device, copy)
        for version, device, copy in itertools.product(VERSIONS, [None, CPU], [None, True, False])
        if copy is not False or can_say_read_only(version)
    ],
    ids=str,
)
@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_every_combination_of_arguments_gives_a_capsule(max_version: Any, dl_device: Any, copy: Any) -> None:
    capsule = xp.arange(3.0).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
    expected = "dltensor_versioned" if can_say_read_only(max_version) else "dltensor"
    assert f'"{expected}"' in repr(capsule)


@pytest.mark.parametrize("max_version", [None, (0, 8)], ids=str)
@pytest.mark.usefixtures("backend")
def test_memory_is_shared_with_a_consumer_that_could_write_only_if_it_asks(max_version: Any) -> None:
    assert '"dltensor"' in repr(xp.arange(3.0).__dlpack__(max_version=max_version, copy=False))


@pytest.mark.usefixtures("backend")
def test_another_device_is_refused() -> None:
    with pytest.raises(BufferError) as caught:
        xp.ones(2).__dlpack__(dl_device=(8, 0))  # no library here has this one
    assert str(caught.value) == "__dlpack__: dl_device must be this Array's own or the host (1, 0), not (8, 0)"


@pytest.mark.usefixtures("backend")
def test_the_dlpack_device_of_the_host_is_1_0() -> None:
    assert xp.ones(2, device="numpy").__dlpack_device__() == CPU


@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_a_consumer_that_writes_does_not_reach_the_array() -> None:
    x = xp.arange(3)
    a = np.from_dlpack(x)
    try:
        a[0] = 7
    except ValueError:
        assert not a.flags.writeable
    assert x.tolist() == [0, 1, 2]


@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_a_consumer_of_an_old_capsule_that_writes_does_not_reach_the_array() -> None:
    class Old:
        """An Array with the protocol from before DLPack 1.0.

        There was no argument but `stream`, and no word for read-only memory.
        """

        def __init__(self, x: xp.Array) -> None:
            self.x = x

        def __dlpack__(self, stream: Any = None) -> Any:
            return self.x.__dlpack__(stream=stream)

        def __dlpack_device__(self) -> Any:
            return self.x.__dlpack_device__()

    x = xp.arange(3)
    a = np.from_dlpack(Old(x))
    if a.flags.writeable:
        a[0] = 7
    assert x.tolist() == [0, 1, 2]


@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_an_array_outlives_what_it_was_shared_with() -> None:
    a = np.from_dlpack(xp.arange(1000.0) * 2)
    assert a.sum() == 999_000.0


@pytest.mark.usefixtures("backend")
def test_from_dlpack_takes_an_object_of_the_protocol(backend: xp.Backend) -> None:
    class Producer:
        def __init__(self) -> None:
            self.a = np.arange(3.0)

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.a.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> Any:
            return self.a.__dlpack_device__()

    producer = Producer()
    x = xp.from_dlpack(producer)
    producer.a[...] = 9
    assert (x.tolist(), x.device) == ([0.0, 1.0, 2.0], backend)


@pytest.mark.usefixtures("backend")
def test_from_dlpack_of_an_array_is_the_array() -> None:
    x = xp.arange(3)
    assert xp.from_dlpack(x).tolist() == [0, 1, 2]


def test_from_dlpack_brings_to_a_device(name: str) -> None:
    x = xp.from_dlpack(np.arange(3.0), device=name)
    assert (x.device, x.tolist()) == (xp.device(name), [0.0, 1.0, 2.0])


def test_jax_takes_an_array(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy")

    x = xp.arange(3, dtype=xp.float32, device=name)
    assert jnp.from_dlpack(x).tolist() == [0.0, 1.0, 2.0]


def test_jax_takes_an_array_by_its_own_protocol(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy")

    x = xp.arange(3, dtype=xp.float32, device=name)
    assert jnp.exp(x).shape == (3,)
    assert jnp.asarray(x).tolist() == [0.0, 1.0, 2.0]


def test_what_jax_took_does_not_see_writes(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy")

    x = xp.arange(3, dtype=xp.float32, device=name)
    taken = [jnp.from_dlpack(x), jnp.asarray(x)]
    x[...] = 9
    assert [t.tolist() for t in taken] == [[0.0, 1.0, 2.0]] * 2


def test_tensorflow_takes_an_array(name: str) -> None:
    tf = pytest.importorskip("tensorflow")

    x = xp.arange(3.0, device=name)
    assert tf.convert_to_tensor(x).numpy().tolist() == [0.0, 1.0, 2.0]
    assert tf.reduce_sum(x).numpy() == 3.0


def test_what_tensorflow_took_does_not_see_writes(name: str) -> None:
    tf = pytest.importorskip("tensorflow")

    x = xp.arange(3.0, device=name)
    taken = tf.convert_to_tensor(x)
    x[...] = 9
    assert taken.numpy().tolist() == [0.0, 1.0, 2.0]


def test_an_array_of_bfloat16_is_exported_as_a_copy(framework: str) -> None:
    consumer = pytest.importorskip("jax.numpy")
    x = xp.asarray([1.5, 2.5], dtype=xp.bfloat16, device=framework)
    taken = consumer.from_dlpack(x)
    x[0] = 9.0
    assert str(taken.dtype) == "bfloat16"
    assert taken.tolist() == [1.5, 2.5]
