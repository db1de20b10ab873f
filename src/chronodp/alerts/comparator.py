"""One-off checks against a threshold: both noises fresh, each check at its own price.

"The comparator" of ``docs/explanation/proofs/alerts.md``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from chronodp.alerts.design import check_threshold, check_watched
from chronodp.alerts.noise import Exponential, Noise, check_noise
from chronodp.alerts.probabilities import FreshProbabilities
from chronodp.alerts.scaling import LARGEST_SCALE, SMALLEST_SCALE, choose_step, to_quantum
from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger, check_ledger
from chronodp.privacy import (
    FARTHEST,
    Certificate,
    Certified,
    Claim,
    Grid,
    Guarantee,
    PureCost,
    at_least,
    check_epsilon,
    check_number,
    decimal_value,
    document,
    dump,
    settle,
)
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Comparator"]

_ARGUMENT = "docs/explanation/proofs/alerts.md"


@document("comparator")
@dataclass(frozen=True, kw_only=True)
class Comparator:
    """Tells once whether a value lies beyond a threshold; every check is paid for, whether it fires or not.

    A check fires if value + noise >= threshold + noise, both noises fresh and of scale change / epsilon.

    Guarantee: each check is epsilon-differentially private for the unit; n checks cost n epsilon. For a stream that is
    quiet most of the time an `Alert` costs less. The argument stands in ``docs/explanation/proofs/alerts.md``.

    Attributes:
        above: fire when the value is at or above this. Either this or ``below``.
        below: fire when the value is at or below this.
        change: the most that one unit changes the value.
        unit: who is protected.
        epsilon: of one check.
        noise: `Exponential()`, or the textbook's `Laplace()`.
        step: the grid on which value and noise lie, a power of two; chosen if not given.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("meters", unit=cdp.User(), epsilon=2.0)
    >>> full = Comparator(above=500.0, change=1.0, unit=cdp.User(), epsilon=0.5)
    >>> full.check(900.0, ledger=ledger, dataset="meters", request="today").value
    True
    >>> ledger.close_connection()
    """

    above: float | None = None
    below: float | None = None
    change: float
    unit: RecordUnit
    epsilon: float
    noise: Noise = field(default_factory=Exponential)
    step: float = 0.0

    def __post_init__(self) -> None:
        threshold = check_threshold(self.above, self.below)
        check_watched(self.change, self.unit)
        check_epsilon(self.epsilon)
        check_noise(self.noise)
        if check_number("step", self.step) == 0:
            wide = 1 / self.epsilon
            step = choose_step(threshold, float(self.change), self.epsilon, narrowest=wide, widest=wide)
            settle(self, step=step)
        Grid(self.step)
        if self.step > self.change:
            raise InvalidArgument("step", self.step, f"no coarser than the change, {float(self.change):g}")
        if abs(self._threshold_steps) >= FARTHEST:
            raise InvalidArgument("threshold", threshold, f"within 2^52 steps of {self.step:g} from zero")
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            allowed = f"such that noise is from 2^-30 to 2^30 steps of {self.step:g}"
            raise InvalidArgument("epsilon", self.epsilon, allowed)

    @cached_property
    def scale(self) -> Fraction:
        """Both noises, in steps of the grid: ⌈change / step⌉ / epsilon."""
        return Grid(self.step).reach(float(self.change)) / decimal_value(self.epsilon)

    @property
    def cost(self) -> PureCost:
        """What one check costs."""
        return PureCost(self.epsilon)

    @property
    def probabilities(self) -> FreshProbabilities:
        """What to expect of it: false alarms, power and delay."""
        wide = float(self.scale) * self.step
        return FreshProbabilities(self.noise, wide, wide)

    def fires(self, value: float, entropy: Entropy) -> bool:
        """Return one check that nothing is paid for: for plans, and for the auditor."""
        query, threshold = self.noise.draw(at_least(self.scale), 2, entropy).tolist()
        return bool(self._sign * to_quantum(value, self.step) + query >= self._threshold_steps + threshold)

    def check(
        self,
        value: float,
        *,
        ledger: Ledger,
        dataset: str,
        request: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> Certified[bool]:
        """Pay, then tell whether the value lies beyond the threshold; the same request again repeats the answer."""
        check_ledger(ledger)
        bits = check_entropy(entropy)
        steps = to_quantum(value, self.step)
        certificate = self._certificate(seeded=bits.seeded)
        fulfilled = ledger.fulfil(
            dataset,
            request=request,
            cost=self.cost,
            unit=self.unit,
            plan=dump(self),
            source=ledger.keys.fingerprint(str(steps).encode(), of=("check", dataset, request)),
            produce=lambda: (json.dumps({"fired": self.fires(value, bits)}), certificate),
            analyst=analyst,
        )
        return Certified(bool(json.loads(fulfilled.release)["fired"]), fulfilled.signed.link.certificate)

    def _certificate(self, *, seeded: bool) -> Certificate:
        side = "above" if self.below is None else "below"
        return Certificate(
            mechanism=f"one check {side} {check_threshold(self.above, self.below):g}, {self.noise}",
            claim=Claim(self.unit, self.cost, _ARGUMENT),
            guarantee=Guarantee(self.unit, self.epsilon),
            theorem="a comparison of noisy numbers (pure)",
            precision=f"whole numbers on a grid of {self.step:g}; the noise has exactly the stated law",
            seeded=seeded,
        )

    @property
    def _sign(self) -> int:
        return 1 if self.below is None else -1

    @property
    def _threshold_steps(self) -> int:
        return self._sign * to_quantum(check_threshold(self.above, self.below), self.step)
