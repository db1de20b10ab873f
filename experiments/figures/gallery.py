"""The two galleries of the documentation: what the papers show, and what we find."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.claims.sources import SOURCES
from experiments.figures.figure import Figure
from experiments.figures.writing import Gallery, file_name

__all__ = ["GALLERIES", "gallery_page"]

GALLERIES: dict[Gallery, str] = {"paper": "figures-of-the-papers.md", "found": "figures-found.md"}

_HEADS: dict[Gallery, str] = {
    "paper": """# Figures of the papers

What the papers' own formulas give over the whole range of each figure, computed with chronodp; open markers and thin
lines are what their text states, with the [claim's id](verdicts.md). Beside it stands [what we
find](figures-found.md). Drawn by `python -m experiments --figures`, which also makes pages that can be asked for each
point.
""",
    "found": """# Figures of what we find

The same figures with exact leakage, measured costs and the ways that hold, beside [what the papers' formulas
give](figures-of-the-papers.md). Drawn by `python -m experiments --figures`, which also makes pages that can be asked
for each point.
""",
}


def gallery_page(figures: Sequence[Figure], gallery: Gallery, *, pictures: str) -> str:
    """Return one gallery as Markdown."""
    parts = [_HEADS[gallery]]
    for source in SOURCES.values():
        own = [figure for figure in figures if figure.source == source.key and _panels(figure, gallery)]
        if own:
            parts.append(f"## {source.title}\n")
        for figure in own:
            caption = figure.paper_caption if gallery == "paper" else figure.found_caption
            data = "" if figure.data == "none" else f" Data: {figure.data}."
            table = file_name(figure, gallery, "csv")
            parts.append(
                f"### {figure.title}\n\n![{figure.title}]({pictures}/{file_name(figure, gallery, 'svg')})\n\n"
                f"{caption}{data} [Every point]({pictures}/{table}).\n"
            )
    return "\n".join(parts)


def _panels(figure: Figure, gallery: Gallery) -> int:
    return sum(panel.gallery == gallery for panel in figure.panels)
