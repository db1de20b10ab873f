"""What can be made of single periods, as methods of whoever has them: each is that of `View`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal

from chronodp.series.readings.baselines import Baseline, Match
from chronodp.series.readings.publishing import Coverage
from chronodp.series.views import View

__all__ = ["Readable"]


class Readable(ABC):
    """Numbers of single periods that sums, ratios, shares and changes are made of."""

    @property
    @abstractmethod
    def operand(self) -> View:
        """Every period by itself, for other views to be made of."""

    @abstractmethod
    def each_period(self, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return every period by itself, with intervals."""

    def at(
        self,
        keys: Mapping[str, object] | None = None,
        /,
        *,
        level: float = 0.95,
        simultaneous: bool = False,
        **named: object,
    ) -> View:
        """Return the groups with these keys, such as ``at(county="c12")``. Free; see `View.at`."""
        return self.operand.at(keys, level=level, simultaneous=simultaneous, **named)

    def at_level(self, name: str, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return the places of one level, such as ``at_level("state")``. Free; see `View.at_level`."""
        return self.operand.at_level(name, level=level, simultaneous=simultaneous)

    def over(self, *groupings: str, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return sums (of means: means) over groupings; none named, over all of them. Free; see `View.over`."""
        return self.operand.over(*groupings, level=level, simultaneous=simultaneous)

    def ratio(
        self,
        other: object,
        *,
        within: tuple[float, float] | None = None,
        level: float = 0.95,
        simultaneous: bool = False,
    ) -> View:
        """Return each period's numbers over those of another view or release. Free; see `View.ratio`."""
        return self.operand.ratio(other, within=within, level=level, simultaneous=simultaneous)

    def share(self, *, level: float = 0.95, simultaneous: bool = False) -> View:
        """Return what part of all groups and bins together each one is. Free; see `View.share`."""
        return self.operand.share(level=level, simultaneous=simultaneous)

    def change(
        self,
        *,
        baseline: Baseline,
        match: Match = None,
        statistic: Literal["mean", "median"] = "mean",
        scale: Literal["percent", "index"] = "percent",
        level: float = 0.95,
        simultaneous: bool = False,
    ) -> View:
        """Return the change against a stretch of time, in percent or as an index. Free; see `View.change`."""
        return self.operand.change(
            baseline=baseline, match=match, statistic=statistic, scale=scale, level=level, simultaneous=simultaneous
        )

    def publish(
        self,
        *,
        relative: float | None = None,
        points: float | None = None,
        chance: float | None = None,
        coverage: Coverage = "published",
        decided_on: object = None,
    ) -> View:
        """Return each period with cells that are not reliable left out. Free; see `View.publish`."""
        return self.each_period().publish(
            relative=relative, points=points, chance=chance, coverage=coverage, decided_on=decided_on
        )

    def __add__(self, other: object) -> View:
        """Return the sum with another release or view of the same rows and columns."""
        return self.operand + other

    def __sub__(self, other: object) -> View:
        """Return the difference to another release or view of the same rows and columns."""
        return self.operand - other
