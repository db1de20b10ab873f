"""A release whose keys are found first, as it is designed: everything public about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import MOST_CELLS
from chronodp.privacy import Claim, Cost, decimal_value, document
from chronodp.privacy.units import KeyBlocks
from chronodp.selection.keys import CountNoise, OptimalRule, PublishedCounts, Rounds
from chronodp.series.design import Design
from chronodp.series.discover import Discover
from chronodp.series.key_text import keys_with_room
from chronodp.series.measures import Count
from chronodp.series.noise import calibrated
from chronodp.series.planner import check_drawable, design_release
from chronodp.series.shapes.toeplitz import White
from chronodp.series.split import KeysAsked, Split, split_price
from chronodp.series.table import Table
from chronodp.series.workloads import Workload

__all__ = ["DELTA", "DiscoverDesign", "check_discover", "refuse_published"]

_ARGUMENT = "docs/explanation/proofs/keys.md"
_PART_OF_DELTA = Fraction(2, 5)  # of the plan's delta: what a key of one person alone may be published with
_SHOWN = 5000  # keys for which the error is told before any are found; fewer err no more
DELTA = "Discover(delta=...)"  # as errors name it, where the plan has a delta too
RULE = "1"
"""Which rule finds keys. A change of weights, rounds or parts is a new one, and another plan."""


@document("discover_design")
@dataclass(frozen=True)
class DiscoverDesign:
    """What is released, and how the keys of one of its columns are found.

    Attributes:
        table: what is released; the column whose keys are found has none yet.
        discover: how they are found.
        epsilon: of the guarantee, of everything together.
        delta: of the guarantee, the probability of a key of one person alone left out where noise needs none.
        tuned_for: what the error is made small for.
        rule: which rule finds keys.
    """

    table: Table
    discover: Discover
    epsilon: float
    delta: float
    tuned_for: Workload
    rule: str = RULE

    def __post_init__(self) -> None:
        # Also of a plan that goes on to other dates: what decides may hold for one period alone.
        check_discover(self.table, self.discover, self.delta)

    @property
    def column(self) -> str:
        """The column whose keys are found."""
        return next(grouping.column for grouping in self.table.groupings if grouping.found)

    @property
    def lone(self) -> float:
        """The most probable that a key of one person alone is published."""
        given = self.discover.delta
        # Of the number as it is written: a float beyond it in the last digit would not fit a reserve of that size.
        return float(_PART_OF_DELTA * decimal_value(self.delta)) if given is None else given

    @cached_property
    def blocks(self) -> KeyBlocks:
        """The parts of a person's series in which their weight is shared among keys."""
        calendar = self.table.periods.calendar
        if calendar is None:
            raise AssertionError("records always have a calendar")
        return self.table.claimed.key_blocks(calendar)

    @property
    def chosen(self) -> int | None:
        """How many keys of a person count, in the series or in each period of the grid; None for all of a row."""
        if self.table.unit.of_rows:
            return None
        return self.discover.max_keys if self.table.unit.whole_person else self.table.max_groups

    @cached_property
    def split(self) -> Split:
        """The price of each step."""
        asked = KeysAsked(
            share=self.discover.share,
            delta=self.lone,
            held=(self.chosen or 1) * self.blocks.periods,
            blocks=self.blocks.touched,
            replace=self.table.protected.relation == "replace",
        )
        return split_price(self.epsilon, self.delta, keys=asked)

    @property
    def finding(self) -> Rounds | OptimalRule | PublishedCounts:
        """What decides which keys are published."""
        if self.split.keys is None:
            raise AssertionError("keys are found")
        return self.split.keys

    @property
    def cost(self) -> Cost:
        """What everything costs, whichever keys are found."""
        return self.split.cost

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.table.claimed, self.cost, _ARGUMENT)

    @property
    def beside(self) -> int:
        """How many numbers are stored of each key, or read to make them."""
        public = [len(grouping.keys) for grouping in self.table.groupings if not grouping.found]
        return self.table.periods.horizon * self.table.measure.bins * self.table.kinds * math.prod(public)

    @property
    def most(self) -> int:
        """How many keys are published at most: as many as were asked for, and as have room in one release."""
        return min(self.discover.most, MOST_CELLS // self.beside, keys_with_room(self.discover.longest))

    def with_keys(self, keys: Sequence[str]) -> Table:
        """Return the table with keys that were found."""
        groupings = tuple(
            Grouping(grouping.column, tuple(keys), found=True) if grouping.found else grouping
            for grouping in self.table.groupings
        )
        return replace(self.table, groupings=groupings)

    @cached_property
    def count_noise(self) -> CountNoise:
        """The noise of published counts that decide, in steps."""
        (noise,) = self.release_design(()).noises
        # Of whole counts the grid is a power of two, at most 1: both are exact.
        return CountNoise(noise.law, noise.scale / noise.step, int(1 / noise.step))

    def release_design(self, keys: Sequence[str]) -> Design:
        """Return the design of the release itself."""
        if isinstance(self.finding, PublishedCounts):
            return self._published_design(self.with_keys(keys), self.finding)
        best, *_ = design_release(
            self.with_keys(keys), epsilon=self.epsilon, delta=self.delta, tuned_for=self.tuned_for, split=self.split
        )
        return best

    def _published_design(self, table: Table, rule: PublishedCounts) -> Design:
        """Return the design of counts that decide which keys are published: its noise hangs on no key that is."""
        law = self.split.law
        ((sensitivity, scale),) = calibrated(
            law, [rule.sensitivity], epsilon=self.epsilon, delta=self.delta, within=self.split.noise
        )
        noise = table.measure.on_grid(law, 0, sensitivity, scale, times=1)
        check_drawable(noise, self.epsilon)
        delta = self.delta if law == "gaussian" else rule.delta
        return Design(table, (noise,), self.epsilon, delta, self.tuned_for, White(), split=self.split)

    @cached_property
    def typical(self) -> Design:
        """The design with as many keys as may be published: its error does not hang on which they are."""
        return self.release_design([str(number) for number in range(min(self.most, _SHOWN))])


def refuse_published(table: Table, discover: Discover) -> InvalidArgument | None:
    """Return why counts of a table cannot decide themselves which keys are published; None if they can."""
    if table.measure != Count():
        allowed = "above 0 here: only a count of people, count(), decides which keys are published"
    elif table.horizon > 1:
        allowed = (
            f"above 0 for {table.horizon:,} periods: noise of all of them would decide; or ask for one long period"
        )
    elif len(table.groupings) > 1:
        allowed = "above 0 beside other columns; or make one column of all, such as columns={'pair': \"concat(a, b)\"}"
    elif discover.max_keys is not None and table.max_groups != discover.max_keys:
        allowed = "max_keys, or left out, with share=0: one choice of keys serves to find and to count them"
        return InvalidArgument("max_groups", table.max_groups, allowed)
    else:
        return None
    return InvalidArgument("share", 0, allowed)


def check_discover(table: Table, discover: Discover, delta: float) -> None:
    """Refuse what is missing, or has no place, where keys are found."""
    unit, called = table.unit, table.unit.called or "person"
    if unit.whole_person and discover.max_keys is None:
        raise MissingBound("max_keys", f"say how many keys of one {called} count: without a limit no noise is enough")
    if not unit.whole_person and discover.max_keys is not None:
        allowed = f"left out for {unit}: max_groups says how many keys of a period count"
        raise InvalidArgument("max_keys", discover.max_keys, allowed)
    if not discover.share and (refused := refuse_published(table, discover)):
        raise refused
    if discover.delta is None and not delta:
        why = (
            "finding keys needs a delta, the probability that a key of one person alone is published: pass "
            "Discover(delta=1e-6), or give plan() a delta"
        )
        raise MissingBound(DELTA, why)
    if discover.delta is not None and delta and not discover.delta < delta:
        raise InvalidArgument(DELTA, discover.delta, f"below the plan's delta, {delta:g}, of which it is a part")
