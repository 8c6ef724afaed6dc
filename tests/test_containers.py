"""Containers of arrays in transforms and in portable functions.

They are arguments and results; what is no array is tested, too.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from comparison import assert_same

import anyarray as xp
from anyarray._base import nested

pytestmark = pytest.mark.few_backends

ROWS: Final = np.asarray([[0.5, 1.0, -2.0], [3.0, -0.25, 4.0]])


@dataclass
class Layer:
    """A field, and attributes that `__post_init__` adds."""

    weights: Any

    def __post_init__(self) -> None:
        self.again = [self.weights]
        self.count = 3


@dataclass
class Cache:
    """A field that is not set at first."""

    data: Any
    found: Any = field(init=False)


@dataclass(slots=True)
class Slotted:
    data: Any
    found: Any = field(init=False)


@dataclass
class Steps:
    n: int = 0


class Legs(NamedTuple):
    n: int


class Pace(Steps, Enum):
    """Members that are a dataclass's, whose equality leaves them no hash."""

    SLOW = 1
    FAST = 2


class Animal(Legs, Enum):
    """Members that are tuples."""

    BIRD = 2
    BEETLE = 6


class Named(dict[str, Any]):
    """A dict of somebody's own, whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def native_of(name: str) -> Any:
    return xp.to_native(xp.asarray(ROWS, device=name))


def test_attributes_beside_the_fields_come_with_a_dataclass(backend: xp.Backend) -> None:
    layer = Layer(xp.asarray(ROWS))
    found = xp.jit(lambda layer: layer.again[0] * layer.count)(layer)
    assert_same(found, ROWS * 3)
    assert_same(xp.vmap(lambda layer: layer.again[0] + layer.weights)(layer), ROWS * 2)
    returned = xp.jit(lambda layer: layer)(layer)
    assert_same(returned.again[0], ROWS)
    assert returned.count == 3


def test_the_gradient_by_a_dataclass_counts_no_numbers_beside_its_fields(framework: str) -> None:
    with xp.backend(framework) as entered:
        assert entered is not None
        if not entered.has_hook("value_and_grad"):
            pytest.skip("the library has no derivatives")
        gradient = xp.grad(lambda layer: xp.sum(layer.weights * layer.count))(Layer(xp.asarray(ROWS)))
    assert_same(gradient.weights, np.full((2, 3), 3.0))
    assert gradient.count is None


@pytest.mark.parametrize("kind", [Cache, Slotted])
def test_a_field_may_be_unset(kind: type, backend: xp.Backend) -> None:
    found = xp.jit(lambda cache: cache)(kind(xp.asarray(ROWS)))
    assert_same(found.data, ROWS)
    assert not hasattr(found, "found")
    assert not hasattr(xp.stop_gradient(found), "found")


def test_a_portable_method_of_a_dataclass_sees_all_its_attributes(name: str) -> None:
    x = native_of(name)
    layer = Layer(x)
    layer.note = []  # type: ignore[attr-defined]  # an attribute of this instance

    def scaled(self: Any, y: Any) -> Any:
        assert isinstance(self.weights, xp.Array)
        self.note.append(self.count)
        return self.weights * self.count + y

    assert_same(xp.asarray(xp.portable(scaled)(layer, x)), ROWS * 4)
    assert layer.note == [3]  # type: ignore[attr-defined]  # as above
    assert layer.weights is x


@pytest.mark.parametrize(
    "made",
    [list, dict, Counter, OrderedDict, Steps, lambda: defaultdict(list), lambda: [1, "a", (2, None)], lambda: ([], {})],
)
def test_a_container_without_arrays_is_handed_to_a_portable_function_itself(made: Callable[[], Any], name: str) -> None:
    value = made()
    seen: list[Any] = []
    xp.portable(lambda x, one, *, other: seen.extend([one, other]))(native_of(name), value, other=value)
    assert seen[0] is seen[1] is value  # so what is written to it is seen


@pytest.mark.parametrize(
    "value", [OrderedDict(a=1), Counter(a=1), defaultdict(list, a=1), {"a": 1}], ids=lambda v: type(v).__name__
)
def test_a_dict_of_arrays_keeps_its_class(value: Any, backend: xp.Backend) -> None:
    value["a"] = xp.asarray(ROWS)
    for found in (xp.jit(lambda d: d)(value), xp.stop_gradient(value), xp.vmap(lambda d: d)(value)):
        assert type(found) is type(value)
        assert_same(found["a"], ROWS)
        assert getattr(found, "default_factory", None) is getattr(value, "default_factory", None)
    inside = xp.portable(lambda d: type(d))
    assert inside({**value}) is dict
    assert inside(value) is type(value)


def test_a_dict_of_somebody_s_own_keeps_its_class_in_a_portable_function(name: str) -> None:
    found = xp.portable(lambda d: Named(a=d.a * 2))(Named(a=native_of(name)))
    assert type(found) is Named
    assert_same(xp.asarray(found.a), ROWS * 2)


@pytest.mark.parametrize("kind", [Pace, Animal])
def test_a_member_of_an_enumeration_is_itself_inside(kind: Any, backend: xp.Backend) -> None:
    first, second = kind
    for transform in (xp.jit, xp.vmap):
        changed = transform(lambda x, member: x * (1 if member is first else -1))
        assert_same(changed(xp.asarray(ROWS), first), ROWS)
        assert_same(changed(xp.asarray(ROWS), second), -ROWS)


def test_functions_of_two_factories_are_not_taken_for_one(framework: str) -> None:
    made = xp.jit(lambda d: xp.sum(d["a"]) + len(d.default_factory()))
    with xp.backend(framework):
        x = xp.ones(2)
        assert [float(made(defaultdict(kind, a=x))) for kind in (list, lambda: [1])] == [2.0, 3.0]


def test_the_parts_of_a_defaultdict_are_called_by_their_keys() -> None:
    structure = nested.flatten(defaultdict(list, a="leaf"), [], lambda one: one if one == "leaf" else None)
    assert nested.labels(structure, "d") == ["d['a']"]


def test_containers_on_a_module_of_tensorflow_are_the_plain_ones() -> None:
    tf = pytest.importorskip("tensorflow")
    module = tf.Module()
    module.weights = {"a": tf.constant(ROWS), "rest": [tf.constant(ROWS), {"b": tf.constant(ROWS)}]}

    def total(weights: Any) -> xp.Array:
        return xp.sum(weights["a"] + weights["rest"][0] * weights["rest"][1]["b"])

    assert type(module.weights) is not dict
    gradient = xp.grad(total)(module.weights)
    assert [type(one) for one in (gradient, gradient["rest"], gradient["rest"][1])] == [dict, list, dict]
    assert_same(gradient["rest"][0], ROWS)
    assert_same(xp.jit(total)(module.weights), np.sum(ROWS + ROWS**2))
    assert type(xp.jit(lambda d: d)(module.weights)) is dict
    assert type(xp.portable(lambda d: d)(module.weights)) is dict
    assert_same(xp.vmap(lambda d: d["a"])(module.weights), ROWS)


def no_arrays() -> list[Any]:
    return [np.str_("a"), np.array(["a"]), np.datetime64("2020"), np.array([None, {}])]


@pytest.mark.parametrize("which", range(len(no_arrays())))
def test_what_has_a_dtype_that_no_array_has_is_passed_through(which: int, name: str) -> None:
    value = no_arrays()[which]
    found = xp.portable(lambda x, other: (x + 1, [other]))(native_of(name), value)
    assert_same(xp.asarray(found[0]), ROWS + 1)
    assert found[1][0] is value
    x = xp.asarray(ROWS, device=name)
    assert_same(xp.vmap(lambda x, other: x if other is value else None, in_axes=(0, None))(x, value), ROWS)
    assert xp.stop_gradient([value, x])[0] is value


def test_text_of_tensorflow_and_keys_of_jax_are_passed_through_and_constants_of_gradients() -> None:
    jax, tf = pytest.importorskip("jax"), pytest.importorskip("tensorflow")
    xp.device("jax"), xp.device("tf")
    key = jax.random.key(0)
    for value in (tf.constant(["a"]), tf.Variable(["a"]), key):
        assert xp.portable(lambda x, other: (x, other))(ROWS, value)[1] is value

    def noisy(x: xp.Array, key: Any) -> xp.Array:
        return xp.sum(x * xp.from_native(jax.random.uniform(key, (3,), np.float32)))

    gradient = xp.grad(noisy)(xp.ones(3, device="jax"), key)
    assert_same(gradient, np.asarray(jax.random.uniform(key, (3,), np.float32), np.float64))


@pytest.mark.needs("traces")
def test_jit_takes_text_as_a_constant_and_refuses_a_key_clearly(framework: str) -> None:
    with xp.backend(framework):
        assert_same(xp.jit(lambda x, name: x + len(name))(xp.asarray(ROWS), np.str_("ab")), ROWS + 2)
        with pytest.raises(TypeError, match=r"^transform: argument has the dtype <U1, which no Array can have"):
            xp.jit(lambda x, names: x)(xp.ones(2), np.array(["a"]))
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"^transform: argument has the dtype key<fry>, which no Array can have"):
        xp.jit(lambda x, key: x)(xp.ones(2, device="jax"), jax.random.key(0))


def test_what_stands_for_an_array_in_a_nest_prints() -> None:
    jax, tf = pytest.importorskip("jax"), pytest.importorskip("tensorflow")
    x, y = xp.ones(2, device="jax"), xp.ones(2, device="tf")
    device = x.device
    assert repr(jax.tree.map(lambda a: (1, 2), x)) == f"Array((1, 2), device={device})"
    assert str(jax.tree.map(lambda a: None, x)) == "None"
    shape = jax.ShapeDtypeStruct((2,), np.float64)
    assert repr(jax.tree.map(lambda a: shape, x)) == f"Array({shape!r}, device={device})"
    spec = tf.TensorSpec(None, tf.float64)
    found = tf.nest.map_structure(lambda a: spec, y)
    assert repr(found) == f"Array({spec!r}, device={y.device})"
    assert str(found) == str(spec)
