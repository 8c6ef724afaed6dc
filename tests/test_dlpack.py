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


@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_numpy_takes_every_dtype_and_shape() -> None:
    for dtype in DTYPES:
        a = np.from_dlpack(xp.asarray([0, 1, 1], dtype=getattr(xp, dtype)))
        assert (a.dtype.name, a.tolist()) == (dtype, [0, 1, 1])
    for shape in ((), (0,), (3,), (2, 0, 3), (2, 3)):
        assert np.from_dlpack(xp.ones(shape)).shape == shape


VERSIONS = [None, (0, 8), (1, 0), (1, 1)]


def can_say_read_only(version: tuple[int, int] | None) -> bool:
    return version is not None and version[0] >= 1


@pytest.mark.usefixtures("backend")
@pytest.mark.needs("host memory")
def test_every_combination_of_arguments_gives_a_capsule() -> None:
    for version, device, copy in itertools.product(VERSIONS, [None, CPU], [None, True, False]):
        # Without a word for read-only memory it is shared only if the consumer asks, and not with a device.
        if copy is not False or can_say_read_only(version) or device is None:
            capsule = xp.arange(3.0).__dlpack__(max_version=version, dl_device=device, copy=copy)
            expected = "dltensor_versioned" if can_say_read_only(version) else "dltensor"
            assert f'"{expected}"' in repr(capsule), (version, device, copy)


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


@pytest.mark.parametrize("take", ["jax.numpy.from_dlpack", "jax.numpy.asarray", "tensorflow.convert_to_tensor"])
def test_what_jax_and_tensorflow_take_does_not_see_writes(take: str, name: str) -> None:
    module, _, function = take.rpartition(".")
    space = pytest.importorskip(module)
    x = xp.arange(3, dtype=xp.float32, device=name)
    taken = getattr(space, function)(x)
    assert np.asarray(space.exp(x)).shape == (3,)
    x[...] = 9
    assert np.asarray(taken).tolist() == [0.0, 1.0, 2.0]


def test_an_array_of_bfloat16_is_exported_as_a_copy(framework: str) -> None:
    consumer = pytest.importorskip("jax.numpy")
    x = xp.asarray([1.5, 2.5], dtype=xp.bfloat16, device=framework)
    taken = consumer.from_dlpack(x)
    x[0] = 9.0
    assert str(taken.dtype) == "bfloat16"
    assert taken.tolist() == [1.5, 2.5]
