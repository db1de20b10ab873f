"""Mutants of bounds that are found: losses without the cap that is charged for, and votes of rows for edges."""

from __future__ import annotations

from chronodp.audit.walked import Known
from tests.audit.cases.finding import Choices, Edges
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_SOUND, _BROKEN = Choices(epsilon=4.0), Choices(epsilon=4.0, cap=2**40)
_EDGES, _BY_ROWS = Edges(epsilon=4.0), Edges(epsilon=4.0, by_rows=True)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="bounds found by losses without their cap",
        claim=_SOUND.claim,
        epsilon=sum(_SOUND.design.split.choices),
        sound=_SOUND,
        broken=_BROKEN,
        neighbours=((0, 1),),
        checks=(Known(),),
    ),
    Mutant(
        name="edges found by votes of rows, charged for a person's one",
        claim=_EDGES.claim,
        epsilon=_EDGES.design.split.choices[0],
        sound=_EDGES,
        broken=_BY_ROWS,
        neighbours=((0, 1),),
        checks=(Known(),),
    ),
)
