"""Made-up rows with a dataset's public schema, to try a question on before it is paid for.

They are made from declarations alone: grid, keys, bounds. The same dataset gives the same rows, whatever its data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from chronodp.dataset import Records
from chronodp.ledger import BEGINNING, Keys, Link, digest, now, sign
from chronodp.randomness import secure
from chronodp.series import Plan, Release
from chronodp.service.policy import Dataset

__all__ = ["make_up", "rehearse"]

_PEOPLE = 200
_ROWS = 20_000


def make_up(dataset: Dataset) -> Any:
    """Return made-up rows as an Arrow table."""
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
        low, high = column.clip
        columns[name] = low + (high - low) * chance.beta(2.0, 5.0, len(chosen))
    for name, groups in dataset.groups.items():
        columns[name] = np.repeat(chance.choice(groups.keys, _PEOPLE), periods)
    return pyarrow.table(columns)


def rehearse(dataset: Dataset, plan: Plan) -> Release:
    """Return what a plan would release, had the table only made-up rows; paid by nobody and signed by nobody known."""
    records = Records(make_up(dataset), dataset.time, dataset.user)
    rehearsed = replace(plan, origin=records)
    entropy, keys = secure(), Keys.create()
    text = rehearsed.draw(rehearsed.read(key="", progress=lambda _: None), entropy)
    link = Link(
        dataset=f"made-up rows like {dataset.name}",
        number=1,
        previous=BEGINNING,
        request="a rehearsal",
        issued=now(),
        release=digest(text),
        refresh="never",
        certificate=rehearsed.certificate_for(seeded=entropy.seeded).after("made-up rows: nothing was read or spent"),
    )
    return Release(text, sign(link, keys))
