"""Bearer tokens: one a holder, expiring, kept as digests only."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chronodp.errors import AccessDenied, InvalidArgument, UnreadableSource
from chronodp.privacy.parameters import check_whole
from chronodp.reading import parse_json

__all__ = ["holder_of", "issue_token", "read_token"]


def issue_token(path: Path, name: str, *, days: int, now: datetime | None = None) -> str:
    """Return a new token for a holder; the file keeps its digest and when it expires. An older one ends."""
    check_whole("days", days, most=3660)
    known = _read(path) if path.exists() else {}
    token = secrets.token_urlsafe(32)
    expires = (now or datetime.now(UTC)) + timedelta(days=days)
    known[name] = {"sha256": _digest(token), "expires": expires.isoformat()}
    fresh = path.with_name(f"{path.name}.new")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
        fresh.replace(path)
    except OSError:
        raise InvalidArgument("tokens", str(path), "a place that can be written") from None
    return token


def holder_of(path: Path, token: str, *, now: datetime | None = None) -> str:
    """Return whose token it is.

    Raises:
        AccessDenied: nobody's, or it has expired.
    """
    digest, found = _digest(token), None
    for name, entry in _read(path).items():
        if hmac.compare_digest(digest, str(entry["sha256"])):
            found = name, datetime.fromisoformat(entry["expires"])
    if found is None:
        raise AccessDenied("the token is missing or not known here: ask the server's owner for one")
    if found[1] <= (now or datetime.now(UTC)):
        raise AccessDenied(f"the token of {found[0]} expired on {found[1]:%Y-%m-%d %H:%M} UTC: ask for a new one")
    return found[0]


def read_token(path: Path) -> str:
    """Return the token in a holder's file."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument("token_file", str(path), "a file with the token that the server's owner gave") from None
    if not token:
        raise InvalidArgument("token_file", str(path), "a file that is not empty")
    return token


def _digest(token: str) -> str:
    # A token has 256 random bits, so that a plain digest cannot be turned around.
    return hashlib.sha256(token.encode()).hexdigest()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        known = parse_json(path.read_bytes())
        return {str(name): {"sha256": entry["sha256"], "expires": entry["expires"]} for name, entry in known.items()}
    except OSError:
        raise UnreadableSource(f"there are no tokens at {path.name}: issue one for each holder") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnreadableSource(f"{path.name} does not hold tokens, or is damaged") from None
