"""A policy in plain sentences: what may be asked of a dataset, and what it costs at most."""

from __future__ import annotations

from collections.abc import Iterator

from chronodp.errors import InvalidArgument
from chronodp.privacy import counted, words_of
from chronodp.service.policy import EXPRESSION_FUNCTIONS, MEASURES, WORKLOADS, Dataset

__all__ = ["policy_words"]


def policy_words(dataset: Dataset) -> list[str]:
    """Return what a dataset's policy means, each part a sentence; nothing in them is private."""
    parts = (_whom, _budget, _price, _questions, _limits, _usual, _groups, _expressions, _private_steps)
    return [sentence for part in parts for sentence in part(dataset)]


def _whom(dataset: Dataset) -> Iterator[str]:
    yield f"It protects {dataset.unit.on(dataset.calendar)}: {dataset.unit.protects}."
    yield f"It does not protect {dataset.unit.does_not_protect}."
    if dataset.other_people:
        yield "The owner says that it is about other people than any dataset that reads the same files."


def _budget(dataset: Dataset) -> Iterator[str]:
    renewed = f", anew every {dataset.renews} for data of that time" if dataset.renews else ", for ever"
    yield f"All answers together cost at most {_terms(dataset.epsilon, dataset.delta)}{renewed}."
    if dataset.reserve:
        yield f"Of that delta {dataset.reserve:g} is kept for failures, which finding keys needs."
    if not dataset.analysts:
        yield "Nobody but the owner may ask."
    for name, part in dataset.analysts.items():
        yield f"{name} may spend at most {_terms(part.epsilon, part.delta)} of it."
    seen = "see each other's releases, and get them again for nothing" if dataset.share else "see their own releases"
    yield f"Analysts {seen}."


def _price(dataset: Dataset) -> Iterator[str]:
    allowed = dataset.allowed
    at = f", counted at the dataset's delta of {dataset.delta:g}" if dataset.delta else ""
    if allowed.epsilon is None:
        yield "One release may cost all that is left."
    else:
        yield f"One release may cost at most epsilon {allowed.epsilon:g}{at}, whatever delta it states."
    yield f"No release states a delta above {allowed.delta:g}." if allowed.delta else "No release states a delta."
    yield f"One release has at most {allowed.cells:,} numbers."
    yield "Whatever is read from a release afterwards is free: longer periods, totals, shares, leaving unreliable out."


def _questions(dataset: Dataset) -> Iterator[str]:
    allowed = dataset.allowed
    yield f"It may be asked for {_listed(allowed.measures, MEASURES)} in periods of {_and(allowed.grids)}."
    yield f"Noise may be tuned for {_listed(allowed.workloads, WORKLOADS)}."


def _limits(dataset: Dataset) -> Iterator[str]:
    for name, column in dataset.columns.items():
        clips = _and([f"{low:g} to {high:g} in {every}" for every, (low, high) in column.clips.items()])
        yield f"Of each person {name} counts within {clips} at most."
        without = [every for every in dataset.allowed.grids if column.clip_of(every) is None]
        if without:
            yield f"Totals of {name} in periods of {_and(without)} are refused: no clip is declared of these."
        if column.norms:
            norms = _and([f"{norm:g} in periods of {every}" for every, norm in column.norms.items()])
            yield f"The l2 norm of one person's series of {name} may be at most {norms}."
    most = [
        (every, limit, every in dataset.max_periods)
        for every in dict.fromkeys((dataset.calendar.every, *dataset.allowed.grids))
        if (limit := _most(dataset, every)) is not None
    ]
    if most:
        said = _or([_some(limit, every) for every, limit, _ in most])
        yield f"At most {said} of each person count, unless a question says otherwise."
    turned = [every for every, _, declared in most if not declared]
    if turned:
        own = dataset.calendar.every
        yield (
            f"Those of {_and(turned)} are as many as {counted(dataset.max_periods[own], 'period')} of {own} on end can "
            "touch."
        )


def _usual(dataset: Dataset) -> Iterator[str]:
    for name, column in dataset.columns.items():
        if column.usual:
            usual = _and([f"{value:g} in {every}" for every, value in column.usual.items()])
            yield f"One person usually has {usual} of {name}: a clip that cuts this off is refused."
    if dataset.usual_periods:
        usual = _and([f"{periods:,} of {every}" for every, periods in dataset.usual_periods.items()])
        yield f"One person usually has {usual}: fewer periods are refused."


def _groups(dataset: Dataset) -> Iterator[str]:
    allowed = dataset.allowed
    for name, groups in dataset.groups.items():
        yield f"Answers may be split by {name}, which has {counted(len(groups.keys), 'public key')}."
    if dataset.groups:
        levels = "may" if allowed.places else "may not"
        yield f"A public tree of places {levels} be asked with all of its levels."
    if allowed.max_groups is not None:
        yield f"One person may count in at most {allowed.max_groups:,} groups of a period."
    if allowed.least_group:
        yield f"Groups of fewer than {allowed.least_group:,} people are refused, by declared sizes and never by data."


def _expressions(dataset: Dataset) -> Iterator[str]:
    allowed = dataset.allowed
    if not allowed.expression_columns:
        yield "Filters and computed columns are not allowed here."
        return
    rows = "Columns may be made" if allowed.least_group else "Rows may be chosen, and columns made,"
    calls = _listed(allowed.expression_functions, EXPRESSION_FUNCTIONS) if allowed.expression_functions else "nothing"
    yield f"{rows} by expressions over {_and(allowed.expression_columns)}, which may call {calls}."


def _private_steps(dataset: Dataset) -> Iterator[str]:
    allowed = dataset.allowed
    if allowed.find:
        yield f"A private step may find {_and(allowed.find)}, as a part of the price; a clip within the widest."
    else:
        yield "Bounds are given, and not found by a private step."
    if allowed.discover is None:
        yield "Keys are those declared, and not found by a private step."
    else:
        yield (
            f"A private step may find and publish keys of {_and(allowed.discover.columns)} that enough people hold, of "
            f"at most {allowed.discover.longest:,} bytes; of one person {allowed.discover.max_keys:,} count at most."
        )
    may = "may be asked, within the same price" if allowed.missing else "may not be asked"
    yield f"The private figure of what the limits removed {may}."


def _most(dataset: Dataset, every: str) -> int | None:
    try:
        return dataset.most_periods(every)
    except InvalidArgument:  # no whole period of this length lies in the dataset: a question has dates of its own
        return None


def _terms(epsilon: float, delta: float) -> str:
    return f"epsilon {epsilon:g} with delta {delta:g}" if delta else f"epsilon {epsilon:g}"


def _listed(some: tuple[str, ...], known: tuple[str, ...]) -> str:
    return _and([name.replace("_", " ") for name in known if name in some])


def _some(periods: int, every: str) -> str:
    return words_of(every, periods) if periods > 1 else f"1 {words_of(every)}"


def _or(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _and(parts: list[str] | tuple[str, ...]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
