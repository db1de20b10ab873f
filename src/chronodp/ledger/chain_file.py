"""A dataset's whole chain as one file, piece by piece: memory holds some links at a time, however many there are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from chronodp.ledger.ledger import Ledger

__all__ = ["chain_pieces"]

_LINKS = 500  # at a time


def chain_pieces(ledger: Ledger, dataset: str) -> Iterator[str]:
    """Yield the text of what `Ledger.export` returns, as the chain stands when the first piece is taken."""
    begun = ledger.export(dataset, limit=0)
    end = f'"public_key": {json.dumps(begun["public_key"])}, "head": {json.dumps(begun["head"])}'
    yield f'{{"dataset": {json.dumps(dataset, ensure_ascii=False)}, {end}, "links": ['
    yield from _listed(ledger, dataset, begun["head"])
    yield "]}"


def _listed(ledger: Ledger, dataset: str, head: str) -> Iterator[str]:
    number, between = 0, ""
    while chain := ledger.chain(dataset, after=number, limit=_LINKS):
        digests = [signed.digest for signed in chain]
        if head in digests:  # what was released since belongs to the next file
            chain = chain[: digests.index(head) + 1]
        yield between + ", ".join(json.dumps(signed.to_dict(), ensure_ascii=False) for signed in chain)
        if head in digests:
            return
        number, between = number + len(chain), ", "
