"""What a ledger knows of a dataset's releases: all that a dossier is made of, read and never changed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from chronodp.dossier.loss import Loss, loss_of
from chronodp.dossier.owner import Owner
from chronodp.dossier.published import Published
from chronodp.dossier.streams import PublishedStream, read_streams
from chronodp.errors import InvalidArgument
from chronodp.ledger import Entry, Ledger, Link, SignedLink, Spending, Status, check_ledger, place_after
from chronodp.privacy import Certificate, check_kind

__all__ = ["Facts", "gather"]

_AT_ONCE = 500  # charges that are read in one look


@dataclass(frozen=True, eq=False)
class Facts:
    """What a ledger knows of a dataset, or of one release of it.

    Attributes:
        dataset: whose budget paid.
        public_key: with which certificates are verified.
        head: digest of the newest link of the whole chain.
        made: when this was gathered, in UTC.
        version: of chronodp that gathered it.
        owner: what only the owner knows.
        published: the releases that the dossier holds.
        whole: whether these are all of the chain.
        chain: what `Ledger.export` returns.
        budgets: how the budget stands, and each part of it that an analyst has; of one that renews, every period.
        spending: the whole budget over time; of one that renews, of its newest period.
        charges: everything that was charged to the whole, oldest first.
        lost: what one unit has lost in all.
        streams: streams, alerts and series for ever that the same budget paid for.
        others: releases of the chain that the dossier does not hold.
        restored: what to know of a ledger that was restored from a backup; empty if it never was.
        ledger: from which it was read; its key signs statements where it is at hand.
    """

    dataset: str
    public_key: str
    head: str
    made: dt.datetime
    version: str
    owner: Owner
    published: tuple[Published, ...]
    whole: bool
    chain: dict[str, Any] = field(repr=False)
    budgets: tuple[Status, ...]
    spending: Spending
    charges: tuple[Entry, ...] = field(repr=False)
    lost: Loss
    streams: tuple[PublishedStream, ...]
    others: tuple[Link, ...]
    restored: str
    ledger: Ledger = field(repr=False)

    @property
    def status(self) -> Status:
        """The whole budget; of one that renews, its newest period."""
        return next(one for one in reversed(self.budgets) if not one.analyst)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Of the releases in the dossier."""
        return tuple(one.certificate for one in self.published)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What guarantees rest on beyond the mathematics, each once."""
        said = (str(one) for certificate in self.certificates for one in certificate.guarantee.assumptions)
        return tuple(dict.fromkeys(said))

    @property
    def protects(self) -> tuple[str, ...]:
        """Who is protected, in plain words, each once."""
        return tuple(dict.fromkeys(unit.protects for unit in self._units))

    @property
    def not_protects(self) -> tuple[str, ...]:
        """What stays open, in plain words, each once."""
        return tuple(dict.fromkeys(unit.does_not_protect for unit in self._units))

    @property
    def seeded(self) -> bool:
        """Whether any release was drawn with a seed, which voids its guarantee."""
        return any(certificate.seeded for certificate in self.certificates)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of restored ledgers, each once."""
        links = (one.link.restored for one in self.published)
        return tuple(dict.fromkeys(said for said in (self.restored, *links) if said))

    @property
    def _units(self) -> tuple[Any, ...]:
        return (*(certificate.guarantee.unit for certificate in self.certificates), self.status.budget.unit)


def gather(
    ledger: Ledger,
    dataset: str,
    *,
    request: str | None = None,
    owner: Owner | None = None,
    made: dt.datetime | None = None,
) -> Facts:
    """Return what the ledger knows. Nothing is spent, and nothing of the ledger is changed.

    Args:
        ledger: where it is kept.
        dataset: of which.
        request: of one release; all of them if not given.
        owner: what only the owner knows.
        made: when; now if not given.
    """
    said = Owner() if owner is None else check_kind("owner", owner, Owner, "an Owner, or left out")
    check_ledger(ledger)
    if request is not None:
        check_kind("request", request, str, "the name of a release, or left out")
    chain = ledger.export(dataset)
    links = [SignedLink(one["body"], one["signature"]) for one in chain["links"]]
    wanted = [number for number, one in enumerate(links, start=1) if request is None or one.link.request == request]
    if request is not None and not wanted:
        raise InvalidArgument(
            "request", request, f"one that was released of {dataset!r}; `chronodp budget history` lists them"
        )
    published = tuple(_read(ledger, dataset, number) for number in wanted)
    charges = _charges(ledger, dataset)
    budgets = _budgets(ledger, dataset, charges)
    paid = [one for one in budgets if not one.analyst or one.budget.collusion == "excluded"]
    return Facts(
        dataset=dataset,
        public_key=ledger.public_key,
        head=chain["head"],
        made=made or dt.datetime.now(dt.UTC).replace(microsecond=0),
        version=version("chronodp"),
        owner=said,
        published=published,
        whole=request is None,
        chain=chain,
        budgets=budgets,
        spending=ledger.spending(dataset),
        charges=tuple(entry for entry in charges if not entry.analyst),
        lost=loss_of(paid),
        streams=read_streams(ledger, dataset, charges),
        others=tuple(one.link for number, one in enumerate(links, start=1) if number not in set(wanted)),
        restored=ledger.restored,
        ledger=ledger,
    )


def _read(ledger: Ledger, dataset: str, number: int) -> Published:
    stored = ledger.stored.release(dataset, number)
    if stored is None:
        raise AssertionError("a link of the chain has its release")
    return Published(number, stored.signed, stored.text, stored.parts)


def _charges(ledger: Ledger, dataset: str) -> list[Entry]:
    """Return everything that was charged to a budget or a part of it, oldest first."""
    found: list[Entry] = []
    before = None
    while entries := ledger.history(dataset, limit=_AT_ONCE, before=before):
        found += entries
        before = place_after(entries, before)
    return found[::-1]


def _budgets(ledger: Ledger, dataset: str, charges: list[Entry]) -> tuple[Status, ...]:
    """Return how the whole and every part stand; of a budget that renews in every period with a charge."""
    found = []
    for name, analyst, budget in ledger.budgets():
        if name != dataset:
            continue
        periods = sorted({one.period for one in charges if one.analyst == analyst}) if budget.renews else []
        found += [ledger.status(dataset, analyst=analyst, period=period) for period in periods or [""]]
    return tuple(sorted(found, key=lambda one: one.analyst))
