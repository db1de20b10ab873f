"""How stored releases are shown: as lines of a list, whole, by their parts, and as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from chronodp.dataset import ReleaseTogether
from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_LISTED, ListedRelease, SignedLink, StoredRelease, numbers_in
from chronodp.privacy import text_kind
from chronodp.series import QuantileRelease, Release, View, describe, describe_quantiles, offered, open_release
from chronodp.service import shapes
from chronodp.service.presenting import moment, show_facts, who_asked

__all__ = ["Part", "find_keys", "open_part", "show_line", "show_release", "show_table"]

Part: TypeAlias = Release | QuantileRelease | View
"""What can be read of what is stored."""

_MOST_KEYS = 1000  # of a grouping that are listed; of more, some are searched for


def show_line(listed: ListedRelease) -> shapes.ReleaseLine:
    """Return a release as a line of a list."""
    return shapes.ReleaseLine(**_line(listed.dataset, listed.number, listed.request, listed.kind, listed.signed))


def show_release(dataset: str, stored: StoredRelease) -> shapes.ReleaseShape:
    """Return a release whole."""
    kind = text_kind(stored.text)
    line = _line(dataset, stored.number, stored.request, kind, stored.signed)
    parts = [_show_part(name, part) for name, part in _parts(stored)]
    facts: list[shapes.Fact] = []
    readings: list[str] = []
    keys: tuple[str, ...] | None = None
    if kind in ("release", "quantiles"):
        release, readings = _release(stored), parts[0].readings
        if isinstance(release, Release):
            facts = show_facts([*describe(release.design, release.design.delta), *release.beside])
            keys = release.keys
        else:
            facts = show_facts(describe_quantiles(release.design))
    return shapes.ReleaseShape(
        **line,
        release=stored.text,
        beside=sum(numbers.cells for numbers in numbers_in(stored.text)),
        link=stored.signed.to_dict(),
        facts=facts,
        readings=readings,
        parts=parts,
        keys=None if keys is None else list(keys),
    )


def _line(dataset: str, number: int, request: str, kind: str, signed: SignedLink) -> dict[str, Any]:
    said = signed.outline
    return {
        "number": number,
        "dataset": dataset,
        "request": request,
        "who": who_asked(request),
        "issued": moment(said.issued),
        "kind": kind or "text",
        "what": said.mechanism,
        "epsilon": said.epsilon,
        "delta": said.delta,
    }


def open_part(stored: StoredRelease, name: str | None, argument: str, *, level: float = 0.95) -> Part:
    """Return a release to be read from; of several queries released together, the one that is named."""
    if text_kind(stored.text) == "together":
        together = _together(stored)
        if name is None or name not in together.names:
            raise InvalidArgument(argument, name, f"one of {', '.join(together.names)}")
        return together.part(name, level=level)
    if name is not None:
        raise InvalidArgument(argument, name, "left out: this release has no parts")
    return _release(stored)


def find_keys(given: Part, column: str, text: str, limit: int) -> list[str]:
    """Return keys of a grouping, or of a level of places, that have a text in them; first those that begin so."""
    columns = _outline(given).key_columns
    if column not in columns:
        raise InvalidArgument("column", column, f"one of {', '.join(columns) or 'no groupings here'}")
    wanted = text.casefold()
    found = [key for key in columns[column] if wanted in key.casefold()]
    return sorted(found, key=lambda key: not key.casefold().startswith(wanted))[:limit]


def show_table(view: View) -> shapes.TableShape:
    """Return a view as plain rows; a number that is none is shown as nothing. Of a large one none are made."""
    if view.size > MOST_LISTED:
        allowed = f"csv or parquet above {MOST_LISTED:,} values; this table has {view.size:,}"
        raise InvalidArgument("format", "json", allowed)
    frame = view.to_pandas()
    rows = [[_cell(cell) for cell in row] for row in frame.itertuples(index=False, name=None)]
    return shapes.TableShape(
        title=view.title,
        label=view.label,
        level=view.level,
        note=view.note,
        steps=list(view.certificate.processing),
        columns=[str(name) for name in frame.columns],
        rows=rows,
    )


def _show_part(name: str, part: Part) -> shapes.PartShape:
    view = _outline(part)
    offers = offered(view)
    readings = ["each_period", *(reading for reading in ("rolling", "running_total", "resample") if reading in offers)]
    if _has_quantiles(part):
        readings.append("quantile")
    levels, columns = view.level_sizes, view.key_columns
    return shapes.PartShape(
        name=name,
        what=view.title,
        periods=len(view.periods),
        readings=readings,
        offers=list(offers),
        groups={
            column: list(keys) if len(keys) <= _MOST_KEYS else []
            for column, keys in columns.items()
            if column not in levels
        },
        levels=[shapes.LevelShape(name=level, places=places) for level, places in levels.items()],
    )


def _has_quantiles(part: Part) -> bool:
    """Return whether other quantiles are free: of histograms, and of quantiles that were read from one."""
    if isinstance(part, QuantileRelease):
        return not part.design.drawn
    return isinstance(part, Release) and bool(part.design.table.measure.bin_edges) and part.design.table.levels is None


def _parts(stored: StoredRelease) -> Iterator[tuple[str, Part]]:
    """Yield what can be read of a release, with its name: none of its own where it is alone."""
    kind = text_kind(stored.text)
    if kind in ("release", "quantiles"):
        yield "", _release(stored)
    if kind == "together":
        together = _together(stored)
        for name in together.names:
            if isinstance(part := together[name], Part):  # a spectrum is none
                yield name, part


def _outline(part: Part) -> View:
    """Return what can be asked, of a release without its numbers."""
    if isinstance(part, QuantileRelease):
        return part.each_period()
    return part if isinstance(part, View) else part.outline


def _release(stored: StoredRelease) -> Release | QuantileRelease:
    return open_release(stored.text, stored.signed, parts=stored.parts)


def _together(stored: StoredRelease) -> ReleaseTogether:
    return ReleaseTogether(stored.text, stored.signed, parts=stored.parts)


def _cell(cell: object) -> object:
    if isinstance(cell, float | np.floating):
        number = float(cell)
        return number if math.isfinite(number) else None
    if isinstance(cell, int | np.integer):
        return int(cell)
    isoformat = getattr(cell, "isoformat", None)
    return isoformat() if isoformat is not None else str(cell)
