"""Keys and bits: those of Random123 and of JAX, the same on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray import random
from anyarray.random._threefry import threefry

pytestmark = pytest.mark.few_backends

ANSWERS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]
"""Counter, key and words of Threefry2x32 with 20 rounds, from the known answers of Random123."""


@pytest.mark.parametrize(("counter", "key", "words"), ANSWERS)
@pytest.mark.usefixtures("backend")
def test_the_known_answers_of_random123(counter: Any, key: Any, words: Any) -> None:
    high, low = (xp.asarray(part, dtype=xp.uint32) for part in counter)
    found = threefry(xp.asarray(key, dtype=xp.uint32), (), (high, low))
    assert tuple(int(word) for word in found) == words


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_keys_and_bits_are_those_of_jax(dtype: str) -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.random.key(12)
    with jax.enable_x64(True):
        expected = np.asarray(jax.random.bits(theirs, (5,), dtype))
        keys = np.asarray(jax.random.key_data(jax.random.split(theirs, 3)))
        folded = np.asarray(jax.random.key_data(jax.random.fold_in(theirs, 77)))
    key = random.key(12)
    assert np.array_equal(np.asarray(random.bits(key, (5,), dtype)), expected)
    assert np.array_equal(np.asarray(random.split(key, 3)), keys)
    assert np.array_equal(np.asarray(random.fold_in(key, 77)), folded)


@pytest.mark.usefixtures("backend")
def test_the_bits_of_many_elements_are_those_of_few_and_more() -> None:
    key = random.key((1 << 64) - 1)
    assert random.bits(key, (2000,))[:3].tolist() == random.bits(key, (3,)).tolist()
    assert random.split(key, 5)[:2, :].tolist() == random.split(key).tolist()
    assert random.split(key, (2, 2)).shape == (2, 2, 2)
    assert random.bits(key, (2, 0)).shape == (2, 0)


@pytest.mark.usefixtures("backend")
def test_a_step_may_be_an_array() -> None:
    key = random.key(3)
    assert random.fold_in(key, xp.asarray(9)).tolist() == random.fold_in(key, 9).tolist()
    assert random.fold_in(key, 1 << 40).tolist() != random.fold_in(key, 0).tolist()


def test_split_keys_do_not_agree() -> None:
    keys = np.asarray(random.split(random.key(0), 10_000)).view(np.uint64)
    assert len(np.unique(keys)) == 10_000
    first, second = (np.asarray(random.normal(key, (5000,))) for key in random.split(random.key(0)))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: random.key(1.5), TypeError, r"^key: seed must be an int, not 1\.5"),
        (lambda: random.key(True), TypeError, "^key: seed must be an int, not a bool"),
        (lambda: random.key(-1), ValueError, r"^key: seed must be from 0 to 2\*\*64 - 1, not -1"),
        (lambda: random.bits(xp.zeros(2), (3,)), TypeError, "^bits: key must be an Array of uint32 of shape"),
        (lambda: random.bits(random.key(0), (3,), "int32"), TypeError, "^bits: dtype must be one of uint8, "),
        (lambda: random.bits(random.key(0), 2.5), TypeError, "^bits: shape must be "),
        (lambda: random.split(xp.zeros(2)), TypeError, "^split: key must be an Array of uint32 of shape"),
        (lambda: random.fold_in(random.key(0), -1), ValueError, "^fold_in: data must be from 0 to"),
        (lambda: random.fold_in(random.key(0), xp.asarray(1.0)), TypeError, "^fold_in: data must be an int or a 0-d"),
        (lambda: random.normal(random.split(random.key(0))), TypeError, r"^normal: key must be .* \(2, 2\)\. "),
    ],
)
@pytest.mark.usefixtures("backend")
def test_what_is_no_key_is_refused(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()
