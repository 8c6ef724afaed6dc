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
    [
        ("jaxx", "jax"),
        ("nunpy", "numpy"),
        ("tensorflw", "tensorflow"),
        ("jax-gpuu", "jax-gpu"),
        ("tf_cpu", "tf-cpu"),
        ("Auto", "auto"),
        ("JAX", "jax"),
        ("cupyy", "cupy"),
    ],
)
def test_an_unknown_name_says_what_is_near_and_what_is_known(wrong: str, near: str) -> None:
    with pytest.raises(xp.BackendNotFoundError) as caught:
        xp.backend(wrong)
    assert str(caught.value) == f'backend "{wrong}" is unknown. Did you mean "{near}"? Known: {known()}'


@pytest.mark.parametrize("wrong", ["", "xyzzy", ":1"])
def test_a_name_that_is_near_to_none_says_what_is_known(wrong: str) -> None:
    with pytest.raises(xp.BackendNotFoundError) as caught:
        xp.backend(wrong)
    assert str(caught.value) == f'backend "{wrong}" is unknown. Known: {known()}'


@pytest.mark.parametrize("wrong", ["jax:x", "jax:-1", "jax-cpu:1.5", "numpy-gpu", "jax-npu", "cupy-cpu"])
def test_a_kind_or_index_that_is_none_is_an_unknown_name(wrong: str) -> None:
    with pytest.raises(xp.BackendNotFoundError, match=f'^backend "{wrong}" is unknown. '):
        xp.backend(wrong)


@pytest.mark.parametrize("call", [xp.device, xp.backend, xp.set_default_backend, lambda name: xp.ones(1, device=name)])
def test_an_unknown_name_is_one_error_wherever_it_is_given(call: Callable[[str], object]) -> None:
    with pytest.raises(xp.BackendNotFoundError) as caught:
        call("jaxx")
    assert str(caught.value) == f'backend "jaxx" is unknown. Did you mean "jax"? Known: {known()}'


def test_an_unknown_name_is_refused_before_the_block_is_entered() -> None:
    with pytest.raises(xp.BackendNotFoundError):
        xp.backend("jaxx")


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


@pytest.mark.parametrize("written", ["cupy", "cupy:1"])
def test_a_library_that_is_not_installed_says_how_to_install_it(
    written: str, fake_library: Callable[..., None]
) -> None:
    fake_library(package="no_such_package")
    with pytest.raises(xp.BackendNotInstalledError) as caught, xp.backend(written):
        pass
    assert str(caught.value) == (
        'backend "cupy" is known, but no_such_package is not installed. Run: pip install "anyarray[cupy]"'
    )


def test_a_library_whose_backend_needs_another_package_says_which(fake_library: Callable[..., None]) -> None:
    fake_library(package="json", needs=("no_such_package",))
    with pytest.raises(xp.BackendNotInstalledError) as caught, xp.backend("cupy"):
        pass
    assert str(caught.value) == (
        'backend "cupy" needs no_such_package, which is not installed. Run: pip install no-such-package'
    )
    assert isinstance(caught.value, ImportError)


def test_a_library_that_is_not_installed_is_listed_so(fake_library: Callable[..., None]) -> None:
    fake_library(package="no_such_package", distributions=())
    (row,) = [row for row in xp.backends() if row.name == "cupy"]
    assert (row.is_installed, row.version, row.is_loaded, row.devices) == (False, None, False, None)
    assert row.install == 'pip install "anyarray[cupy]"'


def test_a_library_without_a_device_says_so(fake_library: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("deviceless")
    module.namespace = np  # type: ignore[attr-defined]  # a backend's module
    module.devices = lambda: {"gpu": []}  # type: ignore[attr-defined]  # as above
    monkeypatch.setitem(sys.modules, "deviceless", module)
    fake_library(module="deviceless", package="deviceless", needs=())
    with pytest.raises(xp.DeviceNotFoundError) as caught, xp.backend("cupy"):
        pass
    assert str(caught.value) == (
        'backend "cupy": deviceless is installed, but finds no such device on this machine. '
        "It has no device at all; it needs a gpu"
    )


def test_every_library_that_is_installed_has_devices_or_says_that_it_has_none() -> None:
    for row in xp.backends():
        if not row.is_installed:
            continue
        try:
            device = xp.device(row.name)
        except xp.DeviceNotFoundError as error:
            assert str(error).endswith("It has no device at all; it needs a gpu")
        else:
            assert device.library == row.name


def test_our_libraries_are_known_in_their_order() -> None:
    assert [row.name for row in xp.backends()][:5] == ["numpy", "tf", "jax", "torch", "cupy"]


def test_the_list_tells_the_installed_version(name: str) -> None:
    (row,) = [row for row in xp.backends() if row.name == name]
    module = sys.modules[{"tf": "tensorflow"}.get(name, name)]
    assert row.is_installed
    assert row.version == module.__version__.replace("-rc", "rc")


def test_the_list_tells_the_devices_of_a_library_that_is_loaded(name: str) -> None:
    device = xp.device(name)
    (row,) = [row for row in xp.backends() if row.name == name]
    assert row.is_loaded
    assert row.devices is not None
    assert device.name in row.devices


def test_the_list_imports_no_library(run_python: Callable[..., str]) -> None:
    program = """
        import sys
        import anyarray as xp
        rows = xp.backends()
        print(sorted({"jax", "tensorflow", "torch", "cupy"} & set(sys.modules)))
        print({row.devices for row in rows if row.name != "numpy"})
    """
    assert run_python(program).splitlines() == ["[]", "{None}"]


def test_the_inspection_api_lists_the_devices_in_use(backend: xp.Backend) -> None:
    found = xp.__array_namespace_info__().devices()
    assert type(found) is tuple
    assert backend in found


def test_the_inspection_api_s_default_device_is_the_chosen_one(backend: xp.Backend) -> None:
    assert xp.__array_namespace_info__().default_device() is backend


def test_the_inspection_api_s_capabilities() -> None:
    assert xp.__array_namespace_info__().capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 32,
    }


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


def test_a_backend_of_another_distribution_is_listed(strict: str) -> None:
    (row,) = [row for row in xp.backends() if row.name == strict]
    assert (row.is_installed, row.version, row.is_loaded) == (True, "0.7", False)


def test_a_backend_of_another_distribution_is_suggested(strict: str) -> None:
    with pytest.raises(xp.BackendNotFoundError, match='Did you mean "strict"'):
        xp.backend("strikt")


def test_a_backend_of_another_distribution_runs(strict: str) -> None:
    with xp.backend(strict):
        x = xp.linspace(0, 1, 3)
        y = xp.sum(xp.exp(x) * 2 + 1, axis=0)
        assert type(xp.to_native(x)).__module__.startswith("array_api_strict")
        assert y.device.library == strict
    assert float(y) == pytest.approx(2 * (1 + np.exp(0.5) + np.e) + 3)


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


def test_a_backend_of_another_distribution_is_indexed_and_written(strict: str) -> None:
    with xp.backend(strict):
        x = xp.arange(5)
        y = x[1:4]
        x[x > 2] = 9
        x += 1
        assert (x.tolist(), y.tolist(), x[-1].tolist()) == ([1, 2, 3, 10, 10], [2, 3, 10], 10)


def test_a_backend_of_another_distribution_has_linalg_and_fft(strict: str) -> None:
    with xp.backend(strict):
        assert float(xp.linalg.det(xp.eye(2) * 3)) == pytest.approx(9)
        assert xp.fft.fft(xp.ones(2, dtype=xp.complex128)).tolist() == [2, 0]


def test_a_native_array_of_another_distribution_is_taken(strict: str) -> None:
    xp.device(strict)
    native = array_api_strict.asarray([1.0, 2.0])
    assert xp.exp(native).device.library == strict
    assert xp.asarray(native).device.library == strict


def test_arrays_go_to_a_backend_of_another_distribution_and_back(strict: str) -> None:
    x = xp.asarray([[1.5, -0.0]]).to_device(strict)
    assert x.device.library == strict
    assert str(x.to_device("numpy").tolist()) == "[[1.5, -0.0]]"
