"""What a dataset's releases claim, counted as they are written: nobody reads every certificate to tell.

A claim is the public words of a certificate, without the numbers of one release: mechanism, unit, theorem, precision
and where the argument stands. Counts are raised in the transaction of the release, so they never differ from the chain.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import lru_cache

from chronodp.errors import CertificateInvalid
from chronodp.ledger.askers import asker_of
from chronodp.ledger.certificates import SignedLink, digest
from chronodp.ledger.store import Store, Transaction
from chronodp.privacy import Certificate

__all__ = ["ClaimCount", "ClaimWords", "count_claim", "count_unread", "list_claims"]

_READ = 1_000  # certificates at a time


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """What a certificate claims, in words."""

    mechanism: str
    unit: str
    theorem: str
    precision: str
    argument: str

    @classmethod
    def of(cls, certificate: Certificate) -> ClaimWords:
        """Return the words of a certificate."""
        claim = certificate.claim
        return cls(certificate.mechanism, str(claim.unit), certificate.theorem, certificate.precision, claim.argument)


@dataclass(frozen=True, slots=True)
class ClaimCount:
    """How many releases claim the same; ``claim`` identifies the words."""

    claim: str
    words: ClaimWords
    releases: int


def count_claim(transaction: Transaction, dataset: str, request: str, certificate: Certificate) -> None:
    """Count a release that the same transaction writes."""
    claim, words = _written(ClaimWords.of(certificate))
    _add(transaction, dataset, asker_of(request), claim, words, 1)


def count_unread(store: Store) -> None:
    """Count, once, what was released before claims were counted."""
    with store.snapshot() as transaction:
        waiting = [row[0] for row in transaction.run("SELECT dataset FROM claims_unread ORDER BY dataset")]
    for dataset in waiting:
        with store.transaction() as transaction:
            # The row of the chain keeps releases out until the commit: each is counted here, or by whoever writes it.
            transaction.run("UPDATE chains SET number = number WHERE dataset = ?", (dataset,))
            taken = transaction.run("DELETE FROM claims_unread WHERE dataset = ? RETURNING dataset", (dataset,))
            if taken:  # of two processes at once one finds the row
                _count_chain(transaction, dataset)


def list_claims(
    transaction: Transaction,
    *,
    whole: Collection[str],
    own: Collection[str] = (),
    asker: str = "",
    before: tuple[int, str] | None = None,
    limit: int = 100,
) -> list[ClaimCount]:
    """Return what most releases claim first, of all releases of some datasets and of one asker's in others."""
    wanted, parameters = [], list[str | int]()
    if whole:
        wanted.append(f"dataset IN ({_marks(whole)})")
        parameters += whole
    if own:
        wanted.append(f"asker = ? AND dataset IN ({_marks(own)})")
        parameters += [asker, *own]
    if not wanted:
        return []
    after = ""
    if before is not None:
        after = "HAVING SUM(releases) < ? OR (SUM(releases) = ? AND claim > ?) "
        parameters += [before[0], *before]
    rows = transaction.run(
        "SELECT c.claim, w.words, c.releases FROM (SELECT claim, SUM(releases) AS releases FROM claims "
        f"WHERE ({') OR ('.join(wanted)}) GROUP BY claim {after}ORDER BY SUM(releases) DESC, claim LIMIT ?) c "
        "JOIN claim_words w ON w.claim = c.claim ORDER BY c.releases DESC, c.claim",
        (*parameters, limit),
    )
    return [ClaimCount(row[0], ClaimWords(**json.loads(row[1])), int(row[2])) for row in rows]


def _count_chain(transaction: Transaction, dataset: str) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    number = 0
    while rows := transaction.run(
        "SELECT r.link, l.body, l.signature, r.request FROM requests r JOIN links l ON l.dataset = r.dataset "
        "AND l.number = r.link WHERE r.dataset = ? AND r.link > ? ORDER BY r.link LIMIT ?",
        (dataset, number, _READ),
    ):
        for _, body, signature, request in rows:
            try:
                said = SignedLink(body, signature).outline
            except CertificateInvalid:  # what cannot be read claims nothing
                continue
            words = ClaimWords(said.mechanism, said.unit, said.theorem, said.precision, said.argument)
            counts[asker_of(request), *_written(words)] += 1
        number = int(rows[-1][0])
    # In one order, whoever counts: of two that add the same words in other orders each would wait for the other.
    for (who, claim, written), count in sorted(counts.items(), key=lambda counted: counted[0][1]):
        _add(transaction, dataset, who, claim, written, count)


def _add(transaction: Transaction, dataset: str, who: str, claim: str, words: str, count: int) -> None:
    transaction.run("INSERT INTO claim_words (claim, words) VALUES (?, ?) ON CONFLICT DO NOTHING", (claim, words))
    transaction.run(
        "INSERT INTO claims (dataset, asker, claim, releases) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (dataset, asker, claim) DO UPDATE SET releases = claims.releases + excluded.releases",
        (dataset, who, claim, count),
    )


@lru_cache(maxsize=1024)
def _written(words: ClaimWords) -> tuple[str, str]:
    """Return what identifies words, and the words as JSON."""
    text = json.dumps(asdict(words), ensure_ascii=False, sort_keys=True)
    return digest(text)[:32], text


def _marks(names: Collection[str]) -> str:
    return ", ".join("?" * len(names))
