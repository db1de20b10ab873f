"""An issue of a lifetime series: whose life pays for it, how much of it, and how that is said.

A lifetime series is bought once and issued without end. What its noise hides is one person in all issues together, past
and future: each has a life of shares, counting takes some, and whoever has none left counts no more. The argument
stands in ``docs/explanation/proofs/lifetime.md``; what is said here is its "What is promised".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from chronodp.privacy import LATER, Cost, check_column, check_flag, check_text, check_whole, document, words_of

__all__ = ["Asks", "Life", "full_periods", "so_many"]


@document("asks")
@dataclass(frozen=True, slots=True)
class Asks:
    """What an issue that asks another question keeps of the series that it belongs to.

    Attributes:
        series: what the series itself releases, in words.
        every: how long the periods are in which a life is counted.
        cost: at which the series was bought; the noise of this issue is chosen so that it adds nothing.
    """

    series: str
    every: str
    cost: Cost

    def __post_init__(self) -> None:
        check_text("series", self.series)
        check_text("every", self.every)


@document("life")
@dataclass(frozen=True, slots=True)
class Life:
    """What one issue of a lifetime series takes of a life.

    Attributes:
        name: of the series.
        user: the column that tells people apart.
        max_periods: how many full periods of one person count, ever.
        shares: of a whole life.
        takes: how many of them one counted period of this issue takes.
        late: whether its rows are such as came after the issue of their periods.
        issue: its number in the series, from 1; None while it is only planned.
        others: how many issues before this one asked other questions, which took of the same lives; None for none.
        asks: of an issue that asks another question than the series, whose noise hides less or more of a life.
    """

    name: str
    user: str
    max_periods: int
    shares: int
    takes: int
    late: bool = False
    issue: int | None = field(default=None, metadata=LATER)
    others: int | None = field(default=None, metadata=LATER)
    asks: Asks | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        check_text("name", self.name)
        check_column("user", self.user)
        check_whole("max_periods", self.max_periods)
        check_whole("shares", self.shares, least=self.max_periods)
        check_whole("takes", self.takes)
        check_flag("late", self.late)
        if self.issue is not None:
            check_whole("issue", self.issue)
        if self.others is not None:
            check_whole("others", self.others)

    @property
    def taken(self) -> str:
        """What one counted period takes, in shares of which a life has as many as it has periods; 3 digits."""
        return f"{float(Fraction(self.takes * self.max_periods, self.shares)):.3g}"

    def protects(self, who: str) -> str:
        """Return what is protected, in words."""
        return f"everything about one {who}, in every issue of {self.name} past and future, for ever"

    def limit(self, every: str, who: str) -> str:
        """Return how much of one counts, in words."""
        if self.asks is not None:
            own = f"{full_periods(self.asks.every, self.max_periods)} of what the series asks itself"
            return f"One {who} has a life of {self.max_periods:,} shares: {own}"
        return f"One {who} counts for at most {full_periods(every, self.max_periods)} ever"

    def price(self, every: str) -> str:
        """Return what this issue takes of a life, in words."""
        return f"a counted {words_of(every)} takes {self.taken} of {self.max_periods:,} shares"

    def counted(self, every: str, who: str) -> str:
        """Return of whom the numbers are, in words: whoever has used up their life is in none of them."""
        people, theirs = ("people", "their") if who == "person" else (f"every {who}", "its")
        if (self.others, self.asks) != (None, None):
            said = f"{people} until {theirs} life is used up"
            if self.others is not None:
                said += f", of which {self.others:,} earlier issues with other questions took a part"
        else:
            said = f"{people} in {theirs} first {so_many(every, self.max_periods, 'counted')}"
        return f"{said}; rows that came late, clipped by themselves" if self.late else said

    def told_apart(self, who: str) -> str:
        """Return what is assumed about ids, in words."""
        if who == "person":
            said = f"People are told apart by {self.user}; someone with two ids is two people here"
        else:
            said = f"One {who} is told from another by {self.user}; one with two ids counts as two here"
        return f"{said}. The owner keeps a sealed tally; nothing about it is published"

    def certified(self, every: str, who: str) -> str:
        """Return what a certificate says of it."""
        number = "an issue" if self.issue is None else f"issue {self.issue:,}"
        verb = "are" if who == "person" else "is"
        asks = "" if self.asks is None else f", which asks another question than the series itself ({self.asks.series})"
        return (
            f"{number} of {self.name!r}{asks}. E{self.protects(who)[1:]}, at one price. {self.limit(every, who)}; "
            f"{self.price(every)}. Counted {verb} {self.counted(every, who)}. {self.told_apart(who)}"
        )


def so_many(every: str, periods: int, kind: str = "") -> str:
    """Return so many periods in words, with a word for which.

    >>> so_many("1mo", 120, "counted"), so_many("15min", 4000), so_many("1D", 1)
    ('120 counted months', '4,000 periods of 15 minutes', '1 day')
    """
    words = words_of(every, periods).removeprefix(f"{periods} ")
    return f"{periods:,} {f'{kind} ' if kind else ''}{words}"


def full_periods(every: str, periods: int) -> str:
    """Return so many full periods in words.

    >>> full_periods("1mo", 120)
    '120 full months'
    """
    return so_many(every, periods, "full")
