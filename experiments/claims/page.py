"""The page of verdicts, made from findings: what the sources say apart from what we add."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from experiments.claims.claim import Finding
from experiments.claims.datasets import KNOWN
from experiments.claims.sources import SOURCES

__all__ = ["as_dict", "page", "row"]

_HEAD = """# What the sources say, and what we find

Made by `make figures`; nothing on this page is written by hand. A claim is data: its place, what is
stated, and how far a value may lie from it by the source's own way of saying it. Its readings are computations with
chronodp; the first is the source's own definition, others say what they take differently. The verdict follows from
both by a rule. [Which computation decides which verdict](verdict-coverage.md) is tested by breaking each in turn.

- **holds**: the first reading agrees. **Holds, not tight**: a bound that nothing we tried attains.
- **holds only: …**: the first reading does not agree, the named one does.
- **false**: no reading agrees; the row shows what was found, and where.
- **reproduced at our parameters**: the source states a formula, and the numbers put into it are ours.
- **needs real data; on …**: judged on a series that stands in for the source's, or that is made up. Only order and
  shape are judged there.
- **not checkable**: nothing can be computed; the row says why.

The figures: [what the papers show](figures-of-the-papers.md), [what we find](figures-found.md).
"""

_DATA = """## Data

The repository holds no series of others. `python -m experiments --data folder` looks for these by the hash of their
content, and `--data role=file` takes any file in their place; without one a row is judged on a made-up series, and
says so.

| role | what | counts as | SHA-256 of the content |
| --- | --- | --- | --- |
"""


def page(findings: Sequence[Finding]) -> str:
    """Return the page."""
    said = [finding for finding in findings if finding.claim.origin == "source"]
    ours = [finding for finding in findings if finding.claim.origin == "ours"]
    parts = [_HEAD, _counted(said)]
    for source in SOURCES.values():
        rows = [row(finding) for finding in said if finding.claim.source == source.key]
        if rows:
            head = ["| claim, in our words | the source says | we find | verdict |", "| --- | --- | --- | --- |"]
            parts += [f"## {source.title}", "\n".join([*head, *rows]) + "\n"]
    head = ["| row | we expect | we find | verdict |", "| --- | --- | --- | --- |"]
    parts += ["## What we add", "No source says these; they stand beside what one says.\n"]
    parts += ["\n".join([*head, *(row(finding) for finding in ours)]) + "\n"]
    known = [f"| `{one.role}` | {one.what} | {one.mark} | `{one.sha256[:16]}…` |" for one in KNOWN]
    parts += [_DATA + "\n".join(known) + "\n"]
    return "\n".join(parts)


def row(finding: Finding) -> str:
    """Return a finding as a line of a table."""
    claim = finding.claim
    said = f"**{claim.id}** {claim.place}<br>{claim.says}" if claim.place else f"**{claim.id}** {claim.says}"
    taken = [_after_colon(text) for text in (claim.parameters, claim.data) if ":" in text]
    found = finding.shown + (f" [{'; '.join(taken)}]" if taken else "") + (f". {claim.note}" if claim.note else "")
    return "| " + " | ".join(map(_cell, (said, claim.statement, found, f"**{finding.verdict}**"))) + " |"


def as_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding for ``--json``."""
    claim = finding.claim
    return {
        "id": claim.id,
        "source": claim.source,
        "place": claim.place,
        "says": claim.says,
        "stated": claim.statement,
        "found": finding.shown,
        "verdict": finding.verdict,
        "origin": claim.origin,
        "parameters": claim.parameters,
        "data": claim.data,
        "computations": sorted(finding.computations),
    }


def _counted(findings: Sequence[Finding]) -> str:
    words = ("holds", "holds, not tight", "holds only", "false", "not checkable")
    lines = [f"| source | claims | {' | '.join(words)} |", "| --- " * (len(words) + 2) + "|"]
    for source in SOURCES.values():
        own = Counter(finding.word.partition(":")[0] for finding in findings if finding.claim.source == source.key)
        if own:
            lines.append(f"| {source.title} | {own.total()} | {' | '.join(str(own[word]) for word in words)} |")
    return "\n".join(lines) + "\n"


def _after_colon(text: str) -> str:
    head, _, rest = text.partition(":")
    return f"{head}: {rest.strip()}"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()
