"""The part of a policy's file that declares lifetime series; whatever is wrong in it is told with its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from chronodp.privacy import check_clip
from chronodp.series import ASKABLE, Pays
from chronodp.service.lifetimes import lifetime_plan
from chronodp.service.made_once import budget_of
from chronodp.service.policy import Dataset
from chronodp.service.terms import MOST_A_MONTH, LifetimeTerms
from chronodp.settings import Place, Section, Setting, anything, each, number, table, text, texts, whole

__all__ = ["LIFETIMES", "read_lifetimes"]

_LONGEST = 2000
_ARGUMENTS = ("column", "clip", "at_most", "edges", "of", "people")


def _pays(value: Any, place: Place) -> Pays:
    for known in get_args(Pays):
        if value == known:
            return known  # type: ignore[no-any-return]  # it is one of those just listed
    raise place.wrong(value, f"one of {', '.join(get_args(Pays))}, or left out")


def _measure(value: Any, place: Place) -> str:
    if not isinstance(value, str) or value not in ASKABLE:
        raise place.wrong(value, f"one of {', '.join(ASKABLE)}")
    return value


_LIFETIME = {
    "measure": Setting(_measure, missing="", schema={"enum": list(ASKABLE)}),
    **{name: anything() for name in _ARGUMENTS},
    "groups": each(texts()),
    "max_groups": anything(),
    "every": text(longest=_LONGEST),
    "epsilon": number(least=0, needed=True),
    "delta": number(least=0, most=1, default=0.0),
    "max_periods": anything(needed=True),
    "pays": Setting(_pays, schema={"enum": list(get_args(Pays))}),
    "tally": text(longest=_LONGEST, needed=True),
    "widest": anything(),
    "analysts": texts(),
    "times": whole(least=1, default=1),
    "most_a_month": whole(least=0, default=MOST_A_MONTH),
}
LIFETIMES = each(table(_LIFETIME))
"""What ``[datasets.NAME.lifetimes.NAME]`` may hold."""


def read_lifetimes(part: Section, dataset: Dataset, folder: Path) -> dict[str, LifetimeTerms]:
    """Return the series that a dataset's section declares; each is planned, which reads no data."""
    said: Section = part["lifetimes"]
    if not said:
        return {}
    if dataset.renews is not None:
        allowed = "left out beside lifetimes: what is bought for ever belongs to no month"
        raise part.place.below("renews").wrong(dataset.renews, allowed)
    with part.pointing():
        found = {name: _read(name, one, dataset, folder) for name, one in said.items()}
    _check_paid(said, dataset, found)
    return found


def _check_paid(said: Section, dataset: Dataset, found: Mapping[str, LifetimeTerms]) -> None:
    """Raise unless the dataset's budget can pay all of its series, whole: issues are paid when a series is opened."""
    rule = budget_of(dataset.unit, dataset.epsilon, dataset.delta, dataset.reserve).filter
    spent = (0,) * len(rule.ceilings)
    for name, terms in found.items():
        if terms.delta > dataset.delta:
            raise said[name].wrong("delta", "at most that of the dataset: in it everything is counted")
        cost = lifetime_plan(dataset, terms).claim.cost
        if not rule.fits(spent, cost):
            left = f"epsilon {dataset.epsilon:g} at a delta of {dataset.delta:g}"
            raise said[name].wrong("epsilon", f"small enough: the dataset's {left} pays all of its series, whole")
        spent = tuple(before + more for before, more in zip(spent, rule.amounts(cost), strict=True))


def _read(name: str, said: Section, dataset: Dataset, folder: Path) -> LifetimeTerms:
    strangers = [who for who in said.get("analysts", ()) if who not in dataset.analysts]
    if strangers:
        raise said.wrong("analysts", f"made of the dataset's analysts: {', '.join(dataset.analysts) or 'none'}")
    given = {argument: said[argument] for argument in _ARGUMENTS if argument in said}
    terms = LifetimeTerms(
        name=name,
        tally=str(folder / said["tally"]),
        measure={"kind": said["measure"], **given},
        groups=dict(said["groups"]),
        max_groups=said.get("max_groups"),
        every=said.get("every", dataset.calendar.every),
        epsilon=said["epsilon"],
        delta=said["delta"],
        max_periods=said["max_periods"],
        pays=said.get("pays"),
        widest=_widest(said),
        analysts=tuple(said.get("analysts", ())),
        times=said["times"],
        most_a_month=said["most_a_month"],
    )
    with said.pointing():
        lifetime_plan(dataset, terms)
    return terms


def _widest(said: Section) -> tuple[float, float] | None:
    """Return the widest clip that an issue may ask, which holds that of the series."""
    if "widest" not in said:
        return None
    if said["measure"] != "sum" or "clip" not in said:
        raise said.wrong("widest", "left out: only a sum has another clip in an issue")
    with said.pointing():
        clip = check_clip(said["clip"])
    try:
        low, high = check_clip(said["widest"])
    except ValueError:
        raise said.wrong("widest", "two numbers, the lowest and the highest value of one person in a period") from None
    if low > clip[0] or high < clip[1]:
        raise said.wrong("widest", "at least as wide as clip: what an issue may ask beyond it takes more shares")
    return low, high
