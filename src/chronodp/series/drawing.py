"""What a design releases: exact numbers with fresh noise, as text, and the certificate that says so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.ledger import Written
from chronodp.privacy import Certificate, Guarantee
from chronodp.randomness import Entropy
from chronodp.series.describe import every_of
from chronodp.series.design import Design
from chronodp.series.place_noise import draw_places
from chronodp.series.release import release_text
from chronodp.series.shaping import draw_noise

__all__ = ["Quanta", "certificate_of", "draw_release"]

Quanta = NDArray[np.int64]


def draw_release(design: Design, numbers: tuple[Quanta, ...], entropy: Entropy) -> Written:
    """Return the release as it is stored, with fresh noise; whoever calls has debited the cost before."""
    table = design.table
    if design.measured is not None:
        leaves = draw_places(numbers[0], table, design.shape, design.noises, design.measured, entropy)
        return release_text(design, [leaves])
    kinds = len(design.noises)
    noisy = [
        part + draw_noise(design.shape, noise, table.horizon, table.places, entropy)
        for part, noise in zip(numbers[:kinds], design.noises, strict=True)
    ]
    figure = None if design.missing is None else design.missing.draw(numbers[kinds], entropy)
    return release_text(design, noisy, figure)


def certificate_of(design: Design, *, seeded: bool) -> Certificate:
    """Return what a release of a design is certified by."""
    names = {"laplace": "Laplace", "gaussian": "Gaussian"}
    kinds = design.noises[:1] if design.measured is not None else design.noises
    steps = " and ".join(f"{noise.step:g}" for noise in kinds)
    table = design.table
    read = "".join(f"; {part}" for part in (table.computed, table.reading) if part)
    return Certificate(
        mechanism=f"{table.released}{read}; {names[design.law]} noise, {design.shape}{_beside(design)}",
        claim=design.claim,
        guarantee=Guarantee(design.table.claimed, design.epsilon, design.delta),
        theorem=design.noises[0].theorem,
        precision=f"whole numbers on a grid of {steps}; the noise has exactly the stated law, and what "
        "rounding its shape adds is in the sensitivity",
        seeded=seeded,
    )


def _beside(design: Design) -> str:
    """Return the private steps beside the numbers, in words."""
    text = "" if design.measured is None else f"; {_places(design)}"
    if design.found is not None:
        how = "the exponential mechanism" if design.law == "gaussian" else "permute-and-flip"
        text += f"; bounds found by {how}: {design.found}"
    if design.split is not None and design.split.keys is not None:
        column = next(grouping.column for grouping in design.table.groupings if grouping.found)
        lone = f"that of one unit alone with probability at most {design.split.keys.delta:g}"
        text += f"; keys of {column} found by {design.split.finding}, {lone}"
    if design.missing is not None:
        text += f"; with a figure of what the limits removed, of cells up to {design.missing.top:g}"
    if design.life is not None:
        if design.life.asks is not None:
            text += f" of scale {' and '.join(f'{noise.scale:.6g}' for noise in design.noises)}"
        text += f"; {design.life.certified(every_of(design.table), design.table.unit.called or 'person')}"
    return text


def _places(design: Design) -> str:
    """Return how places are released, in words."""
    levels = design.table.levels
    if levels is None or design.measured is None:
        raise AssertionError("asked of places only")
    names = " and ".join(levels.names[level] for level in reversed(design.measured))
    return f"every place of {names} measured, and made to add up by least squares, rounded by less than a step"
