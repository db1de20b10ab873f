"""What a dossier says in sentences: the promise, what an adversary gains, and a release in labelled words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

from chronodp.accounting import adversary
from chronodp.dossier.facts import Facts
from chronodp.dossier.published import Published
from chronodp.privacy import Unit, counted
from chronodp.reading import parse_json
from chronodp.series import QuantileRelease, Release, describe, describe_quantiles

__all__ = ["described", "errors_of", "gain", "promise", "rounded_up", "slug", "title_of"]

_ABOUT_ERROR = ("Noise", "Error", "Missing", "Found", "Keys", "Places")
_SURELY = 0.9995
_MOST_ODDS = 20.0  # e^20: beyond, a guess is as good as sure


def gain(epsilon: float, delta: float, unit: Unit) -> str:
    """Return what an adversary gains by a guarantee, for a reader who knows no epsilon.

    >>> from chronodp.privacy import User
    >>> gain(1.0, 1e-6, User())
    'A guess whether someone is in the data is right at most 73.2 % of the time, instead of 50 %.'
    """
    someone = unit.whole_person and unit.relation == "add_remove"
    what = "whether someone is in the data" if someone else f"between two datasets that differ in {unit}"
    # Of a guesser between two neighbouring datasets, if both are as likely.
    right = 1.0 if epsilon > _MOST_ODDS else min(1.0, (1 + adversary.total_variation(epsilon, delta)) / 2)
    if right > _SURELY:
        return f"A guess {what} may be right nearly always: at so large an ε nobody is hidden for sure."
    return f"A guess {what} is right at most {_percent_up(right)} of the time, instead of 50 %."


def rounded_up(value: float) -> str:
    """Return a loss with four digits, none of which makes it smaller."""
    short = f"{value:.4g}"
    return short if float(short) >= value else f"{value * (1 + 5e-4):.4g}"


def promise(facts: Facts) -> str:
    """Return the promise of the whole budget in plain words."""
    budget = facts.status.budget
    if facts.seeded:
        return "Nothing is promised: a release was drawn with a seed, and whoever knows the seed can remove its noise."
    if facts.lost.most is None and budget.renews is None:
        return "More was spent than the budget allows; what was lost stands below."
    who = f"Protected: {budget.unit.protects}."
    if facts.lost.most is None:
        return f"{who} The budget starts anew every {budget.renews}: the promise below is of one such period."
    gained = gain(*facts.lost.most, budget.unit)
    return f"{who} {gained} That holds for everything that this budget ever pays for, taken together."


def slug(name: str) -> str:
    """Return a name as addresses and folders have it: small letters of ASCII, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "dataset"


def title_of(one: Published) -> str:
    """Return what was released, in a few words."""
    release = one.release
    if isinstance(release, Release | QuantileRelease):
        return str(release.design.table.released)
    if one.kind == "together":
        return f"{counted(len(release.names), 'question')} together: {', '.join(release.names)}"
    return one.certificate.mechanism


def described(one: Published) -> list[tuple[str, str]]:
    """Return a release as labelled sentences, as its plan said them before anything was spent."""
    release = one.release
    if isinstance(release, Release):
        return [*describe(release.design, release.design.delta), *release.beside]
    if isinstance(release, QuantileRelease):
        return [*describe_quantiles(release.design), *release.beside]
    certificate = one.certificate
    rows = [("Releases", certificate.mechanism)]
    if one.kind == "choice":
        purpose = f"; {release.design.purpose}" if release.design.purpose else ""
        rows.append(("Chosen", f"{release.winner}, of {counted(len(release.design.candidates), 'candidate')}{purpose}"))
    elif one.kind == "together":
        rows += [row for name in release.names for row in _part(release[name], name)]
        rows += [("Alert", name) for name in release.alerts]
    elif one.release is None and one.table is None:
        rows.append(("Released", _short(one.text)))
    guarantee = certificate.guarantee
    return [*rows, ("Protects", f"{guarantee.unit}: {guarantee.unit.protects}"), ("Price", str(guarantee))]


def errors_of(one: Published) -> list[tuple[str, str]]:
    """Return what is said of a release's error and bias: its noise, its bounds, and what they took away."""
    return [(label, text) for label, text in described(one) if label.rpartition(": ")[2] in _ABOUT_ERROR]


def _part(part: object, name: str) -> Iterable[tuple[str, str]]:
    if isinstance(part, Release):
        told = [*describe(part.design, part.design.delta), *part.beside]
    elif isinstance(part, QuantileRelease):
        told = [*describe_quantiles(part.design), *part.beside]
    else:
        return [(name, "read from another query of the same release")]
    kept = ("Releases", "One unit", "Rows", *_ABOUT_ERROR)
    return [(f"{name}: {label}", text) for label, text in told if label in kept]


def _short(text: str) -> str:
    said = json.dumps(parse_json(text), ensure_ascii=False)
    return said if len(said) <= 200 else f"{said[:200]} …"


def _percent_up(part: float) -> str:
    return f"{math.ceil(part * 1_000 - 1e-9) / 10:g} %"
