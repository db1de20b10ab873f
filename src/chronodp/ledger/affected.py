"""Releases that an older version made and that one of its mistakes may have touched, so that their owner can tell.

What a release was read from is not stored, so nothing here says that a release is wrong: only that it may be, and when.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from chronodp.errors import ChronodpError
from chronodp.ledger.certificates import SignedLink
from chronodp.ledger.grids import grids_of
from chronodp.ledger.store import Store
from chronodp.privacy import Calendar

__all__ = ["Affected", "find_affected"]

_QUOTES = (
    "rows may be missing if it was read from a CSV file with a double quote that never closes: `chronodp diagnose` "
    "counts such lines"
)
_CLOCKS = (
    "times may have been read on wrong clocks, and one person may have moved everybody's rows, if it was read from CSV "
    "files whose times carry an offset, from a pandas column of objects, or from several Parquet files, that mix times "
    "with and without an offset: the price does not cover that"
)


@dataclass(frozen=True, slots=True)
class Affected:
    """A release that may have been touched by a mistake of the version that made it.

    Attributes:
        dataset: whose budget paid.
        request: under which it is stored.
        issued: when it was released.
        reasons: what may be wrong with it, and under which circumstances.
    """

    dataset: str
    request: str
    issued: dt.datetime
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "dataset": self.dataset,
            "request": self.request,
            "issued": self.issued.isoformat(),
            "reasons": list(self.reasons),
        }


def find_affected(store: Store) -> list[Affected]:
    """Return the releases from tables of records that 0.1.0 made: all from before the ledger had an identity."""
    with store.snapshot() as transaction:
        known = transaction.run("SELECT made FROM identity")
        since = int(known[0][0]) if known else 2**62
        rows = transaction.run(
            "SELECT r.dataset, r.request, r.release, l.body, l.signature FROM requests r JOIN links l "
            "ON l.dataset = r.dataset AND l.number = r.link WHERE r.made < ? ORDER BY r.made",
            (since,),
        )
    return list(_affected(rows))


def _affected(rows: list[tuple[str, ...]]) -> Iterator[Affected]:
    for dataset, request, text, body, signature in rows:
        grids = grids_of(text, records=True)
        if grids:
            reasons = (_QUOTES,) if all(map(_is_utc, grids)) else (_CLOCKS, _QUOTES)
            issued = dt.datetime.fromtimestamp(SignedLink(body, signature).link.issued / 1e6, dt.UTC)
            yield Affected(dataset, request, issued, reasons)


def _is_utc(grid: Calendar) -> bool:
    """Whether the zone's clocks show UTC all the time, so that no offset could be taken twice."""
    try:
        return all(offset == 0 for _, offset in grid.wall_clock_changes())
    except ChronodpError:
        return False
