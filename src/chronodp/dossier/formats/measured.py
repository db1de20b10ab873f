"""What released numbers are numbers of: their unit of measurement, and how long one of their periods is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chronodp.dossier.facts import Facts
from chronodp.dossier.published import Published
from chronodp.privacy import parse_every
from chronodp.reading import parse_json
from chronodp.series import Measure, QuantileRelease, Release, Variance

__all__ = ["Measured", "duration", "measured"]

_DURATIONS = {"s": "PT{}S", "min": "PT{}M", "h": "PT{}H", "D": "P{}D", "mo": "P{}M", "Y": "P{}Y"}


@dataclass(frozen=True, slots=True)
class Measured:
    """What the numbers of one question are.

    Attributes:
        unit: of measurement; empty where only the owner could say it, and has not.
        every: the length of a period, such as '1h'; empty where periods are only numbered.
    """

    unit: str
    every: str


def measured(facts: Facts) -> dict[int, dict[str, Measured]]:
    """Return what is known of every release's questions, by its number and their names; '' for a single question."""
    asked = {one.number: dict(_asked(one)) for one in facts.published}
    measures = [measure for some in asked.values() for measure, _ in some.values() if not _counts(measure)]
    # The owner names one unit: of several columns it can be that of one alone, and nobody says of which.
    columns = {measure.read_column or measure.label for measure in measures}
    unit = facts.owner.unit_of_measurement if len(columns) == 1 else ""
    return {
        number: {name: Measured(_unit(measure, unit), every) for name, (measure, every) in some.items()}
        for number, some in asked.items()
    }


def duration(every: str) -> str:
    """Return the length of a period by ISO 8601; empty for none.

    >>> duration("15min"), duration("2W"), duration("1mo")
    ('PT15M', 'P14D', 'P1M')
    """
    if not every:
        return ""
    count, letter = parse_every(every)
    # Weeks are days here: XML Schema's durations have none.
    return f"P{7 * count}D" if letter == "W" else _DURATIONS[letter].format(count)


def _asked(one: Published) -> Iterator[tuple[str, tuple[Measure, str]]]:
    release = one.release
    if isinstance(release, Release | QuantileRelease):
        yield "", _table(release)
    elif one.kind == "together":
        derived = parse_json(one.text)["derived"]
        for name in release.names:
            source = release[derived[name]["from"] if name in derived else name]
            if isinstance(source, Release | QuantileRelease):
                measure, every = _table(source)
                yield name, (measure, (derived[name]["every"] or every) if name in derived else every)


def _table(release: Release | QuantileRelease) -> tuple[Measure, str]:
    table = release.design.table
    return table.measure, "" if table.calendar is None else table.calendar.every


def _counts(measure: Measure) -> bool:
    return measure.whole and not measure.asked_quantiles


def _unit(measure: Measure, said: str) -> str:
    if _counts(measure):
        return measure.label
    return f"({said})²" if said and isinstance(measure, Variance) else said
