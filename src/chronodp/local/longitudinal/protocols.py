"""When a device reports, and what it keeps: a closed family of protocols over time.

"Over time" in ``docs/explanation/proofs/local.md``: which slots a device reports in, and why silence tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.local.probabilities import check_local_epsilon
from chronodp.privacy import check_whole, document, settle

__all__ = ["LONGEST", "Fresh", "Memoised", "Protocol", "Slots", "WindowAsked", "WindowBudget", "WindowPopulation"]

LONGEST = 2**20
"""Slots that a plan may span."""


@document("local_fresh")
@dataclass(frozen=True, slots=True)
class Fresh:
    """A fresh answer in every slot of a declared ``horizon``: everything adds up, whatever the values do."""

    horizon: int

    def __post_init__(self) -> None:
        settle(self, horizon=check_whole("horizon", self.horizon, most=LONGEST))

    def __str__(self) -> str:
        return f"a fresh answer in each of {self.horizon} slots"


@document("local_slots")
@dataclass(frozen=True, slots=True)
class Slots:
    """Fresh answers in a few ``reports`` slots out of ``horizon``, which each device draws for itself beforehand.

    When a device is silent reveals nothing. For trends of a whole fleet the best use of a budget: each answer may be
    louder, and other devices fill the slots between.
    """

    horizon: int
    reports: int = 1

    def __post_init__(self) -> None:
        settle(self, horizon=check_whole("horizon", self.horizon, most=LONGEST))
        settle(self, reports=check_whole("reports", self.reports, most=self.horizon))

    def __str__(self) -> str:
        return f"fresh answers in {self.reports} of {self.horizon} slots, drawn at random"


@document("local_memoised")
@dataclass(frozen=True, slots=True)
class Memoised:
    """An answer kept for life for each value, and around it a fresh answer in each slot.

    The kept answer has the odds e^``permanent_epsilon``; the mechanism's own epsilon is that of the first report. If
    both are equal, the kept answer itself is sent each time (one level). The fresh answer tells the truth about the
    kept one with p2 = (p - q1) / (p1 - q1), where p is the mechanism's chance of the truth and p1, q1 are those of the
    kept answer: so the first report has exactly the mechanism's law.

    What it does not do: histories that change at other times can be told apart, with one level at once. Kept answers
    also let whoever sees reports of one device recognise it.

    Attributes:
        permanent_epsilon: of the kept answer, at least the mechanism's epsilon.
        horizon: slots in all.
        max_values: so many distinct values get a kept answer of their own; later ones get one that reveals nothing.

    References:
        Erlingsson, Pihur, Korolova (2014), RAPPOR.
        Ding, Kulkarni, Yekhanin (2017), Collecting telemetry data privately.
        Arcolezi, Couchot, Al Bouna, Xiao (2022), Improving the utility of locally differentially private protocols for
        longitudinal and multidimensional frequency estimates.
    """

    permanent_epsilon: float
    horizon: int
    max_values: int | None = None

    def __post_init__(self) -> None:
        permanent = check_local_epsilon(self.permanent_epsilon, "permanent_epsilon")
        settle(self, permanent_epsilon=permanent, horizon=check_whole("horizon", self.horizon, most=LONGEST))
        if self.max_values is not None:
            settle(self, max_values=check_whole("max_values", self.max_values))

    def __str__(self) -> str:
        return f"an answer kept for each value, repeated over {self.horizon} slots"


@document("local_window_budget")
@dataclass(frozen=True, slots=True)
class WindowBudget:
    """A fresh answer in every slot, without end: any ``window`` slots cost so many times one report."""

    window: int

    def __post_init__(self) -> None:
        settle(self, window=check_whole("window", self.window, most=LONGEST))

    def __str__(self) -> str:
        return f"a fresh answer in every slot, counted over any {self.window}"


@document("local_window_population")
@dataclass(frozen=True, slots=True)
class WindowPopulation:
    """One fresh answer in every ``window`` slots, without end; each device draws its place in the window once.

    A fleet is divided so that each slot hears one part of it, at full volume: far more precise than `WindowBudget`.

    References:
        Ren, Shi, Yu, Yang, Zhao, Xu (2022), LDP-IDS: local differential privacy for infinite data streams (LPU).
    """

    window: int

    def __post_init__(self) -> None:
        settle(self, window=check_whole("window", self.window, most=LONGEST))

    def __str__(self) -> str:
        return f"one fresh answer in every {self.window} slots, at a place drawn at random"


@document("local_window_asked")
@dataclass(frozen=True, slots=True)
class WindowAsked:
    """A fresh answer whenever the collector asks, but only one within any ``window`` slots.

    The collector may choose whom to ask by what it has seen; the device holds it to the promise.
    """

    window: int

    def __post_init__(self) -> None:
        settle(self, window=check_whole("window", self.window, most=LONGEST))

    def __str__(self) -> str:
        return f"a fresh answer when asked, at most one in any {self.window} slots"


Protocol: TypeAlias = Fresh | Slots | Memoised | WindowBudget | WindowPopulation | WindowAsked
