"""What the paper's mechanisms promise, said plainly: a marginal dispatch budget, and what an observer can rule out."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.privacy import AssumedCost, Assumption, PureCost, document, labelled

__all__ = ["UNPROTECTED", "DispatchStatement"]

_ARGUMENT = "docs/explanation/proofs/temporal.md"

UNPROTECTED = AssumedCost(
    PureCost(1e-60),
    Assumption(
        "times are not protected",
        "which values came first may be learnt from what is released; the owner decided that this needs no protection",
    ),
)
"""What a ledger records for a mechanism that keeps no guarantee: nothing but that its owner accepted that."""


@document("dispatch_statement")
@dataclass(frozen=True, slots=True)
class DispatchStatement:
    """The statement that travels with a release of Backward, Forward or Threshold in place of a certificate.

    Attributes:
        mechanism: what ran, in words.
        budget: of the one thing that holds: a value is sent to one time of its window at most e^(budget / 2) times as
            likely as to another; None if not even that holds of every step.
        window: periods of that window.
        ruled_out: for a swap of two values at each distance, how often, at least, what is released shows in which
            order they came.
        seeded: whether the randomness was repeatable.
    """

    mechanism: str
    budget: float | None
    window: int
    ruled_out: tuple[tuple[int, float], ...]
    seeded: bool = False

    @property
    def promise(self) -> str:
        """What holds of every step, in words."""
        if self.budget is None:
            return (
                "none: the first steps follow another law than the steady state, and no marginal dispatch budget holds "
                "of them"
            )
        return (
            f"marginal dispatch budget {self.budget:g} over a window of {self.window}: a value is sent to one time "
            f"of its window at most e^{self.budget / 2:g} times as likely as to another"
        )

    def __str__(self) -> str:
        rows = [
            ("Promise", self.promise),
            ("Not", "differential privacy of any unit: no value is released before its time, and that tells"),
            ("Mechanism", self.mechanism),
            (
                "Rules out",
                "for two values so many periods apart, how often (at least) the release proves their order: "
                + ", ".join(f"{distance}: {chance:.3f}" for distance, chance in self.ruled_out),
            ),
            ("Argument", _ARGUMENT),
        ]
        seeded = "SEEDED RUN, FOR TESTS ONLY: whoever knows the seed knows every time.\n" if self.seeded else ""
        return seeded + labelled(rows)
