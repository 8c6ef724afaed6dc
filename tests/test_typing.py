"""The classes of results can be imported for annotations.

Also, `anyarray.typing` stands in the reference.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

import _content  # docs/_content.py
from comparison import each

import anyarray as xp
import anyarray.typing

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    f"{space.__name__}.{name}": getattr(space, name)
    for space in (xp, xp.linalg, xp.fft)
    for name in space.__all__
    if inspect.isroutine(getattr(space, name))
}
PUBLIC: Final = {getattr(space, name) for space in (xp, xp.typing) for name in space.__all__ if name[0].isupper()}
(PAGE,) = [page.text for page in _content.reference() if page.name == "typing.md"]


@each("function", FUNCTIONS)
def test_the_class_of_a_result_can_be_imported(function: str) -> None:
    called = FUNCTIONS[function]
    for word in re.findall(r"\w+", str(inspect.signature(called).return_annotation)):
        one = inspect.unwrap(called).__globals__.get(word)
        if inspect.isclass(one) and one.__module__.partition(".")[0] == "anyarray":
            assert one in PUBLIC


@each("member", xp.typing.__all__)
def test_a_name_for_annotations_stands_in_the_reference(member: str) -> None:
    in_table = rf"^\| <a id=.typing\.{member}.></a>`typing\.{member}` \|"
    assert len(re.findall(rf"^\.\. autoclass:: anyarray\.typing\.{member}$|{in_table}", PAGE, re.M)) == 1


def test_an_array_of_any_library_is_told_from_what_is_none_at_run_time(name: str) -> None:
    with xp.backend(name):
        x = xp.zeros(2)
    for one in (x, xp.to_native(x)):
        assert isinstance(one, xp.typing.AnyArray)
    assert not isinstance([1.0], xp.typing.AnyArray)
