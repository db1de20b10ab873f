"""A mutant of bounds that are found: losses without the cap that is charged for."""

from __future__ import annotations

from chronodp.audit.cases.finding import Choices
from chronodp.audit.mutants.mutant import Mutant
from chronodp.audit.walked import Known

__all__ = ["MUTANTS"]

_SOUND, _BROKEN = Choices(epsilon=4.0), Choices(epsilon=4.0, cap=2**40)

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
)
