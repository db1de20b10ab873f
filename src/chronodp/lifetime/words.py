"""A lifetime plan in words: what a data owner reads before anything is paid."""

from __future__ import annotations

import math

from chronodp.lifetime.design import LifetimeDesign
from chronodp.privacy import parse_every
from chronodp.series import Design, describe, every_of, half_width, so_many

__all__ = ["YEARS", "cliff", "describe_lifetime", "issue_takes", "periods_in", "years_of"]

YEARS = (1, 3, 5, 10, 20, 50, 100)
"""Lives that a plan is compared with."""

_RENEWED = (1, 3, 5, 10, 50)
_SECONDS = {"s": 1, "min": 60, "h": 3600, "D": 86_400, "W": 7 * 86_400}
_MONTHS = {"mo": 1, "Y": 12}
_YEAR = 31_557_600  # seconds of 365.25 days
_SHOWN = ("Releases", "Does not protect", "Rows", "Columns", "Read", "Noise", "Error", "Adversary")


def periods_in(every: str, years: int) -> int:
    """Return how many periods so many years have, the last one begun.

    >>> periods_in("1mo", 10), periods_in("1W", 100), periods_in("1D", 10), periods_in("1h", 100)
    (120, 5218, 3653, 876600)
    """
    count, letter = parse_every(every)
    if letter in _MONTHS:
        return -(-12 * years // (count * _MONTHS[letter]))
    return -(-_YEAR * years // (count * _SECONDS[letter]))


def years_of(every: str, periods: int) -> float:
    """Return how many years so many periods are.

    >>> years_of("1mo", 120), round(years_of("1h", 24 * 365), 2)
    (10.0, 1.0)
    """
    count, letter = parse_every(every)
    if letter in _MONTHS:
        return periods * count * _MONTHS[letter] / 12
    return periods * count * _SECONDS[letter] / _YEAR


def describe_lifetime(design: LifetimeDesign, delta: float) -> list[tuple[str, str]]:
    """Return the plan as labelled sentences."""
    calendar, table = design.calendar, design.base.table
    issue = design.issue("the series", start=calendar.start, end=calendar.end)
    life, every, who = issue.life, calendar.every, table.unit.called or "person"
    if life is None:
        raise AssertionError("an issue takes of a life")
    said = dict(describe(issue, delta))
    amount = f"({issue.epsilon:g}, {issue.delta:g})" if issue.delta else f"{issue.epsilon:g}"
    price = f"{'(ε, δ)' if issue.delta else 'ε'} = {amount} for all issues together, the same for ever"
    first = {
        "Releases": said.pop("Releases") + ", and any later ones",
        "Protects": f"{table.claimed}: {life.protects(who)}",
        "Price": f"{price}; paid once, when the series is opened",
        "Error": f"{said.pop('Error')}; the same in every issue",
        "Life": f"{life.limit(every, who)}: {so_many(every, life.max_periods)} are {_years(every, life.max_periods)}",
        "Cliff": cliff(design),
        "Counted": life.counted(every, who),
        "Pays": "whoever counts in a period takes a whole share, whatever they add",
        "Ids": life.told_apart(who),
        "Instead": renewing(design, delta),
    }
    own = table.measure.noun.capitalize()  # under which a measure says how it is made
    return [*first.items(), *((label, text) for label, text in said.items() if label in (*_SHOWN, own))]


def issue_takes(issue: Design) -> str:
    """Return what an issue with other terms takes of a life, and of another question how far it errs."""
    if issue.life is None:
        raise AssertionError("asked of issues only")
    price = issue.life.price(every_of(issue.table))
    if issue.life.asks is None:
        return price
    noise = dict(describe(issue, issue.delta))["Noise"]
    return f"{price}; {noise}; {issue.table.measure.error(half_width(issue, 0.95))}"


def cliff(design: LifetimeDesign) -> str:
    """Return when those who were there from the start stop counting: public, from the size of a life alone."""
    periods, every = design.max_periods, design.calendar.every
    stops = f"stop counting with issue {periods + 1:,}" if design.base.table.horizon == 1 else "stop counting"
    after = "" if design.base.table.horizon == 1 else f" after {so_many(every, periods)} of theirs"
    return f"those present since the first issue {stops}{after}"


def renewing(design: LifetimeDesign, delta: float) -> str:
    """Return what it would truly cost to pay the same price anew for every issue."""
    edges = design.calendar.edges
    seconds = int(edges[-1] - edges[0]) / 1_000_000
    every, horizon = design.calendar.every, design.base.table.horizon
    costs = []
    for years in _RENEWED:
        # Of months the calendar counts, not seconds: a year has twelve of them.
        months = parse_every(every)[1] in _MONTHS
        times = -(-periods_in(every, years) // horizon) if months else math.ceil(_YEAR * years / seconds)
        if times > 1:
            epsilon = design.base.epsilon_of(times, delta)
            costs.append(f"{_three(epsilon)} after {years} year{'s' if years > 1 else ''}")
    at = f" (δ = {delta:g})" if delta else ""
    paid = f"ε = {design.base.epsilon:g} paid anew for every issue"
    return f"{paid} is truly ε = {', '.join(costs)}{at}" if costs else f"{paid} would grow without end"


def _three(number: float) -> str:
    """Return a number with three digits, also where the last is 0."""
    return f"{number:#.3g}".rstrip(".")


def _years(every: str, periods: int) -> str:
    years = years_of(every, periods)
    return "1 year" if years == 1 else f"{years:.3g} years"
