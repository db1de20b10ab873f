"""What bounding takes away, for the owner's eyes only."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.engines import Tally

__all__ = ["Diagnosis"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How many rows and people the limits cut, and by how much. Not private: publishing it would be a release."""

    tally: Tally

    def __str__(self) -> str:
        tally = self.tally
        return "\n".join(
            [
                "FOR THE OWNER ONLY: these figures come straight from the data and are not private.",
                f"Rows         {tally.rows:,}; {tally.unusable:,} without a person, time or number; "
                f"{tally.elsewhere:,} outside the periods, groups or bins",
                f"People       {tally.people:,}; {_share(tally.people_over, tally.people)} over the limits",
                f"Clipping     takes {_share(tally.before - tally.clipped, tally.before)} of the sum",
                f"Left out     {tally.cells - tally.cells_kept:,} of {tally.cells:,} pairs of a person and a cell, "
                f"{_share(tally.clipped - tally.kept, tally.clipped)} of the clipped sum",
            ]
        )


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "none"
