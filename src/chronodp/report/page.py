"""A release as one page: a single HTML file that needs no network and tells its promise before its numbers."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any

from chronodp.display import shown, shown_lines
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_path
from chronodp.report.tables import Column, comma_separated, covered, readable_column

__all__ = ["Page", "house_style", "render", "write_page"]

_SHOWN = 2_000
_PRINTED = 40  # as the style sheet says


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """What a page says.

    Attributes:
        title: what was released.
        promise: the guarantee in plain words, in a sentence or two.
        facts: a label and a text each: unit, error, grid, cost.
        certificate: the certificate's text, line by line.
        columns: the names of the table's columns.
        rows: the released table: time, groups, value, lower and upper bound.
        figure: a plotly figure of it, as ``series_figure`` makes.
        warning: shown first and loudly, as for a seeded test run.
        kind: what sort of page it is, above the title.
        caption: what the chart's lines are.
        details: the heading of the certificate.
        left_out: what the table does not hold and where that is; nothing where it holds all.
    """

    title: str
    promise: str
    facts: tuple[tuple[str, str], ...]
    certificate: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    figure: Any
    warning: str = ""
    kind: str = "Released with differential privacy"
    caption: str = "Each line shows released values, and the band around it reaches from the lower to the upper bound."
    details: str = "Certificate"
    left_out: str = ""

    def __post_init__(self) -> None:
        if not callable(getattr(self.figure, "to_json", None)):
            raise InvalidArgument("figure", self.figure, "a plotly figure, as series_figure makes")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InvalidArgument(
                    "rows", len(row), f"as long as there are columns, {len(self.columns)}, in row {number}"
                )


def write_page(page: Page, path: str | Path) -> Path:
    """Write the page to a file, whole or not at all, and return where it stands."""
    target = check_path(path, "a file in a folder that may be written to, as a text or a Path")
    content = render(page).encode("utf-8", "replace")
    try:
        _replace(target, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument("path", str(path), f"a file in a folder that may be written to ({reason})") from error
    return target


def render(page: Page) -> str:
    """Return the page as HTML that stands alone: text as text, the chart drawn by a script it carries along."""
    from plotly.offline import get_plotlyjs

    plotly, script = get_plotlyjs(), _asset("page.js")
    title = unescape(page.figure.layout.title.text or "")
    columns = [readable_column(row[index] for row in islice(page.rows, _SHOWN)) for index in range(len(page.columns))]
    return Template(_asset("page.html")).substitute(
        policy=_policy(plotly, script, draws_by_shader=any(trace.type.endswith("gl") for trace in page.figure.data)),
        style=f"{house_style()}\n{_asset('page.css')}",
        kind=_html(page.kind),
        caption=_html(page.caption),
        details=_html(page.details),
        title=_html(page.title),
        warning=f'<aside class="warning"><strong>Warning</strong> {_html(page.warning)}</aside>'
        if page.warning
        else "",
        promise=_html(page.promise),
        chart_title=_html(title if title not in {"", shown(page.title)} else "Chart"),
        chart_label=_html(f"Line chart of {title or page.title}; the table below holds the same numbers"),
        facts=_facts(page.facts),
        file_name=_html(_file_name(page.title)),
        row_note=_row_note(len(page.rows), page.left_out),
        download="Download these rows as CSV" if page.left_out else "Download all as CSV",
        head="".join(map(_heading, page.columns, columns)),
        body="\n".join(_table_rows(columns)),
        certificate=_html(page.certificate),
        figure=_quoted(page.figure.to_json()),
        csv=_quoted(json.dumps(_whole_csv(page))),
        plotly=plotly,
        script=script,
    )


def _whole_csv(page: Page) -> str:
    """Return the table as CSV, with what its bands cover."""
    said = covered(page.columns)
    return comma_separated((*page.columns, *said), ((*row, *said.values()) for row in page.rows))


def _html(text: str) -> str:
    """Return a text of a page: never markup, and no sign that is not seen."""
    return escape(shown_lines(text))


def house_style() -> str:
    """Return the style sheet that all our pages share: colours, type, buttons and tables."""
    return _asset("house.css")


def _replace(target: Path, content: bytes) -> None:
    # Beside the target, so that the last step is a renaming; a name of its own, so that two writers do not mix.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _asset(name: str) -> str:
    return files("chronodp.report").joinpath(name).read_text(encoding="utf-8")


def _policy(*scripts: str, draws_by_shader: bool) -> str:
    """Return the rules the browser holds the page to: these scripts and no other, and no connection at all."""
    allowed = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
    if draws_by_shader:
        allowed.append("'unsafe-eval'")  # plotly compiles its shader programs to functions; nothing else needs it
    # Plotly styles its elements one by one, and passes images through data and blob addresses.
    rules = ("default-src 'none'", f"script-src {' '.join(allowed)}", "style-src 'unsafe-inline'")
    return "; ".join([*rules, "img-src data: blob:", "base-uri 'none'", "form-action 'none'"])


def _quoted(document: str) -> str:
    """Return JSON that can stand in a script element: what could end it, or a line, is escaped."""
    return document.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    if not facts:
        return ""
    cards = "\n".join(f"<div><dt>{_html(label)}</dt><dd>{_html(text)}</dd></div>" for label, text in facts)
    heading = '<h2 id="facts-title">At a glance</h2>'
    return f'<section aria-labelledby="facts-title">\n{heading}\n<dl class="facts">\n{cards}\n</dl>\n</section>'


def _file_name(title: str) -> str:
    return f"{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')[:60] or 'release'}.csv"


def _row_note(count: int, left_out: str) -> str:
    told = f"{count:,} rows" if count != 1 else "1 row"
    if count > _SHOWN:
        told = f"The first {_SHOWN:,} of {count:,} rows; the CSV has the other {count - _SHOWN:,} too"
    printed = f'<span class="print"> On paper: the first {_PRINTED}.</span>' if count > _PRINTED else ""
    more = f" {_html(left_out)}." if left_out else ""
    return f"{told}.{more}{printed}"


def _heading(name: str, column: Column) -> str:
    note = f" <small>{_html(column.note)}</small>" if column.note else ""
    return f'<th scope="col"{_alignment(column)}>{_html(name)}{note}</th>'


def _table_rows(columns: Sequence[Column]) -> Iterator[str]:
    for cells in zip(*(column.cells for column in columns), strict=True):
        tags = (f"<td{_alignment(column)}>{_html(cell)}</td>" for cell, column in zip(cells, columns, strict=True))
        yield f"<tr>{''.join(tags)}</tr>"


def _alignment(column: Column) -> str:
    return ' class="number"' if column.numeric else ""
