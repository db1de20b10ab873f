"""Requests that a database went away under: what was drawn and is not stored, and debits that nobody knows of.

"What could fail after a debit" in ``docs/explanation/proofs/ledger.md``. It is kept in memory, by the one process that
knows whether it has drawn, and goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chronodp.ledger.debits import Spend
from chronodp.ledger.numbers import Written
from chronodp.ledger.watch import Rooms
from chronodp.privacy import Certificate
from chronodp.randomness import Lineage

__all__ = ["Drawn", "Unfinished"]


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


class Unfinished:
    """What one process has to finish. Safe in threads: of two that take the same, one gets it.

    A forked child has nothing to finish: its parent does.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Drawn] = {}
        self._doubts: dict[tuple[str, str], str] = {}
        self._generation = Lineage.generation

    def __contains__(self, of: tuple[str, str]) -> bool:
        return self._generation == Lineage.generation and (of in self._kept or of in self._doubts)

    def take(self, dataset: str, request: str) -> Drawn | None:
        """Return a release that is drawn, for whoever stores it now."""
        return self._kept.pop((dataset, request), None) if (dataset, request) in self else None

    def put_back(self, drawn: Drawn) -> None:
        """Keep a release that could not be stored."""
        if self._generation == Lineage.generation:
            self._kept[drawn.spend.dataset, drawn.request] = drawn

    def doubt(self, dataset: str, request: str, debit: str) -> None:
        """Remember a debit that may be committed or not; nothing was drawn for it. ``debit`` is a text of its own."""
        if self._generation == Lineage.generation:
            self._doubts[dataset, request] = debit

    def is_own(self, dataset: str, request: str, debit: str | None) -> bool:
        """Return whether a debit that stands is the one in doubt; forget a doubt about another."""
        doubted = self._doubts.get((dataset, request)) if (dataset, request) in self else None
        if doubted is not None and doubted != debit:
            self._doubts.pop((dataset, request), None)
        return doubted is not None and doubted == debit

    def settle(self, dataset: str, request: str) -> bool:
        """Return whether a debit was in doubt, once: whoever is told so draws."""
        return self._doubts.pop((dataset, request), None) is not None
