"""Whether numbers will be worth reading: how large they must be beside their noise, before anything is spent.

Public figures alone: the noise of a plan, and what somebody guesses or an earlier release says. Nothing of it is free
of the data only if the guess is: a size that was looked up in the data must not decide what is published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from chronodp.display import amount
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Estimates
from chronodp.privacy import check_positive

__all__ = ["Expected", "expected_of", "needed"]

_GOOD = 0.1  # of a number: what it errs by where it is worth reading, by most who publish
_ROUGH = 0.5


@runtime_checkable
class _Estimated(Protocol):
    @property
    def estimates(self) -> Estimates:
        """Values that were released."""
        ...


@dataclass(frozen=True, slots=True)
class Expected:
    """About how large the numbers will be, by a guess or an earlier release; no sizes where nobody said."""

    sizes: tuple[float, ...] = ()

    def words(self, half: float, *, who: str) -> str:
        """Return whether numbers with a band of ``half`` on each side will be useful."""
        if not self.sizes:
            return needed(half, who=who)
        if len(self.sizes) > 1:
            parts = half / np.array(self.sizes)
            good = int((parts <= _GOOD).sum())
            middle = _percent(float(np.median(parts)))
            return (
                f"{good:,} of {len(parts):,} expected numbers come out within ± 10 %; the middle one errs by {middle}"
            )
        part = half / self.sizes[0]
        verdict = "" if part <= _GOOD else "; that is rough" if part <= _ROUGH else "; noise would hide much of it"
        if part > _GOOD:
            verdict += f": {needed(half, who=who)}"
        return f"± {amount(half, 3)} is {_percent(part)} of the {amount(self.sizes[0], 6)} that is expected{verdict}"


def needed(half: float, *, who: str) -> str:
    """Return from which size on a number comes out well; ``who`` is counted, empty where something else is.

    >>> needed(28.9, who="people")
    'a cell needs about 289 people to come out within ± 10 %; with fewer than 29 noise is larger than the number'
    """
    if who:
        least, drowned = (f"{math.ceil(number):,}" for number in (half / _GOOD, half))
        what, below = f"a cell needs about {least} {who}", f"with fewer than {drowned}"
    else:
        least, drowned = (amount(number, 3) for number in (half / _GOOD, half))
        what, below = f"a number must be about {least} or more", f"below {drowned}"
    return f"{what} to come out within ± 10 %; {below} noise is larger than the number"


def expected_of(given: object) -> Expected:
    """Return what a guess says: one size, or the values of a view or release, of which those above 0 count."""
    view = given.each_period() if hasattr(given, "each_period") else given
    if isinstance(view, _Estimated):
        values = np.asarray(view.estimates.value, np.float64).ravel()
        sizes = np.abs(values[np.isfinite(values) & (values != 0)])
        if not len(sizes):
            raise InvalidArgument("expect", type(given).__name__, "a view with values in it, or a number such as 500")
        return Expected(tuple(sizes.tolist()))
    if isinstance(given, str | bytes | Sequence):
        raise InvalidArgument("expect", type(given).__name__, "a number such as 500, or a view of an earlier release")
    return Expected((check_positive("expect", given),))


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 1 else f"{100 * part:,.0f} %"
