"""The page of claims, written from the mechanisms themselves: ``python -m tests.audit.claims``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chronodp.accounting import gather
from tests.audit.mutants import MUTANTS
from tests.audit.registry import Entry, entries

_HEAD = """# What is claimed, and how each claim is checked

Written by `python -m tests.audit.claims` from the mechanisms themselves; `python -m tests.audit` runs the checks. The
costs are those of the small examples that the auditors attack. How far to trust a check:
[auditing](../explanation/proofs/auditing.md). A click opens the attacks on a claim.
"""
_TOPICS = {
    "Series and streams": ("series", "dataset", "lifetime", "engines"),
    "Keys, choices and alerts": ("selection", "alerts"),
    "Devices and holders": ("local", "federated"),
    "States and spectra": ("state_space", "spectrum"),
    "Times and coupled sequences": ("temporal", "correlated"),
}


def claims_page() -> str:
    """Return the page as Markdown: contents, then each topic with its claims, their attacks folded."""
    found = {topic: [entry for entry in entries() if _room(entry) in rooms] for topic, rooms in _TOPICS.items()}
    left = {entry.name for entry in entries()} - {entry.name for some in found.values() for entry in some}
    if left:
        raise AssertionError(f"of no topic: {', '.join(sorted(left))}")
    parts = [_HEAD, "| topic | claims |", "| --- | --- |"]
    for topic, some in found.items():
        parts.append(f"| {_link(topic)} | {' · '.join(_link(_title(entry)) for entry in some)} |")
    parts += [
        f"| {_link('Mutants')} | {len(MUTANTS)} mechanisms with one mistake each, all of which must be caught |",
        "",
    ]
    for topic, some in found.items():
        parts += [f"## {topic}", ""]
        for entry in some:
            parts += [f"### {_title(entry)}", "", *_about(entry), ""]
    parts += ["## Mutants", "", "Each differs from a sound mechanism by one mistake and must be caught.", ""]
    parts += _folded(f"{len(MUTANTS)} mutants", [f"* {mutant.name}" for mutant in MUTANTS])
    return "\n".join(parts) + "\n"


def _about(entry: Entry) -> Iterable[str]:
    yield f"Public names: {', '.join(f'`{_name(one)}`' for one in entry.covers)}. Numbers: {entry.precision}."
    yield ""
    if entry.unclaimed:
        yield f"Nothing is claimed: {entry.unclaimed}."
        return
    rows = [
        "| attacked as | protects | cost | assuming | argument | checked by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    auditors: dict[str, None] = {}
    for case in entry.cases():
        claim = case.claim
        page = claim.argument.replace("docs/", "../", 1)
        assumed = "; ".join(str(one) for one in gather(claim.cost).assumptions) or "–"
        checked = dict.fromkeys(check.auditor for check in case.checks)
        auditors |= checked
        name = page.rpartition("/")[2].removesuffix(".md")
        rows.append(
            f"| {case.name} | {claim.unit} | {claim.cost} | {assumed} | [{name}]({page}) | {', '.join(checked)} |"
        )
    attacks = f"{len(rows) - 2} attack{'s' if len(rows) > 3 else ''}"
    yield from _folded(f"{attacks}: {', '.join(auditors)}", rows)


def _folded(summary: str, lines: Iterable[str]) -> list[str]:
    """Return lines of Markdown that are shown once their summary is clicked."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def _title(entry: Entry) -> str:
    return f"{entry.name[0].upper()}{entry.name[1:]}"


def _link(title: str) -> str:
    """Return a link to a heading of the page, whose anchor is made as Markdown's readers make it."""
    return f"[{title}](#{re.sub(r'[^a-z0-9 -]', '', title.lower()).replace(' ', '-')})"


def _room(entry: Entry) -> str:
    return _name(entry.covers[0]).partition(".")[0]


def _name(public: object) -> str:
    room = getattr(public, "__module__", "").split(".")[1:2]
    return ".".join([*room, getattr(public, "__qualname__", str(public))])


if __name__ == "__main__":
    print(claims_page(), end="")
