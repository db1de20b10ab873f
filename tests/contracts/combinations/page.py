"""The page of combinations, from what came of trying them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tests.contracts.combinations.asking import Combination, Outcome
from tests.contracts.combinations.features import FEATURES, UNITS, Feature

from chronodp.privacy.units import RecordUnit

__all__ = ["Door", "Tried", "page"]

Tried = Mapping[RecordUnit, Mapping[Combination, Outcome]]
Door = Mapping[str, Mapping[Feature, Outcome]]

_YES, _NO = "✓", "·"
_HEAD = f"""# What goes with what

Written by `python -m tests.contracts.combinations` from what the library itself says. Every feature, and every pair,
is planned under every unit; what is let through is released from a table of 12 people, by plain Python and by
DuckDB, which must give the same numbers.

{_YES} works; a number is the reason why not, under the table; {_NO} there is no such question, as a count has no clip.
"""
_ALONE = "Each feature alone. A change is made of the first measure that takes it: of the sum, where that does."
_PAIRS = """Two measures go together where `plan_together` plans them at one price, a change with a measure where it may
be made of it, and two changes where both may be made of one measure. Units stand together where every pair of features
that they have ends alike; what a unit has not at all is told above."""
_DOORS = """Tried for whole persons, of a curator with a policy that allows everything. Engines give the same numbers to
the last digit; Spark is asked few questions, which have every feature between them. A live stream counts, or adds up,
window by window."""


class _Notes:
    """The reasons under a table, each with a number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, outcome: Outcome | None) -> str:
        """Return what stands in a cell."""
        said = _ended(outcome)
        return said if said in ("", _YES, _NO) else str(self.numbers.setdefault(said, len(self.numbers) + 1))

    def lines(self) -> Iterable[str]:
        """Yield the reasons in order."""
        yield ""
        yield from (f"{number}. {sentence}" for sentence, number in self.numbers.items())
        yield ""


def _ended(outcome: Outcome | None) -> str:
    """Return what the page tells of an outcome: a sign, or the reason why not."""
    if outcome is None:
        return ""
    if outcome.state == "works":
        return _YES
    if outcome.state == "unsaid" and not outcome.sentence.startswith("there is"):
        return _NO
    return _reason(outcome.sentence)


def page(tried: Tried, doors: Door) -> str:
    """Return the page as Markdown."""
    parts = [_HEAD, "## Under each unit", "", _ALONE, "", *_alone(tried)]
    parts += ["## Pairs", "", _PAIRS, ""]
    for units, outcomes in _alike(tried):
        parts += [f"### {_listed([_called(unit) for unit in units])}", "", *_matrix(outcomes)]
    parts += ["## At every door, by every engine", "", _DOORS, "", *_by_door(doors)]
    return "\n".join(parts).rstrip() + "\n"


def _alone(tried: Tried) -> Iterable[str]:
    notes = _Notes()
    yield f"| feature | {' | '.join(_called(unit) for unit in UNITS)} |"
    yield f"|---|{'---|' * len(UNITS)}"
    for feature in FEATURES:
        yield f"| {feature.name} | {' | '.join(notes.mark(tried[unit][(feature,)]) for unit in UNITS)} |"
    yield from notes.lines()


def _matrix(outcomes: Mapping[Combination, Outcome]) -> Iterable[str]:
    notes = _Notes()
    there = [feature for feature in FEATURES if (feature,) in outcomes]
    yield f"| feature | {' | '.join(map(_letter, range(len(there) - 1)))} |"
    yield f"|---|{'---|' * (len(there) - 1)}"
    for place, feature in enumerate(there):
        cells = [notes.mark(outcomes.get((other, feature))) for other in there[:place]]
        blank = [""] * (len(there) - 1 - place)
        yield f"| **{_letter(place)}** {feature.name} | {' | '.join([*cells, *blank])} |"
    yield from notes.lines()


def _by_door(doors: Door) -> Iterable[str]:
    notes = _Notes()
    yield f"| feature | {' | '.join(doors)} |"
    yield f"|---|{'---|' * len(doors)}"
    for feature in FEATURES:
        yield f"| {feature.name} | {' | '.join(notes.mark(outcomes[feature]) for outcomes in doors.values())} |"
    yield from notes.lines()


def _alike(tried: Tried) -> list[tuple[list[RecordUnit], dict[Combination, Outcome]]]:
    """Return groups of units for which every pair of features that both have ends alike, and how it ends."""
    groups: list[tuple[list[RecordUnit], dict[Combination, Outcome]]] = []
    for unit in UNITS:
        there = {feature for feature in FEATURES if tried[unit][(feature,)].state == "works"}
        own = {pair: outcome for pair, outcome in tried[unit].items() if there.issuperset(pair)}
        for units, known in groups:
            if all(_end(known[pair]) == _end(own[pair]) for pair in own.keys() & known.keys()):
                units.append(unit)
                known.update(own)
                break
        else:
            groups.append(([unit], own))
    return groups


def _end(outcome: Outcome) -> tuple[str, str]:
    return outcome.state, _reason(outcome.sentence)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _called(unit: RecordUnit) -> str:
    """Return what a unit is called on the page."""
    name = f"`{type(unit).__name__}`"
    return name if unit.relation == "add_remove" else f"{name} replaced"


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"A{chr(ord('A') + place - 26)}"


def _reason(sentence: str) -> str:
    """Return a refusal without what was given, without the unit's own words, and without where in a file it stood."""
    said = sentence.split("; got ", maxsplit=1)[0]
    said = re.sub(r"^\S+\.toml, line \d+: ", "", said)
    said = re.sub(r"^measure\.\w+ must be one of", "a setting of measure must be one of", said)
    for unit in sorted((str(unit) for unit in UNITS), key=len, reverse=True):
        said = said.replace(unit, "this unit")
    return said.replace("|", "\\|")
