"""How long a budget lasts if it goes on being spent as it was: in words, and as a small picture.

Made of what everybody may know who sees the budget: how much is used, by how many charges, and when the first of them
was made. Every charge counts alike, so that no one's price follows from it. Nothing is granted or refused by it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from chronodp.ledger.budget import Budget
from chronodp.privacy import counted

__all__ = ["Outlook", "look_ahead"]

_FEWEST = 3  # charges: two tell of one stretch between them
_SHORTEST = 7  # days: within a week nobody sees a rate
_FULL = 1 - 1e-6  # from here on what still fits is of no use
_FARTHEST = 36_525  # days, a hundred years: what lies beyond is no forecast
_NEAR = dt.timedelta(days=60)  # ahead, told by the day; later ones by the month
_PAID = "Streams and series that were bought go on, and pay nothing more."
_PERIODS = {"1D": "day", "1W": "week", "1mo": "month", "1Y": "year"}
_SEEN = "What was used since the first charge, and dashed what is to come at that rate"
_WIDTH, _HEIGHT, _EDGE = 480.0, 60.0, 5.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """How long a budget lasts.

    Attributes:
        words: the same in a sentence or two.
        since: the day of the first charge, in UTC; None if there was none.
        today: the day on which this was said, in UTC.
        share: how much was used then, from 0 to 1.
        until: the day on which it would be used up; None where nothing can be said, or it renews.
    """

    words: str
    since: dt.date | None
    today: dt.date
    share: float
    until: dt.date | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        days = {"since": self.since, "today": self.today, "until": self.until}
        return {"words": self.words, **{name: None if day is None else day.isoformat() for name, day in days.items()}}

    def picture(self) -> str:
        """Return a small chart: what was used so far, and dashed what is to come; nothing without a day of the end."""
        if self.since is None or self.until is None:
            return ""
        whole = max(1, (self.until - self.since).days)
        across = _EDGE + (self.today - self.since).days / whole * (_WIDTH - 2 * _EDGE)
        up = _HEIGHT - _EDGE - self.share * (_HEIGHT - 2 * _EDGE)
        line = 'fill="none" stroke="currentColor" stroke-width="1.5"'
        return (
            f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
            f'aria-label="{_SEEN}" style="max-width:{_WIDTH:g}px;width:100%;height:auto">'
            f'<line x1="{_EDGE:g}" x2="{_WIDTH - _EDGE:g}" y1="{_EDGE:g}" y2="{_EDGE:g}" stroke="currentColor" '
            'stroke-opacity="0.4"/>'
            f'<polyline points="{_EDGE:g},{_HEIGHT - _EDGE:g} {across:.1f},{up:.1f}" {line}/>'
            f'<polyline points="{across:.1f},{up:.1f} {_WIDTH - _EDGE:g},{_EDGE:g}" {line} stroke-dasharray="4 4"/>'
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3.5" fill="currentColor"/></svg>'
        )


def look_ahead(
    budget: Budget, *, share: float, reserved: float, charges: int, since: dt.date | None, today: dt.date
) -> Outlook:
    """Return how long a budget lasts by the mean rate since its first charge.

    That charge began the time that is counted, so that n charges in it are n - 1 stretches. Of the budget and the delta
    that it reserves for failures, what ends first counts.
    """

    def say(words: str, until: dt.date | None = None) -> Outlook:
        return Outlook(words, since, today, share, until)

    used, passed = max(share, reserved), 0 if since is None else (today - since).days
    if budget.renews is not None:
        return say(f"It starts anew with each {_PERIODS[budget.renews]} of data, and so never runs out for good.")
    if share > _FULL:
        return say(f"It is used up: nothing new fits. {_PAID}")
    if reserved >= 1:
        return say("The delta that it reserves is used up: what needs none of it still fits.")
    if not charges or since is None:
        return say("Nothing was spent yet: how long it lasts cannot be said.")
    if charges < _FEWEST:
        return say(f"{counted(charges, 'charge')} so far: too few to say how long it lasts. {_PAID}")
    if passed < _SHORTEST:
        return say(f"All charges are of less than {_SHORTEST} days: too few to say how long it lasts. {_PAID}")
    rate = f"{counted(charges, 'charge')} since {since}"
    ahead = (1 - used) * passed * charges / (charges - 1)
    if ahead > _FARTHEST * used:
        return say(f"At this rate ({rate}) it lasts for more than a hundred years.")
    until = today + dt.timedelta(days=int(ahead / used))
    when = f"{until}" if until - today <= _NEAR else f"{until:%B %Y}"
    return say(f"At this rate ({rate}) it lasts until about {when}.", until)
