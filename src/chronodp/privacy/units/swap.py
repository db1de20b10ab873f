"""The order of two values inside one block of one person's series.

The unit of ``docs/explanation/proofs/temporal.md``; *Borders* and *Several releases* there say what a block must be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chronodp.privacy.documents import document
from chronodp.privacy.parameters import check_whole
from chronodp.privacy.units.base import Facts, Relation, StretchUnit, Unit

__all__ = ["Swap"]


@document("swap")
@dataclass(frozen=True, slots=True)
class Swap(Unit):
    """The order of two values inside one block of one person's series.

    >>> print(Swap(16))
    which of two values came first inside a block of 16 periods
    """

    block: int
    relation: ClassVar[Relation] = "replace"
    fields_in_text = ("block",)

    def __post_init__(self) -> None:
        check_whole("block", self.block, least=2)

    @property
    def protects(self) -> str:
        """What is protected."""
        return "when, within its block of time, a person's value occurred"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        return "which values occurred, how often, and in which block"

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return one for smaller blocks that fill these."""
        del facts
        return 1 if isinstance(wanted, Swap) and self.block % wanted.block == 0 else None

    def stretches_over(self, held: StretchUnit, facts: Facts) -> int | None:
        """Return one stretch or two that hold a block, whose periods have a length that is not stated."""
        del facts
        if held.grid_periods is None or held != held.unsaid():
            return None
        return 1 if self.block <= held.grid_periods else 2

    def __str__(self) -> str:
        return f"which of two values came first inside a block of {self.block} periods"
