"""The chain of a dataset's releases: every link signed, each naming the one before.

"Certificates" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from typing import Any

from chronodp.ledger.budgets import check_known
from chronodp.ledger.certificates import SignedLink, export_chain
from chronodp.ledger.opening import Opened
from chronodp.ledger.releases import mark_stored, read_chain, read_head

__all__ = ["LedgerChains"]


class LedgerChains:
    """What a `Ledger` does for those who verify releases."""

    _opened: Opened

    def chain(self, dataset: str, *, after: int = 0, limit: int | None = None) -> list[SignedLink]:
        """Return the signed links of a dataset's releases, oldest first: all, or so many after a number."""
        return self._chain(dataset, after, limit)[0]

    def export(self, dataset: str, *, after: int = 0, limit: int | None = None) -> dict[str, Any]:
        """Return the chain with what is needed to verify it.

        With ``limit``, so many links after the one of number ``after``; the head is that of the whole chain.
        """
        chain, head = self._chain(dataset, after, limit)
        return export_chain(dataset, chain, self._opened.public_key, head=head)

    def _chain(self, dataset: str, after: int, limit: int | None) -> tuple[list[SignedLink], str]:
        store, watch = self._opened.store, self._opened.watch
        with store.snapshot() as transaction:
            check_known(transaction, dataset)
            chain = read_chain(transaction, dataset, after=after, limit=limit)
            number, head = read_head(transaction, dataset)
        mark_stored(store, watch, {dataset: number})
        return chain, head
