"""Whether every string that a claim quotes stands in its source.

The sources' text is not ours to keep: a folder of it is given, with one file for each that begins with its number.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.claims.claim import Claim
from experiments.claims.sources import SOURCES

__all__ = ["missing_tokens"]


def missing_tokens(claims: Iterable[Claim], folder: Path) -> list[str]:
    """Return, for every token that its source does not hold, a line that names the claim and the token."""
    texts: dict[str, str] = {}
    for source in SOURCES.values():
        files = sorted(folder.glob(f"{source.file}*"))
        if len(files) != 1:
            raise SystemExit(f"--sources {folder} must hold one file whose name begins with {source.file}")
        texts[source.key] = files[0].read_text(encoding="utf-8")
    return [
        f"{claim.id}: {token!r} does not stand in {SOURCES[claim.source].title}"
        for claim in claims
        for token in claim.tokens
        if token not in texts[claim.source]
    ]
