"""What a collector keeps of reports: counts and sums for each slot. Tallies of many workers add up to one."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.reading import parse_arrays

__all__ = ["Dropped", "ReportCounts"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many reports were left out, and why.

    Attributes:
        malformed: of another version or length, or no report at all.
        other_plan: of another plan.
        slot: of a slot that is not collected.
        answer: an answer that the mechanism cannot give.
        duplicate: an id that came before.
    """

    malformed: int = 0
    other_plan: int = 0
    slot: int = 0
    answer: int = 0
    duplicate: int = 0

    def __add__(self, other: Dropped) -> Dropped:
        pairs = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        return Dropped(**pairs)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(asdict(self).values())


@dataclass(frozen=True, eq=False)
class ReportCounts:
    """Counts and sums for each slot: all that estimates need, and nothing of any one report.

    Attributes:
        plan: the plan's digest.
        first: the first slot that is collected.
        part: which part of the ids, out of how many, was counted here: parts never share a report.
        reports: how many reports each slot has.
        counted: the values that are counted; none where amounts are added up.
        sums: slots × values, how many reports name each; or slots × 2, sums of amounts and of their squared distances
            to the middle of the range.
        dropped: what was left out.
    """

    plan: str
    first: int
    part: tuple[tuple[int, ...], int]
    reports: NDArray[np.int64]
    counted: NDArray[np.int64]
    sums: NDArray[Any]
    dropped: Dropped

    def merge(self, other: Self) -> Self:
        """Return both together. They must be of one plan and of different parts of the ids."""
        same = (self.plan, self.first, self.part[1], self.sums.shape, self.sums.dtype)
        if same != (other.plan, other.first, other.part[1], other.sums.shape, other.sums.dtype):
            raise InvalidArgument("other", None, "a tally of the same plan, slots and number of parts")
        if not np.array_equal(self.counted, other.counted):
            raise InvalidArgument("other", None, "a tally of the same candidates, in the same order")
        shared = set(self.part[0]) & set(other.part[0])
        if shared:
            raise InvalidArgument("other", str(sorted(shared)), "of other parts: these would be counted twice")
        parts = tuple(sorted((*self.part[0], *other.part[0]))), self.part[1]
        return type(self)(
            self.plan,
            self.first,
            parts,
            self.reports + other.reports,
            self.counted,
            self.sums + other.sums,
            self.dropped + other.dropped,
        )

    def to_bytes(self) -> bytes:
        """Return the tally for storage, or for whoever merges."""
        held = io.BytesIO()
        dropped = np.array(list(asdict(self.dropped).values()), dtype=np.int64)
        np.savez_compressed(
            held,
            plan=np.array(self.plan),
            parts=np.array(self.part[0]),
            of=np.array(self.part[1]),
            first=np.array(self.first),
            reports=self.reports,
            counted=self.counted,
            sums=self.sums,
            dropped=dropped,
        )
        return held.getvalue()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Return a stored tally."""
        names = "plan", "parts", "of", "first", "dropped", "reports", "counted", "sums"
        try:
            plan, parts, of, first, dropped, reports, counted, sums = parse_arrays(stored, *names)
            part = tuple(int(one) for one in parts), int(of)
            return cls(str(plan), int(first), part, reports, counted, sums, Dropped(*map(int, dropped)))
        except (ValueError, TypeError, OverflowError) as error:
            raise UnknownDocument(f"not a stored tally ({type(error).__name__})") from None
