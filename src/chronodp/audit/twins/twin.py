"""A broken twin: a sound mechanism, the same with one mistake, and the claim that only the first may make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chronodp.privacy import Claim

__all__ = ["Twin"]


@dataclass(frozen=True, slots=True)
class Twin:
    """A mistake to be caught.

    Attributes:
        name: what is wrong.
        claim: what is claimed, truly of ``sound`` and falsely of ``broken``.
        epsilon: the epsilon that follows from the claim at ``delta``.
        delta: where the claim is read.
        sound: the mechanism without the mistake.
        broken: the mechanism with it.
        neighbours: inputs on which the difference shows.
    """

    name: str
    claim: Claim
    epsilon: float
    delta: float
    sound: Callable[..., object]
    broken: Callable[..., object]
    neighbours: tuple[tuple[Any, Any], ...]
