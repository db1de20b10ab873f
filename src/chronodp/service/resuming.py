"""Plans that go on with choices that are on disk, whatever has become of the data since.

Comparing the data, as at home, would refuse where somebody's rows have changed, and so tell it. Each choice is private
for the data that it was made from, and so is the release: the price covers them whether these are the same or not.
"""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.engines import HeldKeys, Sizes
from chronodp.randomness import Entropy
from chronodp.series import DiscoverPlan, FindPlan, Quanta
from chronodp.service.pacing import PacedFinding, PacedKeys, Paces

__all__ = ["resumed"]

_SAME = (b"a curator's data",)


def resumed(plan: FindPlan | DiscoverPlan, pace: Paces) -> FindPlan | DiscoverPlan:
    """Return a plan that goes on with its choices, and whose readings end at allowed moments."""
    if isinstance(plan, FindPlan):
        return _FindsBounds(plan.design, PacedFinding(plan.origin, pace))
    return _FindsKeys(plan.design, PacedKeys(plan.origin, pace), pace)


@dataclass(frozen=True, slots=True, repr=False)
class _FindsBounds(FindPlan):
    """A plan that finds bounds."""

    def content(self, numbers: Sizes) -> tuple[bytes, ...]:
        """Return the same for all data."""
        del numbers
        return _SAME


@dataclass(frozen=True, slots=True, repr=False)
class _FindsKeys(DiscoverPlan):
    """A plan that finds keys."""

    pace: Paces

    def content(self, numbers: HeldKeys) -> tuple[bytes, ...]:
        """Return the same for all data."""
        del numbers
        return _SAME

    def find(self, held: HeldKeys, entropy: Entropy) -> tuple[str, ...]:
        """Return the keys that are published, at an allowed moment: deciding takes as long as there are candidates."""
        began = self.pace.clock()
        try:
            return DiscoverPlan.find(self, held, entropy)
        finally:
            self.pace.hold(began)

    def find_counted(self, held: HeldKeys, entropy: Entropy) -> tuple[tuple[str, ...], Quanta]:
        """Return keys and the counts that decided, at an allowed moment, for the same reason."""
        began = self.pace.clock()
        try:
            return DiscoverPlan.find_counted(self, held, entropy)
        finally:
            self.pace.hold(began)
