"""Made-up rows with a dataset's public schema, to try a question on before it is paid for.

They are made from declarations alone: grid, keys, bounds. The same dataset gives the same rows, whatever its data.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from chronodp.dataset import Records
from chronodp.engines import derived_as, expressions_of, parse_expression, texts_of
from chronodp.ledger import BEGINNING, Keys, Link, Staged, Written, digest, now, sign
from chronodp.privacy import Certificate
from chronodp.randomness import secure
from chronodp.series import DiscoverPlan, FindPlan, Plan, QuantilePlan, QuantileRelease, Release, Table, open_release
from chronodp.service.policy import Dataset

__all__ = ["make_up", "rehearse"]

_PEOPLE = 200
_ROWS = 20_000
_KEYS = 30


def make_up(dataset: Dataset, table: Table | None = None) -> Any:
    """Return made-up rows as an Arrow table, with whatever other columns the expressions of a question read."""
    import pyarrow

    chance = np.random.default_rng(20260101)  # made-up data only; noise comes from secure entropy
    calendar = dataset.calendar
    starts = calendar.edges[:-1]
    periods = min(len(starts), max(1, _ROWS // _PEOPLE))
    chosen = np.sort(chance.choice(starts, size=(_PEOPLE, periods), replace=True), axis=1).ravel()
    columns: dict[str, Any] = {dataset.time: pyarrow.array(chosen, pyarrow.timestamp("us", tz="UTC"))}
    if dataset.user is not None:
        columns[dataset.user] = np.repeat([f"dummy-{number}" for number in range(_PEOPLE)], periods)
    for name, column in dataset.columns.items():
        low, high = column.clips[calendar.every]
        columns[name] = low + (high - low) * chance.beta(2.0, 5.0, len(chosen))
    for name, groups in dataset.groups.items():
        columns[name] = np.repeat(chance.choice(groups.keys, _PEOPLE), periods)
    for name in _found_columns(columns, table):
        # Some that many people have, as those in whose keys one is interested, and some that few do.
        keys, weights = [f"{name} {number}" for number in range(1, _KEYS + 1)], 1.0 / np.arange(1, _KEYS + 1)
        columns[name] = chance.choice(keys, len(chosen), p=weights / weights.sum())
    for name, texts in _other_columns(columns, table).items():
        columns[name] = chance.choice([*texts, "other"], len(chosen)) if texts else chance.integers(0, 101, len(chosen))
    return pyarrow.table(columns)


def _found_columns(known: Collection[str], table: Table | None) -> list[str]:
    """Return the columns of the table whose keys are found."""
    if table is None:
        return []
    have, derived = {name.lower() for name in known}, table.periods.columns or ()
    found = [grouping.column for grouping in table.groupings if grouping.found]
    return [column for column in found if column.lower() not in have and not derived_as(derived, column)]


def _other_columns(known: Collection[str], table: Table | None) -> dict[str, tuple[str, ...]]:
    """Return the columns that only expressions read: with the texts of these where it is read as a text."""
    if table is None:
        return {}
    periods = table.periods
    groups = tuple(grouping.column for grouping in periods.groupings)
    read = expressions_of(periods.where, periods.columns or (), periods.measure.read_column, groups).cells
    written = [*([] if periods.where is None else [periods.where]), *(one.expression for one in periods.columns or ())]
    texts = tuple(text for one in written for text in texts_of(parse_expression("where", one)))
    have, found = {name.lower() for name in known}, dict[str, tuple[str, ...]]()
    for cell in read:
        if cell.column.lower() not in have and not found.get(cell.column):
            found[cell.column] = texts if cell.role == "name" else ()
    return found


def rehearse(dataset: Dataset, plan: Plan | FindPlan | DiscoverPlan | QuantilePlan) -> Release | QuantileRelease:
    """Return what a plan would release, had the table only made-up rows; paid by nobody and signed by nobody known."""
    records = Records(make_up(dataset, plan.design.table), dataset.time, dataset.user)
    keys = Keys.create()
    made, certificate = _made(plan, records)
    written = Written.of(made)
    link = Link(
        dataset=f"made-up rows like {dataset.name}",
        number=1,
        previous=BEGINNING,
        request="a rehearsal",
        issued=now(),
        release=digest(written.text),
        refresh="never",
        certificate=certificate.after("made-up rows: nothing was read or spent"),
    )
    return open_release(written.text, sign(link, keys), parts=written.parts)


def _made(plan: Plan | FindPlan | DiscoverPlan | QuantilePlan, records: Records) -> tuple[str | Written, Certificate]:
    """Return what a plan releases of these records, with the choices that come before it, if there are any."""
    entropy, key = secure(), ""
    match plan:
        case Plan():
            made = replace(plan, origin=records)
            exact = made.read(key=key, progress=_silent)
            return made.draw(exact, entropy), made.certificate_for(seeded=entropy.seeded)
        case QuantilePlan():
            quantiles = replace(plan, origin=records)
            counts = quantiles.read(key=key, progress=_silent)
            return quantiles.draw(counts, entropy), quantiles.certificate_for(seeded=entropy.seeded)
        case FindPlan():
            finds = replace(plan, origin=records)
            sizes = finds.read(key=key, progress=_silent)
            return _staged(finds.making(sizes, entropy, key=key, progress=_silent))
        case DiscoverPlan():
            discovers = replace(plan, origin=records)
            held = discovers.read(key=key, progress=_silent)
            return _staged(discovers.making(held, entropy, key=key, progress=_silent))


def _staged(staged: Staged) -> tuple[str | Written, Certificate]:
    chosen: tuple[str, ...] = ()
    for prepare in staged.choices:
        chosen = (*chosen, prepare(chosen)())
    return staged.release(chosen)()


def _silent(_: float) -> None:
    """Tell nobody how far it is."""
