"""The owner's look before paying: how a table is read and, if asked for, what the bounds take away."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chronodp.engines import BoundsReport, ColumnCheck, ReadingCheck
from chronodp.privacy import labelled

__all__ = ["Diagnosis"]

_ROLES = {"time": "Time", "user": "Person", "value": "Value", "by": "Group", "where": "Filter", "columns": "Derived"}
_OWNER = "FOR THE OWNER ONLY: these figures come straight from the data and are not private."
_BOUNDS = (
    "A bound that was chosen by looking at the figures below is not private: the choice itself tells about people. "
    "Choose bounds by what is publicly known."
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How a table is read, for the owner's eyes only: publishing it would be a release of its own.

    Attributes:
        reading: rows and cells that were read or left out, with reasons.
        tally: what the bounds take away; None unless it was asked for.
        timezone: on whose clocks times without an offset are read.
        called: what one of those protected is called, where that is no person.
    """

    reading: ReadingCheck
    tally: BoundsReport | None
    timezone: str
    called: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dictionaries, lists, texts and numbers."""
        return {"reading": asdict(self.reading), "bounds": None if self.tally is None else asdict(self.tally)}

    def __str__(self) -> str:
        read = self.reading
        rows = [("Rows", f"{read.rows:,}; {_part(read.used, read.rows)} count")]
        rows += [(_ROLES[one.argument], self._column(one)) for one in read.columns]
        left_out = {
            "by the filter": read.filtered,
            "incomplete": read.incomplete,
            "outside the periods": read.outside_time,
            "with keys that were not declared": read.outside_groups,
            "outside the bins": read.outside_bins,
        }
        said = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
        rows.append(("Left out", said or "no row"))
        rows += [("Lines", f"{count:,} left out: {reason}") for reason, count in read.broken.items()]
        rows += [
            ("Declare", f"{hint}: would read {count:,} more cells of {one.column!r}")
            for one in read.columns
            for hint, count in one.hints.items()
        ]
        parts = [_OWNER, labelled(rows)]
        if self.tally is not None:
            parts += [_BOUNDS, labelled(_bounds(self.tally, self.called))]
        return "\n".join(parts)

    def _column(self, one: ColumnCheck) -> str:
        text = f"{one.column!r} ({', '.join(one.types)}): {one.read:,} read"
        text += self._clocks() if one.argument == "time" else ""
        text += f", {one.missing:,} missing" if one.missing else ""
        return text + (f", {one.unreadable:,} that cannot be read" if one.unreadable else "")

    def _clocks(self) -> str:
        instants, walls = self.reading.instants, self.reading.wall_clocks
        if not walls:
            return ", with an offset" if instants else ""
        if not instants:
            return f", on the clocks of {self.timezone}"
        return f", of complete rows {instants:,} with an offset and {walls:,} on the clocks of {self.timezone}"


def _bounds(tally: BoundsReport, called: str | None) -> list[tuple[str, str]]:
    label, one = ("People", "a person") if called is None else (called.capitalize(), f"one {called}")
    taken = _part(tally.before - tally.clipped, tally.before)
    bounded = ("Weights", f"take {taken} of the rows") if tally.weighed else ("Clipping", f"takes {taken} of the sum")
    return [
        (label, f"{tally.people:,}; {_part(tally.people_over, tally.people)} over the limits"),
        bounded,
        (
            "Limits",
            f"leave out {tally.cells - tally.cells_kept:,} of {tally.cells:,} pairs of {one} and a cell, "
            f"{_part(tally.clipped - tally.kept, tally.clipped)} of the {'weight' if tally.weighed else 'clipped sum'}",
        ),
    ]


def _part(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "none"
