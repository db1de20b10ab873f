"""What one release reveals about the present of a sequence, if the data follow the model."""

from __future__ import annotations

from dataclasses import dataclass, field

from chronodp.privacy import LATER, AssumedCost, Assumption, Claim, PureCost, Window, document

__all__ = ["ARGUMENT", "ONE_RECORD", "AboutThePresent"]

ARGUMENT = "docs/explanation/proofs/correlated.md"
ONE_RECORD = Window(1, relation="replace")


@document("about_the_present")
@dataclass(frozen=True, slots=True)
class AboutThePresent:
    """What one release reveals about the present of any sequence, if the data follow the model.

    The present is that of the period in which the release is made. About that of a later period the same release may
    tell more, if there are several sequences: ``later`` bounds that too.

    Attributes:
        model: the fingerprint of the model.
        knows_others: certified for an adversary who knows the present of all others; by what, in ``by_others``.
        knows_none: certified for one who knows nothing else; by what, in ``by_none``.
        all_releases: of all releases together, however many, for either; None if the model sets no limit.
        later: certified for either, about the present of that period or of any later one; None if it was not stated.
    """

    model: str
    knows_others: float
    by_others: str
    knows_none: float
    by_none: str
    all_releases: float | None
    later: float | None = field(default=None, metadata=LATER)

    @property
    def claim(self) -> Claim:
        """The statement as a claim: a cost under an assumption, which no ledger adds to one without."""
        statement = (
            f"the sequences follow the coupling Markov chain of fingerprint {self.model[:16]}, which is public or was "
            "paid for"
        )
        cost = PureCost(max(self.knows_others, self.knows_none))
        return Claim(ONE_RECORD, AssumedCost(cost, Assumption("coupling Markov chain", statement)), ARGUMENT)

    def __str__(self) -> str:
        return (
            f"if the sequences follow the model {self.model[:16]}, one release reveals at most {self.knows_others:.4g} "
            f"about a present when all others are known ({self.by_others}), {self.knows_none:.4g} when nothing else is "
            f"({self.by_none}); "
            + ("" if self.later is None else f"about the present of that period or any later one {self.later:.4g}; ")
            + "all releases together tell "
            + ("no more than group privacy allows" if self.all_releases is None else f"at most {self.all_releases:.4g}")
        )
