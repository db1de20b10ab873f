"""Whose parts a private step takes one by one, each with one vote or within one cap: people, or their periods, or rows.

"Who votes" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.privacy import periods_held
from chronodp.series.table import Table

__all__ = ["Voters", "voters_of"]


@dataclass(frozen=True, slots=True)
class Voters:
    """Who votes, and how many of them one unit can change.

    Attributes:
        whole_person: whether a person is a voter, and not each of their periods (or rows, where these stand alone).
        held: voters that one unit holds at most.
        altered: whether they can be altered, and not only come or go: a part of what they hold may be somebody else's
            unit, or another unit may take its place.
    """

    whole_person: bool
    held: int
    altered: bool


def voters_of(table: Table) -> Voters:
    """Return who votes under a table's unit."""
    unit, replaced = table.unit, table.protected.relation == "replace"
    if unit.whole_person:
        return Voters(True, 1, replaced)
    if unit.of_rows and not table.single_rows:
        # A row shares its person's period with others: what stays is altered; one that moves alters two periods.
        return Voters(False, 2 if replaced else 1, True)
    return Voters(False, periods_held(unit, table.bounds), replaced)
