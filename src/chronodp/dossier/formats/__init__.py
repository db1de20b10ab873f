"""A dossier in the formats of others: each a function from what the ledger knows to the content of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.about import about
from chronodp.dossier.formats.registry import registry
from chronodp.dossier.formats.sdmx import sdmx
from chronodp.dossier.formats.statement import statement
from chronodp.dossier.formats.structure import structure

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Facts], Iterable[str] | None]] = {
    "formats/README.txt": about,
    "formats/registry.json": registry,
    "formats/sdmx-structure.json": structure,
    "formats/sdmx.csv": sdmx,
    "formats/statement.dsse.json": statement,
}
"""By the file's path in the dossier, in pieces; None where a format has no place for what there is."""
