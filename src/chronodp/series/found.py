"""What a user says in place of a bound that nobody knows, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from chronodp.errors import InvalidArgument
from chronodp.privacy import LATER, check_fraction, check_number, document, settle

__all__ = ["Find", "Found"]

_LARGEST_SHARE = 0.5


@document("find")
@dataclass(frozen=True, slots=True)
class Find:
    """In place of a bound: find it, privately, with a part of the price. Several of one query are found together.

    Args:
        share: the part of the price that finds bounds; of several, the largest counts.
        between: public ends between which the largest size lies, where too few people are there to search widely. Of
            edges, the ends of sizes of values: no edge lies beyond.

    >>> Find(0.1, between=(1, 1000))
    Find(share=0.1, between=(1.0, 1000.0))
    """

    share: float = 0.05
    between: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not check_fraction("share", self.share) <= _LARGEST_SHARE:
            raise InvalidArgument("share", self.share, f"a part of the price above 0 and at most {_LARGEST_SHARE}")
        if self.between is not None:
            settle(self, between=_check_between(self.between))


@document("found")
@dataclass(frozen=True, slots=True)
class Found:
    """Bounds that were found. They may be published: finding them was paid for.

    Attributes:
        scale: about how much those at the upper end hold a period, on average over all; a power of √2. Of edges, about
            how large a value is.
        size: the largest size that counts in a cell: the clip, or at most so many rows; None where it was declared.
        max_periods: how many periods of a person count; None where that was declared, or is not asked.
        max_groups: in how many groups of a period a person counts; None where that was declared.
        norm: the largest l2 norm of a person's whole series, where that was found.
        edges: of a histogram's bins, where these were found.
    """

    scale: float
    size: float | None = None
    max_periods: int | None = None
    max_groups: int | None = None
    norm: float | None = field(default=None, metadata=LATER)
    edges: tuple[float, ...] | None = field(default=None, metadata=LATER)

    def sized(self, name: str) -> float | tuple[float, ...] | None:
        """Return what was found for the argument of a measure that hangs on sizes, by its name; None if it was not."""
        if name == "edges":
            return self.edges
        return self.norm if name == "bound" else self.size

    def __str__(self) -> str:
        parts = {
            "scale": self.scale,
            "size": self.size,
            "max_periods": self.max_periods,
            "max_groups": self.max_groups,
            "norm": self.norm,
        }
        said = [f"{name} {value:g}" for name, value in parts.items() if value is not None]
        if self.edges is not None:
            said.append(f"{len(self.edges) - 1} bins from {self.edges[0]:g} to {self.edges[-1]:g}")
        return ", ".join(said)


def _check_between(between: object) -> tuple[float, float]:
    allowed = "a pair (least, most) of positive numbers, the second at least as large"
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise InvalidArgument("between", between, allowed)
    low, high = (check_number("between", end, allowed) for end in between)
    if not 0 < low <= high:
        raise InvalidArgument("between", (low, high), allowed)
    return low, high
