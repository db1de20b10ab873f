"""Releases that are drawn and not stored yet: kept in memory, so that a database that is away does not lose them.

"What could fail after a debit" in ``docs/explanation/proofs/ledger.md``. Each was debited and drawn once; whoever takes
it out stores it, or puts it back. It goes with its process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chronodp.ledger.debits import Spend
from chronodp.ledger.numbers import Written
from chronodp.ledger.watch import Rooms
from chronodp.privacy import Certificate
from chronodp.randomness import Lineage

__all__ = ["Drawn", "DrawnReleases"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A release that its request was debited for, before it is stored.

    Attributes:
        spend: what was debited.
        request: under which id.
        written: the release.
        certificate: what is to be signed with it.
        charged: the counters that its debit raised; none if another process debited it.
        rooms: what was set aside for its marks.
    """

    spend: Spend
    request: str
    written: Written = field(repr=False)
    certificate: Certificate
    charged: Mapping[str, int]
    rooms: Rooms


class DrawnReleases:
    """The releases of one process that wait to be stored. Safe in threads: of two that take one, one gets it."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Drawn] = {}
        self._generation = Lineage.generation

    def __contains__(self, of: tuple[str, str]) -> bool:
        return self._generation == Lineage.generation and of in self._kept

    def take(self, dataset: str, request: str) -> Drawn | None:
        """Return a release, for whoever stores it now; a forked child has none, since its parent stores them."""
        return self._kept.pop((dataset, request), None) if (dataset, request) in self else None

    def put_back(self, drawn: Drawn) -> None:
        """Keep a release that could not be stored."""
        if self._generation == Lineage.generation:
            self._kept[drawn.spend.dataset, drawn.request] = drawn
