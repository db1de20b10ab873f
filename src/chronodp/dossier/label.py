"""A label: one picture of what is promised and at what error, for readers who know nothing of the field.

It is one SVG with nothing outside it: light or dark as its reader's screen is, light on paper, and read aloud by its
title and description. What it shows is made of `Facts` alone, so it is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from chronodp.display import shown
from chronodp.dossier.facts import Facts
from chronodp.dossier.published import Published
from chronodp.dossier.words import gain, promise, right_guesses, rounded_up, title_of

__all__ = ["label"]

_WIDTH, _EDGE = 400, 22
_ROWS = 1_000  # of a release's table that its typical error is read from
_CERTAIN = 0.9995  # from here on words say "nearly always"
_MOST_LINES = 5  # of one part; a longer one is cut
_PERIODS = {"1D": "day", "1W": "week", "1mo": "month", "1Y": "year"}
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NARROW, _BROAD = frozenset(" .,:;'!|ijltfrI()[]-/"), frozenset("mwMW%@")
_STYLE = """\
.ground { fill: #ffffff; stroke: #868f98; }
.ink { fill: #1d2329; } .soft { fill: #56616c; } .accent { fill: #14557b; } .alarm { fill: #9b1c1c; }
.rule { stroke: #dfe3e7; } .track { fill: #eaf2f7; stroke: #868f98; } .bar { fill: #14557b; }
@media screen and (prefers-color-scheme: dark) {
  .ground { fill: #1a2027; stroke: #74808b; }
  .ink { fill: #e6eaee; } .soft { fill: #a3aeb9; } .accent { fill: #86bfe3; } .alarm { fill: #f0a3a3; }
  .rule { stroke: #313a44; } .track { fill: #1e2f3b; stroke: #74808b; } .bar { fill: #86bfe3; }
}
svg { max-width: 100%; height: auto; }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading with what it says in large and in small letters; with ``right``, a bar of how often guesses are."""

    heading: str
    said: str
    more: str = ""
    right: float | None = None
    alarming: bool = False


def label(facts: Facts) -> str:
    """Return the label as SVG: who is protected, what a guesser gains, for how long, and how exact the numbers are."""
    parts = (_protected(facts), _gained(facts), _lasting(facts), _exact(facts))
    name = shown(facts.owner.name or facts.dataset)
    lines, height = _drawn(name, parts)
    told = " ".join(f"{one.heading}: {one.said} {one.more}".strip() for one in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="label-title label-told">\n'
        f'<title id="label-title">Privacy label of {_safe(name)}</title>\n<desc id="label-told">{_safe(told)}</desc>\n'
        f"<style>\n{_STYLE}</style>\n"
        f'<rect class="ground" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="10"/>\n'
        f"{chr(10).join(lines)}\n</svg>\n"
    )


def _protected(facts: Facts) -> _Part:
    unit = facts.status.budget.unit
    return _Part("Who is protected", _sentence(unit.protects), f"Not protected: {unit.does_not_protect}.")


def _gained(facts: Facts) -> _Part:
    heading, budget = "What someone can find out", facts.status.budget
    if facts.seeded:
        return _Part(heading, promise(facts), right=1.0, alarming=True)
    overspent = facts.lost.most is None and budget.renews is None
    if overspent:
        epsilon, delta = facts.lost.epsilon, facts.lost.delta
    else:
        epsilon, delta = facts.lost.most or (budget.epsilon, budget.delta)
    price = f"ε = {_plain(epsilon)}" + (f", δ = {_small(delta)}" if delta else "")
    scope = f"for one {_PERIODS[budget.renews]}" if budget.renews else "for everything together"
    more = "More was spent than the budget allows." if overspent else f"In the words of the field: {price}, {scope}."
    return _Part(heading, gain(epsilon, delta, budget.unit), more, right_guesses(epsilon, delta), alarming=overspent)


def _lasting(facts: Facts) -> _Part:
    heading, renews = "For how long", facts.status.budget.renews
    used = f"Used so far: ε = {_plain(facts.lost.epsilon)}"
    if renews is None:
        return _Part(heading, "For ever: all that is ever released counts together.", f"{used}.")
    period = _PERIODS[renews]
    said = f"It starts anew every {period}: whoever has data in many of them is protected less and less."
    return _Part(heading, said, f"{used}, in every {period} together.")


def _exact(facts: Facts) -> _Part:
    heading = "How exact the numbers are"
    for one in reversed(facts.published):
        error = _typical_error(one)
        if error is not None:
            width, value = error
            said = f"± {width:,.3g}, where numbers are about {value:,.3g}."
            more = f"Noise moves 95 of 100 numbers by less. Seen in the newest table: {title_of(one)}."
            return _Part(heading, said, more)
    return _Part(heading, "No table of numbers with intervals was released.")


def _typical_error(one: Published) -> tuple[float, float] | None:
    """Return the median half width of a release's intervals, and the median size of its numbers."""
    rows = one.first_rows(_ROWS)
    if rows is None or not {"value", "lower", "upper"} <= set(map(str, rows.columns)):
        return None
    kept = rows[["value", "lower", "upper"]].astype(float).dropna()
    if kept.empty:
        return None
    return float(((kept["upper"] - kept["lower"]) / 2).median()), float(kept["value"].abs().median())


def _drawn(name: str, parts: tuple[_Part, ...]) -> tuple[list[str], int]:
    """Return what stands on the ground, and how high that must be."""
    lines: list[str] = []
    y = 34.0
    lines.append(_text("Privacy label", y, 13, "accent", bold=True))
    for line in _wrapped(name, 22, most=2):
        y += 28
        lines.append(_text(line, y, 22, "ink", bold=True))
    for part in parts:
        y += 20
        lines.append(f'<path class="rule" d="M{_EDGE} {y:g}H{_WIDTH - _EDGE}"/>')
        y += 24
        lines.append(_text(part.heading, y, 13, "accent", bold=True))
        for line in _wrapped(part.said, 16):
            y += 22
            lines.append(_text(line, y, 16, "alarm" if part.alarming else "ink"))
        if part.right is not None:
            lines += _bar(y + 14, part.right)
            y += 46
        for line in _wrapped(part.more, 13):
            y += 18
            lines.append(_text(line, y, 13, "soft"))
    return lines, round(y + 24)


def _bar(y: float, right: float) -> Iterator[str]:
    """Yield a bar from guesses that are right half of the time to those that always are."""
    width = _WIDTH - 2 * _EDGE
    long = width * min(1.0, max(0.0, 2 * right - 1))
    yield f'<rect class="track" x="{_EDGE}" y="{y:g}" width="{width}" height="12" rx="3"/>'
    kind = "bar" if right < _CERTAIN else "alarm"
    yield f'<rect class="{kind}" x="{_EDGE}" y="{y:g}" width="{long:.1f}" height="12" rx="3"/>'
    yield _text("50 %: a coin", y + 28, 13, "soft")
    yield _text("100 %: certain", y + 28, 13, "soft", at_end=True)


def _text(said: str, y: float, size: int, kind: str, *, bold: bool = False, at_end: bool = False) -> str:
    place = f'x="{_WIDTH - _EDGE}" text-anchor="end"' if at_end else f'x="{_EDGE}"'
    weight = ' font-weight="650"' if bold else ""
    return f'<text class="{kind}" {place} y="{y:g}" font-size="{size}"{weight}>{_safe(said)}</text>'


def _wrapped(said: str, size: int, *, most: int = _MOST_LINES) -> list[str]:
    """Return lines that fit the label, whatever sans-serif a reader has; what is too long ends in an ellipsis."""
    room = (_WIDTH - 2 * _EDGE) / size
    lines, line = [], ""
    for word in said.split():
        pieces = [word[begin : begin + 20] for begin in range(0, len(word), 20)] if _wide(word) > room else [word]
        for piece in pieces:
            longer = f"{line} {piece}".strip()
            if line and _wide(longer) > room:
                lines.append(line)
                line = piece
            else:
                line = longer
    lines += [line] if line else []
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-1].rstrip()}…"]


def _wide(said: str) -> float:
    """Return about how many times its size a text is wide, rather too much than too little."""
    wide = 0.0
    for letter in said:
        if letter in _NARROW:
            wide += 0.37
        elif letter in _BROAD or ord(letter) > 0x2E80:
            wide += 1.0
        else:
            wide += 0.74 if letter.isupper() else 0.62
    return wide


def _plain(epsilon: float) -> str:
    """Return an epsilon as people write numbers, none of whose digits makes it smaller."""
    short = float(rounded_up(epsilon))
    return f"{short:,.0f}" if short >= 1_000 else f"{short:g}"


def _small(delta: float) -> str:
    """Return a small probability as a power of ten, none of whose digits makes it smaller."""
    power = math.floor(math.log10(delta))
    digits = math.ceil(delta / 10.0**power * 10 - 1e-9) / 10
    times = "" if digits == 1 else f"{digits:g} × "
    return f"{times}10{str(power).translate(_POWERS)}"


def _sentence(said: str) -> str:
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")


def _safe(said: str) -> str:
    return escape(shown(said))
