"""Help where the user is: cures in errors, public paths, hints."""

from __future__ import annotations

import pickle
import pickletools
import re
import traceback
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest
from comparison import each

import anyarray as xp
import anyarray.numpy as np

X: Final = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
DTYPES: Final = (
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128"
)
DTYPE: Final = f"dtype must be one of {DTYPES}, float16, bfloat16, not"
KEY: Final = "Make one: xp.random.key(0), or take one of xp.random.split(key)"

CURES: Final[dict[str, str]] = {
    "xp.random.normal(0, (3,))": f"normal: key must be a key, not int. {KEY}",
    "xp.ones(3, 4)": f"ones: {DTYPE} 4. Give a shape of several axes as a tuple: xp.ones((3, 4))",
    "xp.sum(X, 0, True)": f"sum: {DTYPE} True. Give keepdims by name: keepdims=True",
    "xp.astype(X, 'flot32')": f"astype: {DTYPE} 'flot32'",
    "xp.concat(X, X)": "concat: axis must be an int, not an Array. Pass the arrays as one list: xp.concat([a, b])",
    "xp.stack(X, X)": "stack: axis must be an int, not an Array. Pass the arrays as one list: xp.stack([a, b])",
    "xp.from_native([1])": "from_native: a must be an array of a library, not list. "
    "Make an Array of it: xp.asarray(...)",
    "range(xp.asarray(3.0))": "index: x must not have the dtype float64. Convert it: int(x)",
    "xp.max(xp.asarray([]))": "max: x of shape (0,) has no elements along the axis, and the function has no identity",
    "xp.where(X > 1)": "where: needs condition, x1 and x2. The indices are those of xp.nonzero(condition)",
    "xp.clip(X, a_min=0)": "clip: has the options min, max, not a_min. Its name is min",
    "xp.sum(X, dim=0)": "sum: has the options axis, dtype, keepdims, not dim. Its name is axis",
    "xp.zeros(3, typ=1)": "zeros: has the options shape, dtype, device, not typ",
    "xp.exp(X, out=X)": "exp: has no options, not out",
    "xp.std(X, correction=1, ddof=2)": "std: takes correction or ddof, not both. They are the same option",
    "xp.explain(lambda: 1)": "explain: too many positional arguments. "
    "Use it in a with statement: with xp.explain(...):",
    "X.sum(dim=0)": "Array.sum() got an unexpected keyword argument 'dim'",
    "xp.set_backend('jax')": "module 'anyarray' has no attribute 'set_backend'. "
    "Use xp.set_default_backend(name), or with xp.backend(name):",
    "xp.get_backend()": "module 'anyarray' has no attribute 'get_backend'. "
    "Use x.device for the backend of an Array, or xp.backends() for those that are installed",
    "xp.devices()": "module 'anyarray' has no attribute 'devices'. Use xp.backends()",
    "xp.cat([X])": "module 'anyarray' has no attribute 'cat'. The standard has xp.concat",
    "xp.tensor([1])": "module 'anyarray' has no attribute 'tensor'. The standard has xp.asarray",
    "xp.info()": "module 'anyarray' has no attribute 'info'. Use python -m anyarray info, or xp.backends()",
    "xp.random.seed(0)": "module 'anyarray.random' has no attribute 'seed'. "
    "Use xp.random.key(0) or xp.random.Generator(0)",
    "xp.flot32": "module 'anyarray' has no attribute 'flot32'. Did you mean \"float32\"?",
    "np.flot32": "module 'anyarray.numpy' has no attribute 'flot32'. Did you mean \"float32\"?",
    "np.float_": "module 'anyarray.numpy' has no attribute 'float_'. Use `np.float64` instead",
}
"""Calls that are typed by habit from other libraries, and the whole sentences that answer them."""


@each("call", CURES)
def test_a_wrong_call_is_answered_with_its_cure(call: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        eval(call, {"xp": xp, "np": np, "X": X})
    assert str(caught.value) == CURES[call]


@each("name", ["gpu", "cuda", "tpu"])
def test_a_device_without_its_library_is_answered_with_the_names_that_are_installed(name: str) -> None:
    kind = "tpu" if name == "tpu" else "gpu"
    names = [row.name for row in xp.backends() if row.version is not None]
    known = [f"{one}-{kind}" for one in names if one in ("tf", "jax", *(["torch"] if kind == "gpu" else []))]
    if not known:
        pytest.skip("no library with such devices is installed")
    with pytest.raises(xp.BackendNotFoundError) as caught:
        xp.backend(name)
    found, listed = str(caught.value).split(" Installed: ")
    assert found == f'backend "{name}" is a device, and the name of a backend begins with its library.'
    assert {*re.findall('"(.+?)"', listed)} - {"cupy", "sim"} == {*known}


def test_a_list_given_to_a_portable_function_is_answered_with_the_word_that_converts_it() -> None:
    with pytest.raises(xp.ArgumentTypeError) as caught:
        xp.portable(xp.sum)([1, 2])
    assert caught.value.__notes__ == ["sum was given a list. @xp.portable(convert=True) makes an Array of it."]


def frames_of(error: BaseException) -> list[str]:
    """The names of the functions in a traceback, and the file of the last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.name for frame in frames] + [frames[-1].filename]


@pytest.mark.needs("derivatives")
def test_a_traceback_of_a_transform_shows_the_user_s_frames(
    backend: xp.Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(x: xp.Array) -> xp.Array:
        return x if xp.sum(x) > 1 else -x

    call = xp.jit(refused)
    with pytest.raises(xp.TransferError) as short:
        call(xp.ones(3))
    assert frames_of(short.value)[1:] == ["called", "called", "refused", __file__]
    assert short.value.__cause__ is None
    monkeypatch.setenv("ANYARRAY_TRACEBACK", "full")
    with pytest.raises(xp.TransferError) as full:
        call(xp.ones(3))
    assert len(frames_of(full.value)) > 10
    assert full.value.__cause__ is not None


def test_a_traceback_of_a_user_s_own_error_leaves_our_frames_out(backend: xp.Backend) -> None:
    def broken(x: xp.Array) -> xp.Array:
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        xp.vmap(broken)(xp.ones(3))
    assert frames_of(caught.value)[-2:] == ["broken", __file__]
    assert [name for name in frames_of(caught.value) if name in ("run_on", "result")] == []


PUBLIC: Final = [
    f"{prefix}{name}"
    for prefix, space in (("", xp), ("linalg.", xp.linalg), ("fft.", xp.fft), ("random.", xp.random))
    for name in space.__all__
    if hasattr(getattr(space, name), "__qualname__")
]


@each("path", PUBLIC)
def test_a_public_function_or_class_says_where_users_find_it(path: str) -> None:
    chapter, _, name = path.rpartition(".")
    found: Any = getattr(getattr(xp, chapter), name) if chapter else getattr(xp, name)
    if chapter and found is getattr(xp, name, None):
        chapter = ""
    assert found.__module__ == f"anyarray.{chapter}".rstrip(".")


@each("value", [X, xp.float32, xp.device("numpy"), xp.sum, xp.linalg.svd, xp.random.Generator(0), xp.AxisError])
def test_a_pickle_names_public_paths(value: Any) -> None:
    pickled = pickle.dumps(value)
    words = [word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)]
    assert not [word for word in words if word.startswith("anyarray") and "._" in word]
    assert type(pickle.loads(pickled)) is type(value)


DROPPED: Final = "was dropped unused: it has an effect in a with statement or as a decorator"
BLOCKS: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    'anyarray.backend("numpy")': (
        lambda: xp.backend("numpy"),
        f'anyarray.backend("numpy") {DROPPED}. For the whole program: anyarray.set_default_backend("numpy")',
    ),
    "anyarray.transfers(...)": (lambda: xp.transfers(), f"xp.transfers(...) {DROPPED}"),
}


@each("name", BLOCKS)
def test_a_block_says_what_it_is_and_is_told_if_it_was_never_opened(name: str) -> None:
    make, sentence = BLOCKS[name]
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(sentence)}$"):
        make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block = make()
        assert repr(block) == name
        with block:
            pass


def test_numpy_s_removed_names_keep_its_advice() -> None:
    with pytest.raises(AttributeError) as theirs:
        numpy.float_  # noqa: B018 - it raises
    assert "Use `np.float64` instead" in str(theirs.value)
