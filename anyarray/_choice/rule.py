"""Whether a move is worth its price: the rule as pure arithmetic.

`automatic` states the rule, and asks. No Array and no state of this process comes in.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from anyarray._choice import cost
from anyarray._choice.cost import NUMPY

TWICE: Final = 2.0
"""Times the price that missed savings must reach before data leaves NumPy."""
LEFT: Final = 3 / 4
"""Part of the time here that a call may take elsewhere with its price at most, as error may feign the rest."""


class Stay(NamedTuple):
    """What a call takes where most of its inputs are."""

    name: str
    seconds: float
    """With bringing those of its inputs that are elsewhere."""
    first: float
    """What the first call with these shapes takes on top."""


class Offer(NamedTuple):
    """What a call takes on another backend, and what speaks for moving."""

    name: str
    working: float
    """Seconds of the call alone."""
    arriving: float
    """Of bringing the inputs, and of going on with another library."""
    returning: float
    """Of bringing the result back to where the call stays, and of going on there."""
    once: float
    """Of importing the library and compiling for these shapes."""
    reading: float
    """What the host's reading took that a move to NumPy saves from now on."""
    missed: float
    """What was missed on the lineage of the inputs."""
    alike: float
    """What was missed by calls with the same function, shapes and dtypes."""


class Price(NamedTuple):
    """What a call takes on another backend, and whether it is worth it."""

    seconds: float
    """All in all."""
    pays_alone: bool
    """Whether this call saves the price, and more than error may feign: rule (a)."""
    pays: bool
    """Whether it does, or what was missed before it with it: rule (b)."""


def gains(stay: Stay, name: str, kind: str, working: float, reading: float) -> bool:
    """Whether a call takes so much less elsewhere that a move is weighed."""
    # What reading took is saved from now on, if the results of calls to come are read likewise.
    deciding = cost.DECIDING if stay.name == NUMPY else 0.0
    return (
        stay.seconds - working + reading + stay.first > 0
        and working + deciding <= cost.gain(name, kind) * (stay.seconds + reading + stay.first)
    )  # fmt: skip


def weigh(stay: Stay, offer: Offer) -> Price:
    """The price of an offer, and whether it pays by the rule."""
    saving = stay.seconds - offer.working
    moving = offer.arriving + offer.returning
    missed = offer.missed + offer.reading
    multiple = 1.0 if offer.name == NUMPY else TWICE
    # Where nothing was missed, twice the price may be within the error of a call that takes far longer.
    is_enough = missed + saving >= multiple * moving and (missed > 0 or offer.name == NUMPY)
    pays_alone = _pays_alone(stay, offer, moving + offer.once)
    pays = pays_alone or (
        saving + offer.reading > 0
        and (_pays_alone(stay, offer, moving) or is_enough)
        and (not offer.once or offer.alike + saving >= multiple * (moving + offer.once))
    )
    return Price(offer.working + moving + offer.once, pays_alone, pays)


def _pays_alone(stay: Stay, offer: Offer, price: float) -> bool:
    """Whether a call saves a price, and more than error may feign."""
    return offer.working + price <= LEFT * (stay.seconds + stay.first)


def needed(stay: Stay, offer: Offer) -> float:
    """Seconds that calls alike must have missed before an offer pays.

    It has something to be bought, and does not pay alone.
    """
    return TWICE * (offer.arriving + offer.returning + offer.once) - (stay.seconds - offer.working)
