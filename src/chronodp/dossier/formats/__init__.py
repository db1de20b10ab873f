"""A dossier in the formats of others: each a function from what the ledger knows to the content of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronodp.dossier.facts import Facts

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Facts], str | bytes]] = {}
"""By the name of the file in ``formats/``."""
