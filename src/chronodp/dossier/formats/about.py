"""What is in the formats of others, and what is left out of a dossier for want of what only its owner knows."""

from __future__ import annotations

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.registry import unsaid
from chronodp.dossier.formats.sdmx import has_observations

__all__ = ["about"]

_ALL = """\
The same releases in the formats of others.
registry.json         a draft of a record for registries of deployments of differential privacy
statement.dsse.json   an in-toto statement in a DSSE envelope: the SHA-256 of every release's file, with its certificate
sdmx.csv              all numbers with times, for statistics offices (SDMX-CSV 2.0)
sdmx-structure.json   what the columns of sdmx.csv hold (SDMX-JSON 2.0)
"""


def about(facts: Facts) -> list[str]:
    """Return which files there are, and which are not and why."""
    left = []
    if missing := unsaid(facts.owner):
        left.append(f"registry.json is not here: the owner's file does not say {', '.join(missing)}.\n")
    if not facts.published:
        left.append("statement.dsse.json is not here: nothing was released.\n")
    if not has_observations(facts):
        left.append("sdmx.csv is not here: no released number has a time.\n")
    return [_ALL, *left]
