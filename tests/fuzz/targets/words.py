"""Small texts that people write: calendars, durations, time zones, and the words of commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chronodp as cdp
from chronodp.cli.account import parse_release
from chronodp.cli.blur_times import parse_analysis
from chronodp.cli.choose import parse_choice_mechanism
from chronodp.cli.coupled import parse_ages, parse_cuts, parse_each_age, parse_hears, parse_query, parse_turns
from chronodp.cli.device import parse_protocol
from chronodp.cli.read import parse_smooth
from chronodp.cli.stream import parse_share, parse_workload
from chronodp.cli.watch import parse_noise
from chronodp.live import Windows
from chronodp.live.windows import parse_duration
from chronodp.privacy import Calendar
from chronodp.privacy.unit_text import parse_unit
from tests.fuzz.target import Target, loose

__all__ = ["NAMES", "make_calendar", "make_command_words", "make_duration", "make_live_windows"]

NAMES = ("calendar", "live_windows", "duration", "command_words")

_PARSERS: tuple[Callable[[str], object], ...] = (
    parse_unit,
    parse_workload,
    parse_share,
    parse_noise,
    parse_protocol,
    parse_release,
    parse_query,
    parse_ages,
    parse_each_age,
    parse_turns,
    lambda text: parse_cuts([text], None, 2),
    lambda text: parse_hears([text], ["a", "b"]),
    lambda text: parse_analysis(text, 20),
    parse_choice_mechanism,
    parse_smooth,
)


def _four(content: bytes) -> list[str]:
    return [*loose(content).split("\n"), "", "", "", ""][:4]


def make_calendar(_folder: Path) -> Target:
    def door(content: bytes) -> None:
        every, start, end, _ = _four(content)
        if every.endswith(("D", "W")) and not (start.startswith(("19", "20")) and end.startswith(("19", "20"))):
            return  # thousands of years of days are computed day by day: right, and seconds long
        made = Calendar(*_four(content))
        if len(made) < 5_000:
            str(made), made.starts(), made.most_within("1D"), made.span

    seeds = (
        b"1h\n2026-10-25\n2026-10-26\nEurope/Berlin",
        b"1mo\n2026-01-01T00:00+00:00\n2027-01-01\nUTC",
        b"1W\n2026-01-05\n2026-02-02\nPacific/Apia",
    )
    return Target("calendar", seeds, door)


def make_live_windows(_folder: Path) -> Target:
    def door(content: bytes) -> None:
        every, start, timezone, lateness = _four(content)
        made = Windows(every, start, timezone=timezone, lateness=lateness)
        made.closes(0), made.closes(min(1_000, made.length) - 1)

    return Target("live_windows", (b"1min\n2026-01-01\nUTC\n10s", b"1mo\n2026-01-28\nEurope/Berlin\n1h"), door)


def make_duration(_folder: Path) -> Target:
    def door(content: bytes) -> None:
        text = loose(content)
        cdp.UserPeriod(every=text)
        parse_duration("lateness", text)

    return Target("duration", (b"1h", b"30min", b"15s", b"1D"), door)


def make_command_words(_folder: Path) -> Target:
    """The first byte names the parser."""
    texts = (
        "window:24/replace swap:3 history:same user_period:1D user",
        "rolling:7 ewm:0.1 running_total",
        "absorption uniform",
        "laplace",
        "slots:90/3 memoised:90/2 fresh:30 window_budget:7",
        "gaussian:sigma=50,times=1440 pure:epsilon=1 laplace:scale=2",
        "sum mean weighted:1,2 max",
        "1,2,3 5",
        "3 0,2,5",
        "1 0.5,1",
        "60,100",
        "a=a,b",
        "relative:1,1,1,1 counting:1000,0.2,0.1 average:24,4",
        "exponential noisy-max",
        "growing:whole walk",
    )
    seeds = tuple(bytes([number]) + word.encode() for number, text in enumerate(texts) for word in text.split())

    def door(content: bytes) -> None:
        _PARSERS[content[0] % len(_PARSERS) if content else 0](loose(content[1:]))

    return Target("command_words", seeds, door)
