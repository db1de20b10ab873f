"""One release of a chain as it was stored: its link, its text, and its numbers as a table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chronodp.ledger import Link, SignedLink, Written
from chronodp.privacy import Certificate, text_kind

if TYPE_CHECKING:
    import pandas

__all__ = ["Published"]

_TABLES = ("release", "quantiles", "together", "spectrum", "blurred_times", "aged_series")
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
        """Of the text, such as release, quantiles, together, spectrum, choice; empty if it says none."""
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
        from chronodp.correlated import AgedSeries
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
            case "aged_series":
                return AgedSeries(self.text, self.signed)
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
        elif self.kind in ("quantiles", "together", "spectrum", "aged_series"):
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
        """The columns that are drawn: the time or period first, then groups, then value, lower and upper."""
        names = () if self.table is None else tuple(map(str, self.table.columns))
        values = next((some for some in (_VALUES, _POWERS) if set(some) <= set(names)), None)
        if values is None:
            return ()
        first = next((name for name in ("time", "period", "harmonic") if name in names), names[0])
        about = {"periods", "real", "imaginary", "deviation"} if values is _POWERS else set()
        rest = [name for name in names[: names.index(values[0])] if name != first and name not in about]
        return (first, *rest, *values)
