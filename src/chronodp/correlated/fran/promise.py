"""What aged answers promise: the certificate of a stream of them, and of a whole series."""

from __future__ import annotations

from chronodp.correlated.fran.design import FranDesign
from chronodp.correlated.fran.present import ARGUMENT, AboutThePresent
from chronodp.errors import InvalidArgument
from chronodp.privacy import Certificate, Claim, Guarantee

__all__ = ["certificate_of", "stated"]


def certificate_of(design: FranDesign, *, seeded: bool) -> Certificate:
    """Return what is promised for all releases together, and what the model says of the present beside it."""
    old = f"{design.ages[0]}" if len(design.ages) == 1 else f"{min(design.ages)} to {design.oldest}"
    return Certificate(
        mechanism=f"{design.query} of states {old} periods old; beside the guarantee, {stated(design)}",
        claim=Claim(design.unit, design.cost, ARGUMENT),
        guarantee=Guarantee(design.unit, design.epsilon),
        theorem="each record is read by one release (pure)",
        precision=f"whole numbers on a grid of {design.step:g}; scales of noise rounded up",
        seeded=seeded,
    )


def stated(design: FranDesign) -> AboutThePresent:
    """Return what is said beside the guarantee; a design without it was not made for a model."""
    if design.present is None:
        raise InvalidArgument("design", design, "what design_fran(...) returns")
    return design.present
