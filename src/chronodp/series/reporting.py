"""A view as one page that opens anywhere with the network off, and as what a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.display import facts_html, scrolled, shown, shown_html
from chronodp.privacy import Certificate
from chronodp.report import Page, small_chart, write_page

if TYPE_CHECKING:
    import pandas

__all__ = ["MOST_ON_PAGE", "Drawn", "notebook_view", "report_view"]

MOST_ON_PAGE = 100_000
"""Rows that a page holds, its CSV with it: about 10 MB."""

_SHOWN = 10  # rows of a table in a notebook, from both ends


class Reported(Protocol):
    """What a page shows: a table, a figure, what its bands cover, and the certificate."""

    @property
    def certificate(self) -> Certificate:
        """Of what is shown."""
        ...

    @property
    def drawn_note(self) -> str:
        """What bands cover, beside a chart."""
        ...

    @property
    def banded(self) -> bool:
        """Whether values have intervals."""
        ...

    @property
    def left_out(self) -> str:
        """Which places are not in the table, in words."""
        ...

    @property
    def size(self) -> int:
        """How many rows the table has."""
        ...

    def uppermost(self, most: int) -> Reported:
        """Return the uppermost levels of places that fit a table of so many rows."""
        ...

    def first_rows(self, most: int) -> pandas.DataFrame:
        """Return the first rows of the table."""
        ...

    def plot(self) -> Any:
        """Return the figure."""
        ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """The line that a notebook shows: its name, its values with both ends of the band, and whether there are others."""

    name: str
    ends: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    several: bool


def notebook_view(
    frame: pandas.DataFrame,
    *,
    title: str,
    note: str,
    facts: Sequence[tuple[str, str]],
    certificate: Certificate,
    line: Drawn | None = None,
) -> str:
    """Return HTML for a notebook: what was released, a line of it, a part of the table, errors, the guarantee."""
    said = [("Bands" if "lower" in frame.columns else "Errors", note), *facts]
    for suffix, only in (("all", ""), ("if_even", ", if they removed evenly over periods and groups")):
        if f"value_{suffix}" in frame.columns:
            about = f"the number without limits{only}, with lower_{suffix} and upper_{suffix}"
            said.insert(1, (f"value_{suffix}", about))
    said.append(("Guarantee", f"{certificate.guarantee}"))
    warning = str(certificate).splitlines()[0] if certificate.seeded else ""
    loud = f"<p><strong>{shown_html(warning)}</strong></p>" if warning else ""
    chart = "" if line is None else f"<figure>{small_chart(*line.ends, name=line.name)}{_caption(line)}</figure>"
    # Keys are texts that people wrote: pandas escapes them, as everything here is.
    frame = frame.rename(columns=shown)
    texts = {name: shown for name in frame.columns if frame[name].dtype.kind == "O"}
    table = frame.to_html(max_rows=_SHOWN, index=False, escape=True, border=0, formatters=texts)
    return f"<div>{loud}<p>{shown_html(title)}</p>{chart}{scrolled(table)}{facts_html(said)}</div>"


def _caption(line: Drawn) -> str:
    return f"<figcaption>{shown_html(line.name)}</figcaption>" if line.several else ""


def report_view(view: Reported, path: str | Path, *, title: str, facts: Sequence[tuple[str, str]] = ()) -> Path:
    """Write the page: numbers, guarantee in words, certificate, table."""
    view = view.uppermost(MOST_ON_PAGE)
    frame, certificate = view.first_rows(MOST_ON_PAGE), view.certificate
    guarantee = certificate.guarantee
    lines = f"Each line shows released values{' in its band' if view.banded else ''}. " if len(frame) else ""
    page = Page(
        title=title,
        promise=f"This release is {guarantee}. It protects {guarantee.unit.protects}. It does not protect "
        f"{guarantee.unit.does_not_protect}.",
        facts=tuple(facts),
        certificate=str(certificate),
        warning=str(certificate).splitlines()[0] if certificate.seeded else "",
        caption=f"{lines}{view.drawn_note}.",
        columns=tuple(frame.columns),
        rows=list(frame.itertuples(index=False, name=None)),
        figure=view.plot(),
        left_out=_left_out(view, len(frame)),
    )
    return write_page(page, path)


def _left_out(view: Reported, rows: int) -> str:
    """Say what the page does not hold, and where it is."""
    said = [f"This page has {view.left_out}"] if view.left_out else []
    if rows < view.size:
        said.append(
            f"It has the first {rows:,} of {view.size:,} rows"
            if said
            else f"This page has the first {rows:,} of {view.size:,} rows"
        )
    if not said:
        return ""
    return (
        f"{'. '.join(said)}. The rest is in the release itself: to_arrow, or chronodp read with --out as CSV or Parquet"
    )
