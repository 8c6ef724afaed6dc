"""Whether a move is worth its price: the rule as pure arithmetic.

`automatic` states the rule and applies it. Nothing here depends on an Array or on state of the process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from anyarray._choice import cost
from anyarray._choice.cost import NUMPY

TWICE: Final = 2.0
"""The factor by which missed savings must exceed the price before data moves away from NumPy."""
LEFT: Final = 3 / 4
"""A call pays alone if elsewhere, with its price, it takes at most this part of the time here: a margin for error.

With the return of the result at most all of it.
"""


LEAST: Final = math.ulp(0.0)
"""The least savings that count as missed."""


class Stay(NamedTuple):
    """The time of a call on the backend where most of its inputs are."""

    name: str
    seconds: float
    """With the transfer of inputs that are elsewhere."""
    first: float
    """Additional seconds of the first call with these shapes."""


class Offer(NamedTuple):
    """The time of a call on another backend, and the savings missed so far.

    All in seconds.
    """

    name: str
    working: float
    """The call itself."""
    arriving: float
    """Transfer of the inputs, and the switch to another library; see `cost.Costs.entering`."""
    returning: float
    """Transfer of the result back to where the call stays, and the switch back."""
    once: float
    """Import of the library, and compilation for these shapes."""
    reading: float
    """Past reads by the host, which a move to NumPy saves from now on."""
    missed: float
    """Savings missed by the calls that led to the inputs."""
    alike: float
    """Savings missed by calls with the same function, shapes and dtypes."""

    @property
    def price(self) -> float:
        """What the move takes beside the call."""
        return self.arriving + self.returning + self.once


class Price(NamedTuple):
    """The total time of a call on another backend, and whether it pays."""

    seconds: float
    """The total, with transfers and what is paid once."""
    pays_alone: bool
    """Whether this call alone saves the price with a margin for error: rule (a)."""
    pays: bool
    """Whether it does, or does together with missed savings: rule (b)."""


def gains(stay: Stay, name: str, kind: str, working: float, reading: float, error: float = 1.0) -> bool:
    """Whether a call is so much faster elsewhere that a move is considered.

    `error` is the factor by which the ratio of the two times may be wrong.
    """
    # A move saves the time of reads from now on, if the results of later calls are read as often.
    deciding = cost.DECIDING if stay.name == NUMPY else 0.0
    return (
        stay.seconds - working + reading + stay.first > 0
        and working + deciding <= cost.gain(name, kind, error) * (stay.seconds + reading + stay.first)
    )  # fmt: skip


def weigh(stay: Stay, offer: Offer) -> Price:
    """The price of an offer, and whether it pays by the rule."""
    saving = stay.seconds - offer.working
    moving = offer.arriving + offer.returning
    missed = offer.missed + offer.reading
    multiple = 1.0 if offer.name == NUMPY else TWICE
    # Without missed savings, twice the price may be within the error of a call that takes far longer.
    is_enough = missed + saving >= multiple * moving and (missed > 0 or offer.name == NUMPY)
    pays_alone = _pays_alone(stay, offer, offer.once)
    pays = pays_alone or (
        saving + offer.reading > 0
        and (_pays_alone(stay, offer, 0.0) or is_enough)
        and (not offer.once or offer.alike + saving >= multiple * (moving + offer.once))
    )
    return Price(offer.working + offer.price, pays_alone, pays)


def cheapest(
    stay: Stay, offers: Iterable[Offer], predicted: dict[str, float], can_run: Callable[[str], bool]
) -> tuple[Offer, Price] | None:
    """Of the offers that pay, where the call can run, that which takes least.

    `predicted` gets the seconds of all. Each is weighed before the next is made.
    """
    found: tuple[Offer, Price] | None = None
    for offer in offers:
        price = weigh(stay, offer)
        predicted[offer.name] = price.seconds
        if price.pays and (found is None or price.seconds < found[1].seconds) and can_run(offer.name):
            found = offer, price
    return found


def _pays_alone(stay: Stay, offer: Offer, once: float) -> bool:
    """Whether a call alone saves the price, with a margin for error.

    The margin is for what is paid in any case: the result may never go back.
    """
    paid, here = offer.working + offer.arriving + once, stay.seconds + stay.first
    return paid <= LEFT * here and paid + offer.returning <= here


def needed(stay: Stay, offer: Offer) -> tuple[float, float]:
    """The missed savings from which on an offer that does not pay alone pays.

    Those of the lineage, and those of calls alike; there are no reads by the host.
    """
    saving, moving = stay.seconds - offer.working, offer.arriving + offer.returning
    multiple = 1.0 if offer.name == NUMPY else TWICE
    lineage = 0.0 if _pays_alone(stay, offer, 0.0) else max(LEAST, multiple * moving - saving)
    return lineage, multiple * (moving + offer.once) - saving if offer.once else 0.0
