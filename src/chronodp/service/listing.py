"""What a caller may see of lists, decided before they are cut: whose releases, whose charges, whose claims.

Section 7 of ``docs/explanation/proofs/curator.md``, "Who may": releases that are not shared are listed to whoever asked
for them, and to owners and auditors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chronodp.ledger import ListedRelease, Place
from chronodp.service.curator import Caller, Curator
from chronodp.service.paging import Page
from chronodp.service.policy import Dataset

__all__ = ["Seen", "list_releases", "releases_on", "seen_by", "whose"]


@dataclass(frozen=True, slots=True)
class Seen:
    """Which releases a caller may see: all of some datasets, and in others those of one asker.

    Attributes:
        whole: datasets of which every release may be seen.
        own: datasets of which the caller's own may.
        by: what the caller's requests begin with.
    """

    whole: tuple[str, ...]
    own: tuple[str, ...]
    by: str


def seen_by(caller: Caller, datasets: Sequence[Dataset]) -> Seen:
    """Return which releases of some datasets, each of which the caller may know of, they may see."""
    everyone = caller.role != "analyst"
    whole = tuple(dataset.name for dataset in datasets if everyone or dataset.share)
    own = () if everyone else tuple(dataset.name for dataset in datasets if not dataset.share)
    return Seen(whole, own, caller.request(""))


def whose(who: str | None) -> str | None:
    """Return what the requests of someone begin with, by the name that lists show; None for everyone's."""
    if who is None:
        return None
    return "" if who == "owner" else f"{who}/"  # the owner at the ledger itself gives ids of any form


def list_releases(
    curator: Curator, caller: Caller, datasets: Sequence[Dataset], *, who: str | None, before: Place | None, limit: int
) -> list[ListedRelease]:
    """Return the newest releases of many datasets that a caller may see."""
    seen, by, stored = seen_by(caller, datasets), whose(who), curator.ledger.stored
    found = stored.listed_among(seen.whole, by=by, before=before, limit=limit)
    if by in (None, seen.by):
        found += stored.listed_among(seen.own, by=seen.by, before=before, limit=limit)
    return sorted(found, key=lambda one: one.place, reverse=True)[:limit]


def releases_on(
    page: Page, curator: Curator, caller: Caller, datasets: Sequence[Dataset], who: str | None
) -> Sequence[ListedRelease]:
    """Return a page of the releases that a caller may see."""
    place = page.place(int, str, int)
    found = list_releases(curator, caller, datasets, who=who, before=place, limit=page.looked_for)
    return page.cut(found, lambda one: one.place)
