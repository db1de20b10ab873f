"""A lifetime series as an owner's policy has it: what is bought once, and who may ask for its issues.

Section 8 of ``docs/explanation/proofs/curator.md``, "Issues of a lifetime series": an issue costs no budget and takes
shares of everyone's life who is in it, so who may ask for one, and how often, is the owner's decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chronodp.series import Pays

__all__ = ["MOST_A_MONTH", "LifetimeTerms"]

MOST_A_MONTH = 31
"""How many issues analysts may ask for in a calendar month unless the policy says otherwise: one a day."""


@dataclass(frozen=True, slots=True)
class LifetimeTerms:
    """What an owner decided about one lifetime series.

    Attributes:
        name: of the series.
        tally: the folder with what each person has used; never shown.
        measure: what is asked, by its kind and arguments, as `ask_question` reads it.
        groups: columns that split it, with their public keys.
        max_groups: in how many groups of a period one person counts.
        every: how long its periods are.
        epsilon: of all issues together, for ever.
        delta: of all issues together, for ever.
        max_periods: how many periods of one person count, ever.
        pays: 'own', 'share', or None for the library's own choice.
        widest: the widest clip that an issue may ask; None for that of the series.
        analysts: who may ask for issues beside the owner.
        times: how many issues may hold the same period; each takes shares anew.
        most_a_month: how many issues all analysts together may ask for in a calendar month.
    """

    name: str
    tally: str = field(repr=False)
    measure: Mapping[str, Any]
    groups: Mapping[str, tuple[str, ...]]
    max_groups: int | None
    every: str
    epsilon: float
    delta: float
    max_periods: int
    pays: Pays | None = None
    widest: tuple[float, float] | None = None
    analysts: tuple[str, ...] = ()
    times: int = 1
    most_a_month: int = MOST_A_MONTH
