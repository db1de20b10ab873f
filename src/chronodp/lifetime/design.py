"""A lifetime series as it is designed: everything public about it, fixed when it is bought.

Its issues may have other dates and other bounds; noise and the size of a life stay. "What is promised" of
``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chronodp.engines import WholePrice
from chronodp.errors import InvalidArgument
from chronodp.lifetime.asking import ask
from chronodp.lifetime.shares import life_of, life_sensitivities, takes_of, whole_price, worth_of
from chronodp.privacy import Calendar, Claim, User, check_column, check_positive, check_whole, decimal_value, document
from chronodp.series import Asks, Count, Design, EachPeriod, Life, Measure, Sum, Table
from chronodp.series.shapes import White

__all__ = ["LifetimeDesign", "check_table_of_lives"]

_ARGUMENT = "docs/explanation/proofs/lifetime.md"
_INSTEAD = "release it by a plan of its own, or watch it by a stream"


@document("lifetime")
@dataclass(frozen=True)
class LifetimeDesign:
    """The terms at which a series is bought, once.

    Attributes:
        base: an issue at these terms; its noise hides one person in all issues together.
        time: the column with the time of a row.
        user: the column that tells people apart.
        max_periods: how many full periods of one person count, ever.
        life: the quanta of a life.
    """

    base: Design
    time: str
    user: str
    max_periods: int
    life: int

    def __post_init__(self) -> None:
        check_column("time", self.time)
        check_column("user", self.user)
        check_whole("max_periods", self.max_periods)
        table = check_table_of_lives(self.base.table)
        if self.life != life_of(table, self.base.law, self.max_periods):
            raise InvalidArgument("life", self.life, f"that of {self.max_periods:,} periods")
        # What is read back from a file must be worth what it says: white noise for a whole life.
        if not isinstance(self.base.shape, White):
            raise InvalidArgument("base", str(self.base.shape), "white noise")
        needed = life_sensitivities(table, self.max_periods)
        for part, noise in zip(needed, self.base.noises, strict=True):
            if noise.sensitivity < (part.l2 if noise.law == "gaussian" else part.l1):
                raise InvalidArgument("base", "noise", f"noise for {self.max_periods:,} periods of one person")

    @property
    def claim(self) -> Claim:
        """Whom the series protects in all of its issues, at what cost, and where the argument stands."""
        return Claim(self.base.table.claimed, self.base.cost, _ARGUMENT)

    @property
    def calendar(self) -> Calendar:
        """The periods of the issue that was planned."""
        calendar = self.base.table.calendar
        if calendar is None:
            raise AssertionError("a lifetime series has dates")
        return calendar

    def issue(
        self,
        name: str,
        *,
        start: Any,
        end: Any,
        clip: tuple[float, float] | None = None,
        at_most: int | None = None,
        late: bool = False,
        asked: Table | None = None,
        takes: float | None = None,
    ) -> Design:
        """Return the design of an issue, but for its number."""
        if asked is not None:
            for bound, given in (("clip", clip), ("at_most", at_most)):
                if given is not None:
                    raise InvalidArgument(bound, given, "left out with ask: the question has its own bounds")
            return self._asked(name, asked, takes, start=start, end=end, late=late)
        if takes is not None:
            raise InvalidArgument("takes", takes, "given with ask: the noise of the series itself stays as it is")
        old = self.calendar
        calendar = Calendar(old.every, start, end, old.timezone)
        measure = _measure(self.base.table.measure, clip, at_most)
        periods = len(calendar)
        table = replace(
            self.base.table,
            measure=measure,
            horizon=periods,
            calendar=calendar,
            max_periods=min(self.max_periods, periods),
        )
        life = replace(self._life(name, late), takes=takes_of(self.base, table))
        design = replace(self.base, table=table, life=life)
        self.price(design)  # refuses what cannot be booked, before anything is read
        return design

    def price(self, issue: Design) -> WholePrice:
        """Return what a person pays in an issue for what counts of them."""
        if issue.life is None:
            raise AssertionError("asked of issues only")
        return whole_price(issue.life.takes, issue.table.horizon)

    def _asked(self, name: str, table: Table, takes: float | None, *, start: Any, end: Any, late: bool) -> Design:
        """Return the design of an issue that asks another question, with noise for what it may take of a life."""
        share = decimal_value(check_positive("takes", 1.0 if takes is None else takes))
        if share > self.max_periods:
            raise InvalidArgument("takes", takes, f"at most {self.max_periods:,}: a life has no more shares")
        asked, base = check_table_of_lives(table), self.base
        if asked.unit != base.table.unit:
            raise InvalidArgument("ask", str(asked.unit), f"asked for the unit that was bought: {base.table.unit}")
        if asked.calendar is None:
            raise AssertionError("people's records have dates")
        calendar = Calendar(asked.calendar.every, start, end, asked.calendar.timezone)
        moved = replace(asked, horizon=len(calendar), calendar=calendar, max_periods=len(calendar))
        found = ask(base, moved, most=int(share * self.life / self.max_periods), worth=worth_of(base), life=self.life)
        asks = Asks(base.table.released, self.calendar.every, base.cost)
        life = replace(self._life(name, late), takes=found.takes, asks=asks)
        design = replace(base, table=moved, noises=found.noises, tuned_for=EachPeriod(), shape=White(), life=life)
        self.price(design)  # refuses what cannot be booked, before anything is read
        return design

    def _life(self, name: str, late: bool) -> Life:
        """Return what every issue says of a life, but for what it takes."""
        return Life(name, self.user, self.max_periods, self.life, 1, late=late)


def check_table_of_lives(table: Table) -> Table:
    """Return a table of which a lifetime series can be made; refuse others, and say what to do instead."""
    measure = table.measure
    if type(table.unit) is not User:
        allowed = f"User(): a life is a person's. For {table.unit} every plan has one price already; release each month"
        raise InvalidArgument("unit", str(table.unit), allowed)
    if table.calendar is None or measure.finished:
        allowed = "asked of people's records: what was added up before tells nobody apart"
        raise InvalidArgument("lifetime", "finished totals", allowed)
    if measure.block is not None:
        allowed = f"asked of the series itself: how far lives reach into a {measure.block.statistic} is not argued yet"
        raise InvalidArgument("lifetime", f"a {measure.block.statistic}", f"{allowed}; {_INSTEAD}")
    if measure.presence is not None:
        allowed = f"asked of a count: a window reaches from one issue into the next; {_INSTEAD}"
        raise InvalidArgument("lifetime", "active people", allowed)
    if measure.norm is not None:
        allowed = f"asked with a clip: a norm is of a whole series, which has no end here; {_INSTEAD}"
        raise InvalidArgument("lifetime", "bound=Norm(...)", allowed)
    if measure.clips is not None:
        allowed = f"asked with one clip: what lives pay where groups have their own is not argued yet; {_INSTEAD}"
        raise InvalidArgument("lifetime", f"clip {measure.clips}", allowed)
    if measure.asked_quantiles:
        allowed = "asked of a histogram, whose quantiles are free: release.quantile(0.5)"
        raise InvalidArgument("lifetime", "quantiles", allowed)
    if table.levels is not None:
        allowed = f"asked without Places: what lives pay for several levels is not argued yet; {_INSTEAD}"
        raise InvalidArgument("lifetime", "Places", allowed)
    if table.finds_keys:
        allowed = "asked with public keys: find them in a release without, and use by(...=release.keys)"
        raise InvalidArgument("lifetime", "Discover()", allowed)
    return table


def _measure(measure: Measure, clip: tuple[float, float] | None, at_most: int | None) -> Measure:
    """Return the measure with other bounds, if any are given."""
    if clip is not None:
        if not isinstance(measure, Sum):
            raise InvalidArgument("clip", clip, "left out: only a sum has another clip in an issue")
        measure = replace(measure, clip=clip)
    if at_most is not None:
        if not isinstance(measure, Count):
            raise InvalidArgument("at_most", at_most, "left out: only a count has another number of rows in an issue")
        measure = Count(at_most)
    return measure
