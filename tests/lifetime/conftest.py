"""Both stores of the ledger."""

from __future__ import annotations

from tests.ledger.conftest import address

__all__ = ["address"]
