"""`anyarray.stable.v1` has the names and signatures of a recorded list.

Run as a program, this file records them anew, which until 1.0 is how a new name gets in; after it, lines may only be
added.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from comparison import each

import anyarray as xp
from anyarray import _pytest_plugin, testing
from anyarray.stable import v1

RECORDED: Final = Path(__file__).with_name("stable_v1.txt")
MODULES: Final = {
    "": v1, "fft.": v1.fft, "linalg.": v1.linalg, "random.": v1.random, "special.": v1.special,
    "testing.": testing, "typing.": v1.typing,
}  # fmt: skip


def signature(one: Any) -> str:
    """Names, kinds and defaults of the parameters, without annotations."""
    try:
        found = inspect.signature(one)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(inspect.Signature(bare))


def members(name: str, kind: type) -> Iterator[str]:
    """The public methods and properties of one of our classes."""
    ours = [base for base in kind.__mro__ if base.__module__ != "builtins"]  # Python's own differ by its version
    for member in sorted(dir(kind)):
        if member.startswith("_") or not any(member in vars(base) for base in ours):
            continue
        one = getattr(kind, member)
        yield f"{name}.{member}{signature(one) if inspect.isroutine(one) else ''}"


def lines() -> list[str]:
    """A line for each public name: functions with their signature."""
    found: list[str] = []
    for prefix, module in MODULES.items():
        for name in module.__all__:
            one = getattr(module, name)
            if isinstance(one, ModuleType):
                found.append(f"{prefix}{name}: module")
            elif inspect.isclass(one):
                found += [f"{prefix}{name}: class", *members(prefix + name, one)]
            else:
                found.append(f"{prefix}{name}{signature(one) if inspect.isroutine(one) else ''}")
    plugin = [name for name in ("xp", "key") if hasattr(_pytest_plugin, name)]
    return sorted({*found, *(f"pytest: fixture {name}" for name in plugin), "pytest: mark xp_needs(*words)"})


def test_the_public_names_and_signatures_are_those_recorded() -> None:
    recorded = RECORDED.read_text().splitlines()
    found = lines()
    assert sorted(set(recorded) - set(found)) == [], "gone or changed, which a version 1.x may not do"
    assert sorted(set(found) - set(recorded)) == [], f"new: record it by `python tests/{Path(__file__).name}`"


@each("public", sorted(set(xp.__all__)))
def test_the_stable_namespace_has_each_public_name(public: str) -> None:
    assert getattr(v1, public) is getattr(xp, public)


if __name__ == "__main__":
    RECORDED.write_text("\n".join(lines()) + "\n")
