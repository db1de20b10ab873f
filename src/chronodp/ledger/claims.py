"""What a dataset's releases claim, counted as they are written: nobody reads every certificate to tell.

A claim is the public words of a certificate, without the numbers of one release: mechanism, unit, theorem, precision
and where the argument stands. Counts are raised in the transaction of the release, so they never differ from the chain.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import lru_cache

from chronodp.ledger.askers import asker_of
from chronodp.ledger.certificates import digest
from chronodp.ledger.store import Transaction
from chronodp.privacy import Certificate

__all__ = ["ClaimCount", "ClaimWords", "count_claim", "list_claims"]


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
