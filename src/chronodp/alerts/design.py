"""An alert as it is designed: everything public about it, fixed before the first value comes.

K, s₀ and s₁ of "What is told" in ``docs/explanation/proofs/alerts.md``; scales are rational, and rounded up where noise
is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from chronodp.alerts.noise import Exponential, Noise, check_noise
from chronodp.alerts.probabilities import AlertProbabilities
from chronodp.alerts.scaling import LARGEST_SCALE, SMALLEST_SCALE, choose_step, to_quantum
from chronodp.alerts.split import Split, best_split, float_above
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    FARTHEST,
    Grid,
    PureCost,
    check_epsilon,
    check_flag,
    check_number,
    check_positive,
    check_whole,
    decimal_value,
    document,
)
from chronodp.privacy.units import RecordUnit, check_record_unit

__all__ = ["MOST_ALERTS", "AlertDesign", "check_threshold", "check_watched", "design_alert"]

MOST_ALERTS = 2**20


@document("alert")
@dataclass(frozen=True, kw_only=True)
class AlertDesign:
    """What an alert watches for, whom it protects, and the grid it works on.

    Attributes:
        above: it fires when a value is at or above this, as far as noise lets see; or None.
        below: it fires when a value is at or below this; or None.
        change: the most that one unit changes any value.
        unit: who is protected.
        max_alerts: after so many it halts for good.
        epsilon: what all alerts together cost, without their values.
        split: how that is shared between threshold and alerts.
        monotone: whether one unit moves all values in one direction.
        value_epsilon: what the noisy value told with each alert costs; 0 if none is told.
        noise: on threshold and values.
        step: the grid on which values and noise lie, a power of two.
    """

    above: float | None = None
    below: float | None = None
    change: float
    unit: RecordUnit
    max_alerts: int
    epsilon: float
    split: Split
    monotone: bool = False
    value_epsilon: float = 0.0
    noise: Noise = field(default_factory=Exponential)
    step: float

    def __post_init__(self) -> None:
        check_threshold(self.above, self.below)
        check_watched(self.change, self.unit)
        _check(self.unit, self.max_alerts, self.monotone, self.value_epsilon)
        check_epsilon(self.epsilon)
        check_noise(self.noise)
        if not isinstance(self.split, Split):
            raise InvalidArgument("split", self.split, "a Split")
        Grid(self.step)
        if self.step > self.change:
            raise InvalidArgument("step", self.step, f"no coarser than the change, {float(self.change):g}")
        if abs(self.threshold_steps) >= FARTHEST:
            raise InvalidArgument("threshold", self.threshold, f"within 2^52 steps of {self.step:g} from zero")
        if self.split.exact(self.max_alerts) > decimal_value(self.epsilon):
            raise InvalidArgument("epsilon", self.epsilon, f"at least {self.split.total(self.max_alerts)}, its parts")
        for scale in self._scales:
            if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
                allowed = f"such that noise is from 2^-30 to 2^30 steps of {self.step:g}"
                raise InvalidArgument("epsilon", self.epsilon, allowed)

    @property
    def threshold(self) -> float:
        """What values are compared with."""
        return check_threshold(self.above, self.below)

    @cached_property
    def sign(self) -> int:
        """1 above a threshold; -1 below one, where values and threshold are negated first."""
        return 1 if self.below is None else -1

    @cached_property
    def threshold_steps(self) -> int:
        """The threshold in steps of the grid, negated for `below`."""
        return self.sign * to_quantum(self.threshold, self.step)

    @cached_property
    def reach(self) -> int:
        """The most that one unit changes one value, in steps: ⌈change / step⌉."""
        return Grid(self.step).reach(self.change)

    @cached_property
    def threshold_scale(self) -> Fraction:
        """The noise on the threshold, in steps: reach / ε₀."""
        return self.reach / decimal_value(self.split.threshold)

    @cached_property
    def query_scale(self) -> Fraction:
        """The noise on each value, in steps: 2 reach / ε₁; for monotone values reach / ε₁."""
        # 2K: the threshold is compared at n + K, and a value may fall by K besides. In one direction K ("Monotone
        # values").
        return (1 if self.monotone else 2) * self.reach / decimal_value(self.split.alert)

    @cached_property
    def value_scale(self) -> Fraction:
        """The Laplace noise on a value that is told, in steps: reach / value_epsilon."""
        if not self.value_epsilon:
            raise InvalidArgument("value_epsilon", self.value_epsilon, "above 0: this alert tells no values")
        return self.reach / decimal_value(self.value_epsilon)

    @property
    def cost(self) -> PureCost:
        """What the whole run costs: ε₀ + c ε₁, and c times the price of a value if values are told."""
        return PureCost(float_above(decimal_value(self.epsilon) + self.max_alerts * decimal_value(self.value_epsilon)))

    @property
    def probabilities(self) -> AlertProbabilities:
        """What to expect of it: false alarms, power and delay."""
        return AlertProbabilities(
            self.noise, float(self.query_scale) * self.step, float(self.threshold_scale) * self.step
        )

    @property
    def _scales(self) -> list[Fraction]:
        return [self.threshold_scale, self.query_scale, *([self.value_scale] if self.value_epsilon else [])]

    def __str__(self) -> str:
        side = "above" if self.below is None else "below"
        times = "one alert" if self.max_alerts == 1 else f"at most {self.max_alerts} alerts"
        told = f", each with a noisy value at ε = {self.value_epsilon:g}" if self.value_epsilon else ""
        return f"{times} {side} {self.threshold:g}, {self.noise}{told}"


def design_alert(
    *,
    above: float | None = None,
    below: float | None = None,
    change: float,
    unit: RecordUnit,
    max_alerts: int,
    epsilon: float | Split,
    monotone: bool = False,
    value_epsilon: float = 0.0,
    noise: Noise | None = None,
) -> AlertDesign:
    """Return the design with the best split, or the given one, on a grid that is fine for people and noise alike.

    >>> from chronodp.privacy import User
    >>> design = design_alert(above=500.0, change=1.0, unit=User(), max_alerts=5, epsilon=1.0)
    >>> print(design)
    at most 5 alerts above 500, exponential noise
    >>> round(design.probabilities.chance(gap=51.34), 4), round(design.probabilities.chance(gap=51.34 - 50), 2)
    (0.01, 0.61)
    """
    threshold = check_threshold(above, below)
    check_watched(change, unit)
    kind = Exponential() if noise is None else check_noise(noise)
    total = epsilon if isinstance(epsilon, Split) else check_epsilon(epsilon)
    _check(unit, max_alerts, monotone, value_epsilon)
    split = total if isinstance(total, Split) else best_split(total, max_alerts=max_alerts, monotone=monotone)
    scales = [1 / split.threshold, (1 if monotone else 2) / split.alert]
    scales += [1 / value_epsilon] if value_epsilon else []
    paid = split.total(max_alerts) if isinstance(total, Split) else total
    return AlertDesign(
        above=None if above is None else float(above),
        below=None if below is None else float(below),
        change=float(change),
        unit=unit,
        max_alerts=int(max_alerts),
        epsilon=paid,
        split=split,
        monotone=monotone,
        value_epsilon=float(value_epsilon),
        noise=kind,
        step=choose_step(threshold, float(change), paid, narrowest=min(scales), widest=max(scales)),
    )


def check_threshold(above: object, below: object) -> float:
    """Return the one threshold that is given."""
    if (above is None) == (below is None):
        given = "neither" if above is None else "both"
        raise InvalidArgument("threshold", given, "given as above or as below, one of the two")
    return check_number("above", above) if below is None else check_number("below", below)


def check_watched(change: object, unit: object) -> None:
    """Refuse a change that is none, and a unit that no watched value speaks of."""
    check_positive("change", change)
    check_record_unit("unit", unit)


def _check(unit: RecordUnit, max_alerts: object, monotone: object, value_epsilon: object) -> None:
    check_whole("max_alerts", max_alerts, most=MOST_ALERTS)
    check_flag("monotone", monotone)
    if monotone and unit.relation != "add_remove":
        allowed = "False for a unit with relation 'replace': what is replaced raises some values and lowers others"
        raise InvalidArgument("monotone", monotone, allowed)
    if check_number("value_epsilon", value_epsilon) != 0:
        check_epsilon(value_epsilon, "value_epsilon")
