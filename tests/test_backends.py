"""The registry: names, what is installed, devices, and others' backends."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest

import anyarray as xp
from anyarray._base import dtypes
from anyarray._registry import libraries
from anyarray._registry import registry as _registry


def known() -> str:
    return ", ".join(row.name for row in xp.backends())


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("numpy", "numpy"), ("numpy:0", "numpy"), ("jax-cpu", "jax-cpu"), ("jax-cpu:0", "jax-cpu"), ("tf-cpu", "tf-cpu"),
     ("tensorflow-cpu", "tf-cpu"), ("tensorflow-cpu:0", "tf-cpu"), ("cpu", "numpy"), (np.ones(1).device, "numpy")],
)  # fmt: skip
def test_a_name_means_one_backend(written: str, canonical: str) -> None:
    if canonical != "numpy":
        pytest.importorskip({"jax-cpu": "jax", "tf-cpu": "tensorflow"}[canonical])
    assert xp.device(written).name == canonical


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("jaxx", "jax"), ("nunpy", "numpy"), ("tensorflw", "tensorflow"), ("jax-gpuu", "jax-gpu"), ("tf_cpu", "tf-cpu"),
     ("Auto", "auto"), ("JAX", "jax"), ("cupyy", "cupy"), ("", ""), ("xyzzy", ""), (":1", "")],
)  # fmt: skip
def test_an_unknown_name_says_what_is_near_and_what_is_known_wherever_it_is_given(wrong: str, near: str) -> None:
    meant = f'Did you mean "{near}"? ' if near else ""
    calls = (xp.device, xp.set_default_backend, lambda name: xp.ones(1, device=name))
    for call in (xp.backend, *calls) if near == "jax" else (xp.backend,):
        with pytest.raises(xp.BackendNotFoundError) as caught:
            call(wrong)
        assert str(caught.value) == f'backend "{wrong}" is unknown. {meant}Known: {known()}'


@pytest.mark.parametrize("wrong", ["jax:x", "jax:-1", "jax-cpu:1.5", "numpy-gpu", "jax-npu", "cupy-cpu"])
def test_a_kind_or_index_that_is_none_is_an_unknown_name(wrong: str) -> None:
    with pytest.raises(xp.BackendNotFoundError, match=f'^backend "{wrong}" is unknown. '):
        xp.backend(wrong)


def test_an_index_beyond_the_devices_says_which_there_are(name: str) -> None:
    (row,) = [row for row in xp.backends() if row.name == name]
    assert row.devices
    stem = row.devices[-1].partition(":")[0]
    with pytest.raises(xp.DeviceNotFoundError) as caught:
        xp.device(f"{stem}:99")
    package = {"tf": "tensorflow"}.get(name, name)
    assert str(caught.value) == (
        f'backend "{stem}:99": {package} is installed, but finds no such device on this machine. '
        f"It has: {', '.join(row.devices)}"
    )


@pytest.fixture
def fake_library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a row in place of CuPy's, as if nothing of it had been used."""

    def put(**changes: Any) -> None:
        row = libraries.LIBRARIES["cupy"]._replace(**changes)
        monkeypatch.setitem(libraries.LIBRARIES, "cupy", row)
        monkeypatch.delitem(_registry._loaded, "cupy", raising=False)
        for name in [name for name in _registry._backends if name.startswith("cupy")]:
            monkeypatch.delitem(_registry._backends, name)

    return put


NO_DEVICE = "It has no device at all; it needs a gpu"
deviceless: Any = types.ModuleType("deviceless")
deviceless.namespace, deviceless.devices = np, lambda: {"gpu": []}


@pytest.mark.parametrize(
    ("changes", "kind", "sentence"),
    [
        (
            {"package": "no_such_package"},
            xp.BackendNotInstalledError,
            ' is known, but no_such_package is not installed. Run: pip install "anyarray[cupy]"',
        ),
        (
            {"package": "json", "needs": ("no_such_package",)},
            xp.BackendNotInstalledError,
            " needs no_such_package, which is not installed. Run: pip install no-such-package",
        ),
        (
            {"module": "deviceless", "package": "deviceless", "needs": ()},
            xp.DeviceNotFoundError,
            f": deviceless is installed, but finds no such device on this machine. {NO_DEVICE}",
        ),
    ],
    ids=["not installed", "needs another", "no device"],
)
def test_a_library_that_cannot_be_used_says_why(
    changes: dict[str, Any],
    kind: type[Exception],
    sentence: str,
    fake_library: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "deviceless", deviceless)
    fake_library(**changes)
    for written in ("cupy", "cupy:1") if "known" in sentence else ("cupy",):
        with pytest.raises(kind) as caught, xp.backend(written):
            pass
        assert str(caught.value) == f'backend "cupy"{sentence}'
        assert isinstance(caught.value, ImportError) is (kind is xp.BackendNotInstalledError)


def test_a_library_that_is_not_installed_is_listed_so(fake_library: Callable[..., None]) -> None:
    fake_library(package="no_such_package", distributions=())
    (row,) = [row for row in xp.backends() if row.name == "cupy"]
    assert (row.is_installed, row.version, row.is_loaded, row.devices) == (False, None, False, None)
    assert row.install == 'pip install "anyarray[cupy]"'


def test_every_library_that_is_installed_has_devices_or_says_that_it_has_none() -> None:
    for row in xp.backends():
        if not row.is_installed:
            continue
        try:
            device = xp.device(row.name)
        except xp.DeviceNotFoundError as error:
            assert str(error).endswith(NO_DEVICE)
        else:
            assert device.library == row.name


def test_our_libraries_are_known_in_their_order() -> None:
    assert [row.name for row in xp.backends()][:5] == ["numpy", "tf", "jax", "torch", "cupy"]


def test_the_list_tells_the_installed_version_and_the_devices_of_a_library_that_is_loaded(name: str) -> None:
    device = xp.device(name)
    (row,) = [row for row in xp.backends() if row.name == name]
    module = sys.modules[{"tf": "tensorflow"}.get(name, name)]
    assert row.is_installed and row.is_loaded
    assert row.version == module.__version__.replace("-rc", "rc")
    assert row.devices is not None and device.name in row.devices


def test_the_inspection_api_tells_devices_and_capabilities(backend: xp.Backend) -> None:
    info = xp.__array_namespace_info__()
    assert type(info.devices()) is tuple and backend in info.devices()
    assert info.default_device() is backend
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}


@pytest.fixture
def strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """array-api-strict as a distribution that brings a backend.

    It has the documented module, and an entry point.
    """
    page = (Path(__file__).parents[1] / "docs" / "writing-a-backend.md").read_text()
    module = page.partition("```python requires=array_api_strict\n")[2].partition("```")[0]
    (tmp_path / "strict_backend.py").write_text(module)
    metadata = tmp_path / "strict_backend-0.7.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: strict-backend\nVersion: 0.7\n")
    (metadata / "entry_points.txt").write_text("[anyarray.backends]\nstrict = strict_backend\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = dict(_registry._backends), dict(_registry._loaded), dict(_registry._library_by_class)
    libraries.registered.cache_clear()
    yield "strict"
    for registry, entries in zip(
        (_registry._backends, _registry._loaded, _registry._library_by_class), before, strict=True
    ):
        registry.clear()  # type: ignore[attr-defined]  # dicts of several types, so an object
        registry.update(entries)  # type: ignore[attr-defined]  # as above
    sys.modules.pop("strict_backend", None)
    libraries.registered.cache_clear()


def test_a_backend_of_another_distribution_is_listed_and_suggested(strict: str) -> None:
    (row,) = [row for row in xp.backends() if row.name == strict]
    assert (row.is_installed, row.version, row.is_loaded) == (True, "0.7", False)
    with pytest.raises(xp.BackendNotFoundError, match='Did you mean "strict"'):
        xp.backend("strikt")


def test_a_backend_of_another_distribution_runs_and_takes_its_native_arrays(strict: str) -> None:
    with xp.backend(strict):
        x = xp.linspace(0, 1, 3)
        y = xp.sum(xp.exp(x) * 2 + 1, axis=0)
        assert type(xp.to_native(x)).__module__.startswith("array_api_strict")
        assert float(xp.linalg.det(xp.eye(2) * 3)) == pytest.approx(9)
        assert xp.fft.fft(xp.ones(2, dtype=xp.complex128)).tolist() == [2, 0]
        x = xp.arange(5)
        part = x[1:4]
        x[x > 2] = 9
        x += 1
        assert (x.tolist(), part.tolist(), x[-1].tolist()) == ([1, 2, 3, 10, 10], [2, 3, 10], 10)
    assert float(y) == pytest.approx(2 * (1 + np.exp(0.5) + np.e) + 3)
    native, moved = array_api_strict.asarray([1.0, 2.0]), xp.asarray([[1.5, -0.0]]).to_device(strict)
    for one in (y, moved, xp.exp(native), xp.asarray(native)):
        assert one.device.library == strict
    assert str(moved.to_device("numpy").tolist()) == "[[1.5, -0.0]]"


DTYPES = list(dtypes.STANDARD)


@pytest.mark.parametrize("first", DTYPES)
def test_a_backend_of_another_distribution_promotes_by_the_rule(first: str, strict: str) -> None:
    values = np.asarray([1, 0, 1])
    for second in DTYPES:
        with xp.backend(strict):
            x, y = (xp.asarray(values.astype(one)) for one in (first, second))
            joined, chosen, same = xp.concat([x, y]), xp.where(x == y, x, y), xp.equal(x, y)
        wanted = dtypes.promoted(first, second)
        assert (joined.dtype.name, chosen.dtype.name, same.tolist()) == (wanted, wanted, [True] * 3), second
        assert joined.device.library == strict
        if first != "bool" != second:
            with xp.backend(strict):
                total = x + y
            assert (total.dtype.name, total.tolist()) == (wanted, [2, 0, 2]), second


@pytest.mark.parametrize(
    ("call", "dtype", "wanted", "value"),
    [
        (lambda x: xp.exp(x), "int64", "float64", 1.0),
        (lambda x: xp.exp(x), "int16", "float32", 1.0),
        (lambda x: xp.exp(x), "bool", "float32", 1.0),  # this library has no float16
        (lambda x: xp.atan2(x, x), "uint8", "float32", 0.0),
        (lambda x: xp.divide(x, x + 1), "int8", "float64", 0.0),
        (lambda x: x + 0.5, "int32", "float64", 0.5),
        (lambda x: xp.pow(x + 2, xp.asarray(0.5, dtype=xp.float32)), "int16", "float32", np.sqrt(2)),
        (lambda x: xp.mean(x), "int8", "float64", 0.0),
        (lambda x: xp.linalg.vector_norm(xp.reshape(x, (1,))), "bool", "float64", 0.0),
        (lambda x: xp.fft.fft(xp.reshape(x, (1,)))[0], "int32", "complex128", 0.0),
        (lambda x: xp.fft.irfft(xp.reshape(x, (1,)), n=1)[0], "float32", "float32", 0.0),
        (lambda x: xp.sum(x), "int8", "int64", 0),
        (lambda x: xp.sum(x), "uint16", "uint64", 0),
        (lambda x: xp.sum(x), "bool", "int64", 0),
        (lambda x: xp.cumulative_sum(xp.reshape(x, (1,)))[0], "bool", "int64", 0),
        (lambda x: xp.sum(x, dtype=xp.float32), "int8", "float32", 0),
        (lambda x: xp.sum(x), "float32", "float32", 0),
        (lambda x: xp.clip(x, xp.asarray(0.5), None), "int64", "float64", 0.5),
        (lambda x: xp.searchsorted(xp.asarray([0.5]), x), "int64", "int64", 0),
    ],
)  # fmt: skip
def test_a_backend_of_another_distribution_takes_integers_for_floats(
    call: Callable[[xp.Array], xp.Array], dtype: str, wanted: str, value: float, strict: str
) -> None:
    with xp.backend(strict):
        y = call(xp.asarray(np.zeros((), dtype)))
    assert (y.device.library, y.dtype.name, y.item()) == (strict, wanted, pytest.approx(value, rel=1e-6))


@pytest.mark.parametrize("compare", [xp.equal, xp.less, xp.less_equal])
def test_a_backend_of_another_distribution_compares_integers_exactly(
    compare: Callable[[xp.Array, xp.Array], xp.Array], strict: str
) -> None:
    signed = np.asarray([2**63 - 1, -1, 5])
    natural = np.asarray([2**63, 2**64 - 1, 5], dtype=np.uint64)
    expected = {"equal": [False, False, True], "less": [True, True, False], "less_equal": [True] * 3}
    with xp.backend(strict):
        x, y = xp.asarray(signed), xp.asarray(natural)
        assert compare(x, y).tolist() == expected[compare.__name__]
        assert compare(y, x).tolist() == {"equal": [False, False, True], "less": [False] * 3,
                                          "less_equal": [False, False, True]}[compare.__name__]  # fmt: skip


def test_a_backend_of_another_distribution_refuses_what_the_standard_does(strict: str) -> None:
    with xp.backend(strict):
        with pytest.raises(TypeError, match=r"^less: x1 must have a real numeric dtype, not complex128\."):
            xp.less(xp.ones(1, dtype=xp.complex128), xp.ones(1))
        with pytest.raises(TypeError, match=r"^dtype: strict-cpu has no bfloat16\."):
            xp.ones(1, dtype=xp.bfloat16)


def test_a_namespace_that_promotes_is_called_directly() -> None:
    assert xp.device("numpy").function("tanh") is np.tanh
