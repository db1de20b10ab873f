"""The page that lists the dossiers of a whole ledger."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from chronodp.dossier.facts import Facts
from chronodp.dossier.page.html import document, words
from chronodp.dossier.words import promise
from chronodp.privacy import counted

__all__ = ["render_shelf"]


def render_shelf(dossiers: Mapping[str, Facts]) -> str:
    """Return the page, by folder."""
    parts = [
        f'<article aria-labelledby="dossier-{place}">\n<h2 id="dossier-{place}"><a href="{quote(folder)}/index.html">'
        f"{words(facts.owner.name or facts.dataset)}</a></h2>\n"
        f'<p class="note">{words(facts.dataset)}: {counted(len(facts.published), "release")}</p>\n'
        f"<p>{words(promise(facts))}</p>\n</article>"
        for place, (folder, facts) in enumerate(dossiers.items(), start=1)
    ]
    top = '<header>\n<p class="kind">Dossiers of private releases</p>\n<h1>All datasets of a ledger</h1>\n</header>'
    return document("All datasets of a ledger", f"{top}\n<main>\n{chr(10).join(parts)}\n</main>")
