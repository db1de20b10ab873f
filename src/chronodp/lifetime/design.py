"""A lifetime series as it is designed: everything public about it, fixed when it is bought.

Its issues may have other dates and other bounds; noise and the size of a life stay. "What is promised" of
``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from chronodp.engines import LONGEST_LIFE, OwnPrice, WholePrice
from chronodp.errors import InvalidArgument
from chronodp.lifetime.asking import ask
from chronodp.lifetime.shaped import is_shaped, most_of, shaped_prices, shaped_worth
from chronodp.lifetime.shares import (
    asked_price,
    has_both_signs,
    life_of,
    life_sensitivities,
    own_price,
    pays_own,
    takes_of,
    whole_price,
    worth_of,
)
from chronodp.privacy import (
    Calendar,
    Claim,
    User,
    check_column,
    check_flag,
    check_positive,
    check_whole,
    check_word,
    decimal_value,
    document,
)
from chronodp.series import Asks, Count, Design, EachPeriod, Life, Measure, Pays, Sum, Table
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
        pays: 'share' or 'own'.
        reissues: how often an issue may be issued again for nothing to those in it.
        stagger: whether those in the first issue begin with a part of their life used.
    """

    base: Design
    time: str
    user: str
    max_periods: int
    life: int
    pays: Pays
    reissues: int = 0
    stagger: bool = False

    def __post_init__(self) -> None:
        check_column("time", self.time)
        check_column("user", self.user)
        check_whole("max_periods", self.max_periods)
        check_word("pays", self.pays, ("own", "share"))
        check_whole("reissues", self.reissues, least=0)
        check_flag("stagger", self.stagger)
        table = check_table_of_lives(self.base.table)
        if is_shaped(self.base):
            self._check_shaped()
        elif self.life != life_of(table, self.base.law, self.max_periods):
            raise InvalidArgument("life", self.life, f"that of {self.max_periods:,} periods")
        if self.pays == "own" and not pays_own(table):
            allowed = "'share' for a measure of several numbers: only counts, sums and histograms are paid by size"
            raise InvalidArgument("pays", "own", allowed)
        if self.reissues and self.pays == "own":
            allowed = "0 where each pays for what they add: a later version may add more than was paid; pays='share'"
            raise InvalidArgument("reissues", self.reissues, allowed)
        if self.reissues and self.stagger:
            allowed = "False beside reissues, which must know what was paid in the first issue, and nothing else"
            raise InvalidArgument("stagger", self.stagger, allowed)
        if is_shaped(self.base):
            return
        # What is read back from a file must be worth what it says: noise for a whole life, and for its re-issues.
        needed = life_sensitivities(table, self.max_periods * (1 + self.reissues), self.pays)
        for part, noise in zip(needed, self.base.noises, strict=True):
            if noise.sensitivity < (part.l2 if noise.law == "gaussian" else part.l1):
                raise InvalidArgument("base", "noise", f"noise for {self.max_periods:,} periods of one person")

    def _check_shaped(self) -> None:
        """Refuse a life that so many periods do not fit into: prices follow from what its noise hides."""
        if self.pays != "share":
            raise InvalidArgument("pays", self.pays, "'share' where noise is shaped")
        if self.base.law != "gaussian":
            raise InvalidArgument("base", "Laplace noise", "Gaussian where noise is shaped")
        check_whole("life", self.life, most=LONGEST_LIFE)
        prices = shaped_prices(self.base, self.base.table, life=self.life, reissues=self.reissues)
        if most_of(prices, self.max_periods) > self.life:
            raise InvalidArgument("life", self.life, f"that of {self.max_periods:,} periods")

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
        again: str | None = None,
        asked: Table | None = None,
        takes: float | None = None,
    ) -> Design:
        """Return the design of an issue, but for its number."""
        if late and again is not None:
            raise InvalidArgument("late", late, "False in a correction, which holds all rows of its periods")
        if asked is not None:
            for bound, given in (("clip", clip), ("at_most", at_most)):
                if given is not None:
                    raise InvalidArgument(bound, given, "left out with ask: the question has its own bounds")
            return self._asked(name, asked, takes, start=start, end=end, late=late, again=again)
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
        signed = has_both_signs(table) and not has_both_signs(self.base.table)
        if signed and self.pays == "own" and table.unit.relation == "replace":
            allowed = "of numbers on one side of 0: under relation='replace' those on both were not bought"
            raise InvalidArgument("clip", clip, allowed)
        takes_of_one, together = self._taken(table)
        life = replace(self._life(name, late, again), takes=takes_of_one, together=together)
        design = replace(self.base, table=table, life=life)
        self.price(design)  # refuses what cannot be booked, before anything is read
        return design

    def price(self, issue: Design) -> OwnPrice | WholePrice:
        """Return what a person pays in an issue for what counts of them."""
        if issue.life is None:
            raise AssertionError("asked of issues only")
        if issue.life.pays == "own":
            asked = issue.life.asks is not None
            return asked_price(issue.table, issue.noises[0], issue.life.takes) if asked else own_price(self.base)
        if is_shaped(issue):
            prices = shaped_prices(self.base, issue.table, life=self.life, reissues=self.reissues)
            return WholePrice(prices[: issue.table.horizon])
        return whole_price(issue.life.takes, issue.table.horizon)

    def _asked(
        self, name: str, table: Table, takes: float | None, *, start: Any, end: Any, late: bool, again: str | None
    ) -> Design:
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
        found = ask(
            base,
            moved,
            most=int(share * self.life / self.max_periods),
            worth=self.worth,
            life=self.life,
            pays="own" if self.pays == "own" and pays_own(moved) else "share",
        )
        asks = Asks(base.table.released, self.calendar.every, base.cost)
        life = replace(self._life(name, late, again), takes=found.takes, pays=found.pays, asks=asks)
        design = replace(base, table=moved, noises=found.noises, tuned_for=EachPeriod(), shape=White(), life=life)
        self.price(design)  # refuses what cannot be booked, before anything is read
        return design

    @property
    def worth(self) -> Fraction:
        """How much one quantum of a life stands for: of μ² under Gaussian noise, of ε under Laplace."""
        if is_shaped(self.base):
            return shaped_worth(self.base, life=self.life, reissues=self.reissues)
        return worth_of(self.base, self.pays)

    def _taken(self, table: Table) -> tuple[int, int | None]:
        """Return what one counted period of an issue takes, and where noise is shaped what all of them do."""
        if not is_shaped(self.base):
            return takes_of(self.base, table, self.pays), None
        most = self.base.table.horizon
        if table.horizon > most:
            allowed = f"earlier: noise is shaped for at most {most:,} periods, as many as were planned"
            raise InvalidArgument("end", f"{table.horizon:,} periods", allowed)
        prices = shaped_prices(self.base, table, life=self.life, reissues=self.reissues)
        return prices[0], prices[table.horizon - 1]

    def _life(self, name: str, late: bool, again: str | None) -> Life:
        """Return what every issue says of a life, but for what it takes."""
        return Life(
            name,
            self.user,
            self.max_periods,
            self.life,
            1,
            self.pays,
            late=late,
            reissues=self.reissues,
            stagger=self.stagger,
            again=again,
        )


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
