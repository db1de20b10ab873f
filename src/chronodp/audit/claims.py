"""The page of claims, written from the mechanisms themselves: ``python -m chronodp.audit.claims``."""

from __future__ import annotations

from collections.abc import Iterable

from chronodp.accounting import gather
from chronodp.audit.mutants import MUTANTS
from chronodp.audit.registry import Entry, entries

__all__ = ["claims_page"]

_HEAD = """# What is claimed, and how each claim is checked

Written by `python -m chronodp.audit.claims` from the mechanisms themselves; `chronodp audit` runs the checks. The
costs are those of the small examples that the auditors attack. How far a check can be trusted stands in
[auditing](proofs/auditing.md).
"""


def claims_page() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for entry in entries():
        parts += [f"## {entry.name[0].upper()}{entry.name[1:]}", "", *_about(entry), ""]
    parts += ["## Mutants", "", "Each differs from a sound mechanism by one mistake and must be caught.", ""]
    parts += [f"* {mutant.name}" for mutant in MUTANTS]
    return "\n".join(parts) + "\n"


def _about(entry: Entry) -> Iterable[str]:
    yield f"Public names: {', '.join(f'`{_name(one)}`' for one in entry.covers)}. Numbers: {entry.precision}."
    if entry.unclaimed:
        yield ""
        yield f"Nothing is claimed: {entry.unclaimed}."
        return
    yield ""
    yield "| attacked as | protects | cost | assuming | argument | checked by |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for case in entry.cases():
        claim = case.claim
        page = claim.argument.removeprefix("docs/explanation/")
        assumed = "; ".join(str(one) for one in gather(claim.cost).assumptions) or "–"
        auditors = ", ".join(dict.fromkeys(check.auditor for check in case.checks))
        name = page.rpartition("/")[2].removesuffix(".md")
        yield f"| {case.name} | {claim.unit} | {claim.cost} | {assumed} | [{name}]({page}) | {auditors} |"


def _name(public: object) -> str:
    room = getattr(public, "__module__", "").split(".")[1:2]
    return ".".join([*room, getattr(public, "__qualname__", str(public))])


if __name__ == "__main__":
    print(claims_page(), end="")
