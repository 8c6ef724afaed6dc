"""Blocks hold in `with` statements, and in what they decorate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

import anyarray as xp
from anyarray._choice import choice
from anyarray._memory import transfer

BLOCKS: Final[dict[str, tuple[Callable[[], Any], Callable[[], bool]]]] = {
    "transfers": (xp.transfers, lambda: bool(transfer.watch().logs)),
    "no_transfers": (xp.no_transfers, lambda: transfer.watch().guard == "raise"),
    "default_dtypes": (lambda: xp.default_dtypes(float=xp.float32), lambda: xp.ones(1).dtype == xp.float32),
    "explain": (xp.explain, choice.is_recorded),
    "policy": (lambda: xp.policy(candidates=["numpy"]), lambda: choice.current().candidates == ("numpy",)),
}


@pytest.mark.parametrize("which", BLOCKS)
def test_a_block_holds_in_what_it_decorates(which: str) -> None:
    make, holds = BLOCKS[which]

    @make()
    def called() -> bool:
        return holds()

    @make()
    async def awaited() -> bool:
        await asyncio.sleep(0)
        return holds()

    assert [called(), called(), asyncio.run(awaited()), holds()] == [True, True, True, False]


@pytest.mark.parametrize("which", BLOCKS)
def test_a_block_decorates_nothing_that_goes_on_outside(which: str) -> None:
    for wrong in (type("Made", (), {}), 5):
        with pytest.raises(TypeError, match=rf"^{which}: "):
            BLOCKS[which][0]()(wrong)


@pytest.mark.parametrize("which", BLOCKS)
def test_a_block_may_be_opened_again_but_not_twice_at_once(which: str) -> None:
    make, holds = BLOCKS[which]
    block = make()
    for _ in range(2):
        with block:
            assert holds()
            with pytest.raises(RuntimeError, match=rf"^{which}: this block is open already"), block:
                pass
            assert holds()
        assert not holds()
