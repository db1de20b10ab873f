"""What a stream of keys tells after a step."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.series.recursion import Floats

__all__ = ["KeyAnswer"]


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """What is told after a step. All of it is public.

    Attributes:
        period: the number of the step, from 0.
        look: the number of the look, from 0; None if keys are not looked at after this step.
        found: keys that are told for the first time, sorted.
        values: of every key told so far, how many people have met it by this look.
        past: of keys told for the first time, the same by every look from the first to this one.
        half: half the width of the interval of each value, by look from the first to this one.
    """

    period: int
    look: int | None
    found: tuple[str, ...]
    values: dict[str, float]
    past: dict[str, Floats]
    half: Floats
