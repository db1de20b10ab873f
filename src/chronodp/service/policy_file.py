"""A policy as a TOML file; whatever is wrong in it is told with its line and the mend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chronodp.engines import Reading
from chronodp.ledger import Budget
from chronodp.reading import check_path, read_text
from chronodp.series import Discover
from chronodp.service.made_once import budget_of, calendar_of, check_countable
from chronodp.service.policy import Allotment, Allowed, Column, Dataset, Discoverable, Policy, RunLimits
from chronodp.service.policy_keys import POLICY
from chronodp.service.shared_files import Look, by_name, check_files, on_disk
from chronodp.settings import Section, parse_settings

__all__ = ["parse_policy", "read_policy"]

_NAME = "a name of 1 to 80 letters, digits, dots, hyphens or underscores"
_EXTRA = set("._-")


def read_policy(path: str | Path) -> Policy:
    """Return the policy in a file. Sources are looked for beside the file; what they hold is read by releases alone."""
    file = check_path("policy", path)
    return _policy(parse_settings("policy", str(file), read_text("policy", file), POLICY), file.parent, on_disk)


def parse_policy(text: str, *, folder: Path) -> Policy:
    """Return the policy in a text, as if it were the file policy.toml of a folder.

    The text alone is looked at: no path in it is looked up, so the answer tells nothing of files on the machine.
    """
    return _policy(parse_settings("policy", "policy.toml", text, POLICY), folder, by_name)


def _policy(said: Section, folder: Path, look: Look) -> Policy:
    parts: Section = said["datasets"]
    datasets = {name: _dataset(name, part, folder) for name, part in parts.items()}
    check_files(datasets, parts, look=look)
    warnings = [warning for name, one in datasets.items() for warning in _warnings(parts[name], one)]
    return Policy(datasets, RunLimits(**said["service"]), tuple(warnings))


def _dataset(name: str, part: Section, folder: Path) -> Dataset:
    _check_name(part, name)
    if part.get("reserve") and part["reserve"] >= part["delta"]:
        raise part.wrong("reserve", "below delta, of which it is a part")
    with part.pointing():
        calendar = calendar_of(part["every"], part["start"], part["end"], part["timezone"])
        budget = budget_of(part["unit"], part["epsilon"], part["delta"], part.get("reserve"), part.get("renews"))
    analysts = {who: _allotment(who, one, budget) for who, one in part["analysts"].items()}
    with part["reading"].pointing():
        reading = Reading(**part["reading"])
    lengths = _lengths(part)
    with part.pointing():
        dataset = Dataset(
            name=name,
            source=str(folder / part["source"]),
            about=part["about"],
            time=part["time"],
            user=part.get("user"),
            calendar=calendar,
            unit=part["unit"],
            max_periods=_by_length(part, "max_periods", lengths, own=True),
            usual_periods=_by_length(part, "usual_periods", lengths),
            people=part["people"],
            columns={column: _column(one, lengths) for column, one in part["columns"].items()},
            groups=dict(part["groups"]),
            allowed=_allowed(part),
            epsilon=part["epsilon"],
            delta=part["delta"],
            renews=part.get("renews"),
            analysts=analysts,
            share=part["share"],
            reading=reading,
            reserve=part.get("reserve"),
            other_people=part["other_people"],
        )
        most = dataset.max_periods.get(calendar.every)
        if most is None or type(most) is int:  # else refused below, in words of its own
            check_countable(calendar, dataset.time, dataset.user, dataset.unit, most, reading)
    _check_periods(part, dataset)
    _check_sizes(part, dataset)
    return dataset


def _allowed(part: Section) -> Allowed:
    said = {"epsilon": None, "delta": part["delta"], "grids": (part["every"],), **part["allow"]}
    if said["delta"] > part["delta"]:
        raise part["allow"].wrong("delta", "at most that of the dataset: in it all releases are counted")
    return Allowed(**{**said, "discover": _discoverable(part)})


def _column(said: Section, lengths: Sequence[str]) -> Column:
    """Return what is declared of a column, by length of a period."""
    clips, usual = _by_length(said, "clip", lengths, own=True), _by_length(said, "usual", lengths)
    for every, value in usual.items():
        low, high = clips.get(every, (value, value))
        if not low <= value <= high:
            raise said.wrong("usual", f"within the widest clip of the same length, {low:g} to {high:g} in {every}")
    return Column(clips, said["about"], _by_length(said, "norm", lengths), usual)


def _lengths(part: Section) -> tuple[str, ...]:
    """Return the lengths of periods that are offered, the dataset's own first."""
    return tuple(dict.fromkeys((part["every"], *part["allow"].get("grids", ()))))


def _by_length(said: Section, key: str, lengths: Sequence[str], *, own: bool = False) -> dict[str, Any]:
    """Return what a key holds by length of a period; one value is of the dataset's own length."""
    if key not in said:
        return {}
    found = {every or lengths[0]: value for every, value in said[key].items()}
    unknown = [every for every in found if every not in lengths]
    if unknown:
        raise (
            said.place.below(key)
            .below(unknown[0])
            .wrong(unknown[0], f"of a length that is offered: {', '.join(lengths)}")
        )
    if own and lengths[0] not in found:
        raise said.wrong(key, f"given for {lengths[0]} too, the dataset's own length of a period")
    return found


def _check_periods(part: Section, dataset: Dataset) -> None:
    """Raise unless limits of periods are whole numbers, not below what the owner says is usual."""
    for every, most in dataset.max_periods.items():
        if type(most) is not int or most < 1:
            raise part.place.below("max_periods").below(every).wrong(most, "a whole number of at least 1")
    for every, usual in dataset.usual_periods.items():
        limit = dataset.most_periods(every)
        if limit is not None and usual > limit:
            raise part.wrong("usual_periods", f"at most max_periods, which is {limit:,} of {every}")


def _warnings(part: Section, dataset: Dataset) -> Iterator[str]:
    """Yield what the owner may not have meant, with its line."""
    for name, column in dataset.columns.items():
        without = [every for every in dataset.allowed.grids if column.clip_of(every) is None]
        if without:
            own = dataset.calendar.every
            low, high = column.clips[own]
            wanted = ", ".join(f"{every} = [..., ...]" for every in without)
            yield (
                f"{part['columns'][name].place.below('clip')} is of periods of {own}: in periods of "
                f"{' and '.join(without)} totals of {name} are refused until their own clip is declared, "
                f"clip = {{ {own} = [{low:g}, {high:g}], {wanted} }}"
            )


def _allotment(name: str, part: Section, whole: Budget) -> Allotment:
    _check_name(part, name)
    delta = part.get("delta", whole.delta)
    # Of their own delta they keep the part that the whole keeps, unless it is said.
    kept = (whole.reserve or 0.0) * (delta / whole.delta if whole.delta else 0.0)
    allotment = Allotment(part["epsilon"], delta, part.get("reserve", kept or None))
    with part.pointing():
        budget_of(whole.unit, allotment.epsilon, allotment.delta, allotment.reserve)
    return allotment


def _discoverable(part: Section) -> Discoverable | None:
    """Return which keys may be found; the budget must be able to pay for it."""
    said = part["allow"].get("discover")
    if said is None:
        return None
    if any(column.lower() == str(part.get("user")).lower() for column in said["columns"]):
        raise said.place.below("columns").wrong(list(said["columns"]), "columns other than that of the person")
    if part["allow"]["least_group"]:
        raise said.place.wrong(dict(said), "left out beside least_group: no size is declared of keys that are found")
    if not part.get("reserve"):
        allowed = "given where keys may be found, such as 0.4 of delta: it pays for a key of one person that is told"
        raise part.place.below("reserve").wrong(part.get("reserve"), allowed)
    with said.pointing():
        checked = Discover(**{name: said[name] for name in ("longest", "max_keys") if name in said})
    return Discoverable(said["columns"], checked.longest, checked.max_keys or Discoverable(()).max_keys)


def _check_sizes(part: Section, dataset: Dataset) -> None:
    if not dataset.allowed.least_group:
        return
    if dataset.groups and not dataset.people:
        raise part.place.below("people").wrong(None, "given: least_group compares publicly declared numbers of people")
    for column, groups in dataset.groups.items():
        if not groups.people:
            place = part["groups"].place.below(column)
            raise place.wrong(list(groups.keys), "keys with how many people each has, since least_group is set")


def _check_name(part: Section, name: str) -> None:
    if not 1 <= len(name) <= 80 or not all(letter.isalnum() or letter in _EXTRA for letter in name):
        raise part.place.wrong(name, _NAME)
