"""How much an audit may take, and how sure it must be."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, check_positive, check_whole

__all__ = ["Allowance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Bounds of one attack.

    Attributes:
        samples: most outputs drawn of each of two neighbours.
        seconds: about how long sampling may take; None for as long as the samples take.
        runs: most paths that the exact auditor walks.
        error: the probability that a true claim is called refuted, or a lower bound lies above the truth.

    >>> Allowance(seconds=5.0).error
    1e-06
    """

    samples: int = 200_000
    seconds: float | None = None
    runs: int = 200_000
    error: float = 1e-6

    def __post_init__(self) -> None:
        check_whole("samples", self.samples, least=100)
        check_whole("runs", self.runs)
        check_fraction("error", self.error)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)
        if self.error > 0.5:
            raise InvalidArgument("error", self.error, "at most one half")
