"""Small pieces of HTML: text stays text, tables and lists look the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from string import Template

from chronodp.display import shown_lines
from chronodp.report import house_style

__all__ = ["cards", "document", "folded", "listing", "paragraph", "section", "table", "words"]

# No script runs on the page at all, and nothing is loaded; pictures are parts of the page itself.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, body: str) -> str:
    """Return a whole page around its body, which is HTML."""
    return Template(_asset("page.html")).substitute(
        policy=_POLICY, style=f"{house_style()}\n{_asset('page.css')}", title=words(title), body=body
    )


def words(text: object) -> str:
    """Return a text as HTML: never markup, and no sign that is not seen."""
    return escape(shown_lines(text))


def section(name: str, heading: str, *parts: str) -> str:
    """Return a section with a heading of its own."""
    inner = "\n".join(filter(None, parts))
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{words(heading)}</h2>\n{inner}\n</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; with ``kind`` one that the style sheet knows."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{words(text)}</p>"


def listing(items: Iterable[str]) -> str:
    """Return a list of texts; nothing for none."""
    lines = "".join(f"<li>{words(item)}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def cards(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels with their texts, side by side where there is room."""
    inner = "\n".join(f"<div><dt>{words(label)}</dt><dd>{words(text)}</dd></div>" for label, text in rows)
    return f'<dl class="facts">\n{inner}\n</dl>'


def table(name: str, caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, most: int) -> str:
    """Return a table in a frame that scrolls; of very many rows the first, and its caption says so."""
    kept = list(islice(rows, most + 1))
    body = [
        "<tr>" + "".join(f"<td{_kind(cell)}>{words(_cell(cell))}</td>" for cell in row) + "</tr>" for row in kept[:most]
    ]
    first = kept[0] if kept else [""] * len(columns)
    named = zip(columns, first, strict=True)
    head = "".join(f'<th scope="col"{_kind(cell)}>{words(column)}</th>' for column, cell in named)
    told = f"{caption}: the first {most:,} rows" if len(kept) > most else caption
    frame = f'<div class="scroll" tabindex="0" role="region" aria-label="{words(name)}">'
    return (
        f'<p class="note">{words(told)}.</p>\n{frame}<table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(body)}\n</tbody></table></div>"
    )


def folded(summary: str, inner: str) -> str:
    """Return what is shown when it is asked for; a printed page shows it all."""
    return f"<details><summary>{words(summary)}</summary>\n{inner}\n</details>"


def _kind(cell: object) -> str:
    return ' class="number"' if isinstance(cell, int | float) else ""


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return "–" if math.isnan(cell) else f"{cell:,.6g}"
    return str(cell)


def _asset(name: str) -> str:
    return files("chronodp.dossier.page").joinpath(name).read_text(encoding="utf-8")
