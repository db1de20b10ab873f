"""Alerts among queries that are planned together.

What *Laplace* and *Gaussian* under "Composition" of ``docs/explanation/proofs/sharing-a-budget.md`` say of alerts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from chronodp.alerts import Alert, AlertDesign, Exponential, Split, design_alert
from chronodp.dataset.joint.sharing import Following, Prepared, Shareable
from chronodp.engines import Progress
from chronodp.ledger import Dates, Opening
from chronodp.postprocess import Law
from chronodp.privacy import Cost, Unit, dump
from chronodp.randomness import Entropy

__all__ = ["AlertPart", "SharedAlert"]

# The tangent at 0 of 2 Φ⁻¹(e^ε / (1 + e^ε)), which is concave: it lies above, so an alert is paid for in full.
_WIDER = math.sqrt(math.pi / 2)  # a loss of at most epsilon is no easier to see than mu = √(π/2) epsilon


@dataclass(frozen=True, slots=True)
class SharedAlert:
    """An alert whose price is its share: what it was designed with only says how its parts relate."""

    design: AlertDesign

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.design.unit

    @property
    def numbers(self) -> int:
        """One: every comparison has the same noise, and quiet ones cost nothing."""
        return 1

    @property
    def scale(self) -> float:
        """The most that one unit adds to a value."""
        return self.design.change

    def at(self, law: Law, share: float) -> AlertPart | None:
        """Return it at a share, threshold, alerts and values in the proportion they had."""
        epsilon = share if law == "laplace" else share / _WIDER
        design = self.design
        by = epsilon / design.cost.epsilon * (1 - 1e-15)
        return AlertPart(
            design_alert(
                above=design.above,
                below=design.below,
                change=design.change,
                unit=design.unit,
                max_alerts=design.max_alerts,
                epsilon=Split(design.split.threshold * by, design.split.alert * by),
                monotone=design.monotone,
                value_epsilon=design.value_epsilon * by,
                noise=design.noise,
            )
        )

    def follows_from(self, other: Shareable) -> Following | None:  # noqa: ARG002  # of Shareable
        """Return None: which step fires first is told by no noisy series."""
        return None

    def __str__(self) -> str:
        return str(self.design)


@dataclass(frozen=True, slots=True)
class AlertPart:
    """An alert designed at its share."""

    design: AlertDesign

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return self.design.cost

    @property
    def rmse(self) -> float:
        """The deviation of a comparison: of a value's noise less the threshold's."""
        design = self.design
        spread = math.hypot(float(design.query_scale), float(design.threshold_scale)) * design.step
        return spread if isinstance(design.noise, Exponential) else math.sqrt(2) * spread

    @property
    def dates(self) -> Dates | None:
        """None: it watches values that are still to come."""
        return None

    @property
    def identity(self) -> str:
        """The design as text."""
        return dump(self.design)

    def prepare(self, *, key: str, progress: Progress) -> Prepared:  # noqa: ARG002  # of Part
        """Read nothing; what is told of it is its design."""
        return Prepared((), lambda _: dump(self.design))

    def openings(self, name: str, *, entropy: Entropy) -> tuple[Opening, ...]:
        """Return the alert, its threshold noisy."""
        return (Alert.opening(self.design, name, entropy=entropy),)
