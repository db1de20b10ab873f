"""A mutant of drawn quantiles: utilities taken to move by half a person, which is right at the median alone."""

from __future__ import annotations

from chronodp.audit.cases.quantiles import DrawnEdges
from chronodp.audit.mutants.mutant import Mutant
from chronodp.audit.walked import Known

__all__ = ["MUTANTS"]

_SOUND, _BROKEN = DrawnEdges((0.9,), epsilon=1.0), DrawnEdges((0.9,), epsilon=1.0, halved=True)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="the ninth decile drawn as if it were the median",
        claim=_SOUND.claim,
        epsilon=1.0,
        sound=_SOUND,
        broken=_BROKEN,
        neighbours=(((9, 0), (9, 1)), ((10, 0), (10, 1))),
        checks=(Known(),),
    ),
)
