"""An issue of a lifetime series, made by a job: read, booked and held until a moment that does not tell how long.

Section 8 of ``docs/explanation/proofs/curator.md``. Reading the tally, booking and writing a segment take as long as
there are people in them; all of it lies in one stretch of time that ends at an allowed moment, before noise is drawn.
"""

from __future__ import annotations

from typing import Any

from chronodp.dataset import Lifetime
from chronodp.ledger import Ledger
from chronodp.series import Release
from chronodp.service.issue_rules import IssueAsked
from chronodp.service.pacing import Paces
from chronodp.service.policy import Dataset
from chronodp.service.terms import LifetimeTerms

__all__ = ["make_issue"]


class _Held(Lifetime):
    """A series whose issues go on at allowed moments only."""

    _pace: Paces
    _began: float
    _waited: bool

    def begin(self, pace: Paces, began: float) -> None:
        """Say since when the tally is being read."""
        self._pace, self._began, self._waited = pace, began, False

    @property
    def waited(self) -> bool:
        """Whether an issue was held before it was drawn."""
        return self._waited

    def _issued(self, *given: Any, **named: Any) -> Release:
        self._waited = False  # whoever was overtaken reads anew, and waits anew
        return super()._issued(*given, **named)

    def _pause(self) -> None:
        self._pace.hold(self._began)
        self._waited = True


def make_issue(
    ledger: Ledger, dataset: Dataset, terms: LifetimeTerms, asked: IssueAsked, *, request: str, pace: Paces
) -> None:
    """Make the issue of a job, or find it made: the same request is booked and drawn once.

    Args:
        ledger: that has the series.
        dataset: whose rows are read.
        terms: of the series; only where its tally lies is used.
        asked: which periods, and perhaps another clip.
        request: as the ledger knows it.
        pace: when what was read may be used.
    """
    began, held = pace.clock(), False
    try:
        series = _Held.resume(ledger, terms.name, tally=terms.tally)
        series.begin(pace, began)
        try:
            series.issue(
                dataset.source,
                start=asked.start,
                end=asked.end,
                clip=asked.clip,
                request=request,
                progress=lambda _: None,
            )
        finally:
            held = series.waited
    finally:
        if not held:  # what failed, or was found made, is told at an allowed moment too
            pace.hold(began)
