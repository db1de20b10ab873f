"""Choices that come before a release of the same request, each on disk before what follows from it is read.

"Choices before a release" in ``docs/explanation/proofs/ledger.md``: a claim is committed before each draw, so that a
process that dies while it draws leaves a request that is lost and named, and one that dies anywhere else leaves one
that goes on with the choices it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from chronodp.errors import LedgerSetBack, RequestConflict
from chronodp.ledger.numbers import Written
from chronodp.ledger.opening import Opened
from chronodp.ledger.store import Transaction
from chronodp.privacy import Certificate, check_text

__all__ = ["Produce", "Staged", "kept_choices", "make_choices"]

Produce: TypeAlias = Callable[[], tuple[str | Written, Certificate]]
"""Draws the noise and returns the release, with its certificate. Called after the debit is committed.

A release is a text, and where numbers are too many for it, also these.
"""
Prepare: TypeAlias = Callable[[tuple[str, ...]], Callable[[], str]]
"""Reads what a choice needs, given the choices before it, and returns what draws it. Reading may be done again."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Private choices, and the release that follows from them.

    Attributes:
        choices: each prepares and draws one, as a text that may be published.
        release: reads what the release needs, given all choices, and returns what draws its noise.
    """

    choices: tuple[Prepare, ...]
    release: Callable[[tuple[str, ...]], Produce]


def kept_choices(transaction: Transaction, dataset: str, request: str) -> tuple[str, ...] | None:
    """Return the choices of a request that was debited; None if one was being drawn, or the noise."""
    rows = transaction.run(
        "SELECT chosen FROM choices WHERE dataset = ? AND request = ? ORDER BY number", (dataset, request)
    )
    texts = tuple(row[0] for row in rows)
    return None if None in texts else texts


def make_choices(
    opened: Opened, dataset: str, request: str, staged: Staged, kept: tuple[str, ...], *, room: int
) -> Produce:
    """Make the choices that are not kept yet, one after another, and return what draws the release.

    Before each draw ``room`` is set aside for what is drawn.
    """
    texts = kept
    for number, prepare in enumerate(staged.choices):
        if number < len(kept):
            continue
        draw = prepare(texts)
        _claim(opened, dataset, request, number, room)
        text = check_text("choice", draw(), private=True)
        opened.reached("choice drawn")
        _keep(opened, dataset, request, number, text)
        texts = (*texts, text)
    produce = staged.release(texts)
    _claim(opened, dataset, request, len(staged.choices), room)
    return produce


def _claim(opened: Opened, dataset: str, request: str, number: int, room: int) -> None:
    """Note, durably, that something is about to be drawn: whoever finds the note alone never draws it again."""
    with opened.store.transaction() as transaction:
        transaction.set_aside(room)
        claimed = transaction.run(
            "INSERT INTO choices (dataset, request, number, chosen) VALUES (?, ?, ?, NULL) "
            "ON CONFLICT DO NOTHING RETURNING number",
            (dataset, request, number),
        )
        if not claimed:
            raise RequestConflict(f"request {request!r} is under way elsewhere")
    opened.reached("draw claimed")


def _keep(opened: Opened, dataset: str, request: str, number: int, text: str) -> None:
    with opened.store.transaction() as transaction:
        kept = transaction.run(
            "UPDATE choices SET chosen = ? WHERE dataset = ? AND request = ? AND number = ? RETURNING number",
            (text, dataset, request, number),
        )
        if not kept:
            raise LedgerSetBack(f"the ledger was set back while {request!r} was under way: its debit is gone")
        opened.reached("choice written")
    opened.reached("choice committed")
