"""The least budget for a wanted rate of false alarms and power, and what to expect of it; nothing is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chronodp.alerts.design import AlertDesign, check_watched, design_alert
from chronodp.alerts.noise import Exponential, Laplace, Noise
from chronodp.alerts.probabilities import AlertProbabilities
from chronodp.errors import InvalidArgument
from chronodp.privacy import Shown, check_fraction, check_number, check_whole
from chronodp.privacy.units import RecordUnit
from chronodp.report import Line, series_figure

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

__all__ = ["AlertPlan", "plan_alert"]

_DIGITS = 4  # of the epsilon that is proposed
_POINTS = 81
_KINDS = (Exponential(), Laplace())


@dataclass(frozen=True, slots=True, repr=False)
class AlertPlan(Shown):
    """An alert before it is opened, and what to expect of it.

    Attributes:
        design: the alert.
        quiet: what values are when nothing is wrong.
        loud: what they are when an alert should be told.
        steps: over how many steps false alarms are counted.
        within: in how many steps an alert should be told.
    """

    design: AlertDesign
    quiet: float
    loud: float
    steps: int
    within: int

    @property
    def epsilon(self) -> float:
        """What the alerts cost, without their values."""
        return self.design.epsilon

    @property
    def threshold(self) -> float:
        """What values are compared with."""
        return self.design.threshold

    @property
    def false_alarms(self) -> float:
        """The probability of any alert within ``steps`` quiet steps."""
        return self.design.probabilities.chance_within(self._gap(self.quiet), self.steps)

    @property
    def power(self) -> float:
        """The probability of an alert within ``within`` loud steps."""
        return self.design.probabilities.chance_within(self._gap(self.loud), self.within)

    @property
    def delay(self) -> float:
        """The expected number of loud steps until an alert; infinite where the threshold's noise is as wide."""
        return self.design.probabilities.delay(self._gap(self.loud))

    def table(self, values: Sequence[float]) -> pd.DataFrame:
        """Return, for each value, the chance of an alert in a step, within the steps looked at, and the delay."""
        import pandas as pd

        probabilities, rows = self.design.probabilities, []
        for value in values:
            gap = self._gap(check_number("values", value))
            rows.append(
                (
                    value,
                    probabilities.chance(gap),
                    probabilities.chance_within(gap, self.within),
                    probabilities.delay(gap),
                )
            )
        return pd.DataFrame(rows, columns=["value", "each_step", f"within_{self.within}", "delay"])

    def plot(self) -> go.Figure:
        """Return a figure of the chance of an alert against how far a value lies beyond the threshold."""
        reach = 1.5 * abs(self.loud - self.quiet)
        beyond = np.linspace(-reach, reach, _POINTS)
        probabilities = self.design.probabilities
        kinds: tuple[Noise, ...] = (self.design.noise, *(kind for kind in _KINDS if kind != self.design.noise))
        lines = [_curve(str(kind), replace(probabilities, noise=kind), beyond) for kind in kinds]
        figure = series_figure(lines, title="Power against the gap", value_name="chance of an alert in a step")
        figure.update_layout(xaxis_title_text="value beyond the threshold", xaxis_rangeslider_visible=False)
        return figure

    def __repr__(self) -> str:
        return f"AlertPlan({self.design}; {self.design.cost} for {self.design.unit})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        delay = self.delay
        waits = (
            f"{delay:.4g} steps on average"
            if math.isfinite(delay)
            else "no finite average: the noisy threshold may lie out of reach for ever"
        )
        return [
            ("Alert", str(self.design)),
            ("Protects", f"{self.design.unit}; each value moves by at most {self.design.change:g}"),
            (
                "Cost",
                f"{self.design.cost}: {self.design.split.threshold:.4g} for the threshold, "
                f"{self.design.split.alert:.4g} an alert",
            ),
            ("False alarms", f"{self.false_alarms:.3g} in {self.steps:,} quiet step(s) at {self.quiet:g}"),
            ("Power", f"{self.power:.3g} within {self.within:,} loud step(s) at {self.loud:g}"),
            ("Delay", waits),
        ]

    def _gap(self, value: float) -> float:
        return self.design.sign * (self.threshold - value)


def plan_alert(
    *,
    quiet: float,
    loud: float,
    threshold: float | None = None,
    change: float,
    unit: RecordUnit,
    max_alerts: int,
    false_alarms: float,
    power: float,
    steps: int = 1,
    within: int = 1,
    monotone: bool = False,
    value_epsilon: float = 0.0,
    noise: Noise | None = None,
) -> AlertPlan:
    """Return the alert with the least epsilon whose false alarms are rare and whose power is high enough.

    Chances depend on epsilon × gap alone. With t(q) the gap at epsilon 1 whose chance is q, the least epsilon is
    (t(false_alarms) - t(power)) / abs(loud - quiet) where the threshold is free, and the larger of
    t(false_alarms) / abs(threshold - quiet) and -t(power) / abs(loud - threshold) where it is given.

    Args:
        quiet: what values are when nothing is wrong.
        loud: what they are when an alert should be told; below ``quiet`` for alerts below a threshold.
        threshold: what values are compared with; placed where it serves best if not given, which may be beyond
            ``loud``: exponential noise lifts values more than the threshold.
        change: the most that one unit changes any value.
        unit: who is protected.
        max_alerts: how many alerts are paid for.
        false_alarms: the probability wanted, at most, of any alert within ``steps`` quiet steps.
        power: the probability wanted, at least, of an alert within ``within`` loud steps.
        steps: over how many steps false alarms are counted.
        within: in how many steps an alert should be told.
        monotone: see `Alert`.
        value_epsilon: the price of a noisy value with each alert, in addition.
        noise: `Exponential()` or `Laplace()`.

    >>> from chronodp.privacy import User
    >>> plan = plan_alert(quiet=100.0, loud=150.0, change=1.0, unit=User(), max_alerts=5, false_alarms=0.01, power=0.6)
    >>> plan.epsilon, round(plan.threshold, 1), round(plan.power, 2)
    (0.9953, 151.6, 0.6)
    """
    loud, quiet = check_number("loud", loud), check_number("quiet", quiet)
    shift = loud - quiet
    if not shift:
        raise InvalidArgument("loud", loud, "another number than quiet")
    check_watched(change, unit)
    check_whole("steps", steps)
    check_whole("within", within)
    if check_fraction("power", power) <= check_fraction("false_alarms", false_alarms):
        raise InvalidArgument("power", power, f"above the rate of false alarms, {false_alarms:g}")
    sign = 1 if shift > 0 else -1

    def designed(epsilon: float, level: float) -> AlertDesign:
        return design_alert(
            above=level if sign > 0 else None,
            below=level if sign < 0 else None,
            change=change,
            unit=unit,
            max_alerts=max_alerts,
            epsilon=epsilon,
            monotone=monotone,
            value_epsilon=value_epsilon,
            noise=noise,
        )

    probabilities = designed(1.0, 0.0).probabilities
    rare, often = probabilities.gap_for(false_alarms, steps), probabilities.gap_for(power, within)
    if threshold is None:
        if rare <= often:
            raise InvalidArgument("power", power, "higher, or false alarms rarer: any epsilon would do")
        if not math.isfinite(shift):
            raise InvalidArgument("loud", loud, "nearer to quiet: their difference is not a float")
        epsilon = _rounded_up((rare - often) / abs(shift))
        # Just where false alarms are rare enough: all that rounding gave goes to power.
        return AlertPlan(designed(epsilon, quiet + sign * rare / epsilon), quiet, loud, steps, within)
    level = check_number("threshold", threshold)
    if not 0 < (level - quiet) / shift < 1:
        raise InvalidArgument("threshold", threshold, f"between quiet ({quiet:g}) and loud ({loud:g})")
    needed = max(rare / abs(level - quiet), -often / abs(loud - level))
    if needed <= 0:
        raise InvalidArgument("power", power, "higher, or false alarms rarer: any epsilon would do")
    return AlertPlan(designed(_rounded_up(needed), level), quiet, loud, steps, within)


def _rounded_up(epsilon: float) -> float:
    """Return a few digits, not below; the hair more pays for what the grid rounds."""
    unit = 10.0 ** (math.floor(math.log10(epsilon)) + 1 - _DIGITS)
    return float(f"{math.ceil(epsilon * (1 + 1e-5) / unit) * unit:.{_DIGITS}g}")


def _curve(name: str, probabilities: AlertProbabilities, beyond: np.ndarray) -> Line:
    chances = [probabilities.chance(-gap) for gap in beyond.tolist()]
    nothing = [math.nan] * len(chances)
    return Line(name, beyond.tolist(), chances, nothing, nothing)
