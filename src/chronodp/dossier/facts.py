"""What a ledger knows of a dataset's releases: all that a dossier is made of, read and never changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from chronodp.dossier.loss import Loss, loss_of
from chronodp.dossier.owner import Owner
from chronodp.dossier.streams import PublishedStream, read_streams
from chronodp.errors import InvalidArgument
from chronodp.ledger import Entry, Ledger, Link, SignedLink, Spending, Status, Written, check_ledger, place_after
from chronodp.privacy import Certificate, text_kind

if TYPE_CHECKING:
    import pandas

__all__ = ["Facts", "Published", "gather"]

_AT_ONCE = 500  # charges that are read in one look
_TABLES = ("release", "quantiles", "together", "spectrum", "blurred_times")
_VALUES = ("value", "lower", "upper")
_POWERS = ("power", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Published:
    """One release of the chain, with all that was stored of it.

    Attributes:
        number: in the dataset's chain, from 1.
        signed: its link as it was signed.
        text: the canonical text whose digest the link holds.
        parts: numbers too many for the text, packed.
    """

    number: int
    signed: SignedLink
    text: str = field(repr=False)
    parts: tuple[bytes, ...] = field(default=(), repr=False)

    @cached_property
    def link(self) -> Link:
        """The link itself: dataset, request, when it was issued, the certificate."""
        return self.signed.link

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.link.certificate

    @property
    def written(self) -> Written:
        """The text with the numbers beside it."""
        return Written(self.text, self.parts)

    @property
    def issued(self) -> dt.datetime:
        """When it was released, in UTC."""
        return dt.datetime.fromtimestamp(self.link.issued / 1e6, dt.UTC)

    @property
    def kind(self) -> str:
        """Of the text: release, quantiles, together, spectrum, choice, blurred_times; empty if it says none."""
        return text_kind(self.text)

    @property
    def stem(self) -> str:
        """What its files are called, without their endings."""
        return f"{self.number:04d}"

    @property
    def file(self) -> str:
        """Where a dossier holds it, with its certificate."""
        return f"releases/{self.stem}.{'arrow' if self.parts else 'json'}"

    @cached_property
    def release(self) -> Any:
        """The release as the library reads it; None where a text is of a kind that has no reader of its own."""
        from chronodp.dataset import ReleaseTogether
        from chronodp.selection import Choice
        from chronodp.series import open_release
        from chronodp.spectrum import SpectrumRelease

        match self.kind:
            case "release" | "quantiles":
                return open_release(self.text, self.signed, parts=self.parts)
            case "together":
                return ReleaseTogether(self.text, self.signed, parts=self.parts)
            case "spectrum":
                return SpectrumRelease(self.text, self.signed)
            case "choice":
                return Choice(self.text, self.signed)
        return None

    def tables(self) -> Iterator[pandas.DataFrame]:
        """Yield the released numbers with 95 % intervals, as ``to_pandas`` has them, in pieces; nothing without any."""
        return self._pieces() if self.parts else iter(self._few)

    @cached_property
    def _few(self) -> list[pandas.DataFrame]:
        """The pieces of a table that memory holds with ease."""
        return list(self._pieces())

    def _pieces(self) -> Iterator[pandas.DataFrame]:
        if self.kind == "blurred_times":
            from chronodp.temporal import read_blurred

            yield read_blurred(self.text)
        elif self.kind == "release":
            for stretch in self.release.each_period().stretches():
                yield stretch.to_pandas()
        elif self.kind in ("quantiles", "together", "spectrum"):
            yield self.release.to_pandas()

    @cached_property
    def table(self) -> pandas.DataFrame | None:
        """The released numbers with 95 % intervals in one table; None where there are none."""
        import pandas

        found = list(self.tables())
        if len(found) <= 1:
            return found[0] if found else None
        return pandas.concat(found, ignore_index=True)

    @property
    def has_numbers(self) -> bool:
        """Whether it is a table, of which a dossier holds a file of numbers."""
        return self.kind in _TABLES

    def first_rows(self, most: int) -> pandas.DataFrame | None:
        """Return the first rows of the table, without making the rest of a large one; None where there is none."""
        first = next(self.tables(), None)
        return None if first is None else first.head(most)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what `rows` yields: the time or period first, then groups, then value, lower and upper."""
        names = () if self.table is None else tuple(map(str, self.table.columns))
        values = next((some for some in (_VALUES, _POWERS) if set(some) <= set(names)), None)
        if values is None:
            return ()
        first = next((name for name in ("time", "period", "harmonic") if name in names), names[0])
        about = {"periods", "real", "imaginary", "deviation"} if values is _POWERS else set()
        rest = [name for name in names[: names.index(values[0])] if name != first and name not in about]
        return (first, *rest, *values)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield (period's start, group…, value, lower, upper) of every released number, in `columns`' order."""
        if self.table is not None and self.columns:
            yield from self.table[list(self.columns)].itertuples(index=False, name=None)


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
        """What to know of restored ledgers and of what older versions charged, each once."""
        links = (one.link.restored for one in self.published)
        return tuple(dict.fromkeys(said for said in (self.restored, *links, self.status.note) if said))

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
    check_ledger(ledger)
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
        owner=owner or Owner(),
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
