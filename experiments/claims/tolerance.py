"""How far a value may lie from what a source states, by what its way of saying it allows."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Tolerance", "about_ratio", "about_share", "printed"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An absolute and a relative part; ``tight`` is how near a bound must come to be called attained."""

    absolute: float = 0.0
    relative: float = 0.0
    tight: float = 1e-6

    def __str__(self) -> str:
        """Return what follows a stated number in a table."""
        parts = [f"{self.absolute:.3g}"] if self.absolute else []
        if self.relative:  # a share that can be seen is told as one: "3 ± 0.1 of it" reads like 2.9 to 3.1
            parts += [f"{100 * self.relative:.3g} %" if self.relative >= 1e-3 else f"{self.relative:.3g} of it"]
        return f" ± {' + '.join(parts)}" if parts else ""


def printed(*numbers: str) -> Tolerance:
    """Return half a unit of the last digit of a number as the source prints it; of several, the coarsest."""
    exponents = [int(Decimal(number.replace(",", "")).as_tuple().exponent) for number in numbers]
    return Tolerance(absolute=max(0.5 * 10.0**exponent for exponent in exponents))


def about_share(share: float) -> Tolerance:
    """Return what "about" allows of a share: five points, or 40 % of the distance to nothing or to all."""
    return Tolerance(absolute=min(0.05, 0.4 * min(share, 1 - share)))


def about_ratio() -> Tolerance:
    """Return what "about" allows of a ratio: a tenth of it."""
    return Tolerance(relative=0.1)
