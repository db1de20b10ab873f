"""Tokens of holders, in a file of the server: one each, expiring."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from chronodp.errors import AccessDenied, InvalidArgument, UnreadableSource
from chronodp.privacy import check_whole, microseconds_of, moment_at
from chronodp.reading import parse_json
from chronodp.tokens import expiry, has_expired, issue, matches

__all__ = ["holder_of", "issue_token", "read_token"]


def issue_token(path: Path, name: str, *, days: int, now: datetime | None = None) -> str:
    """Return a new token for a holder; the file keeps its digest and when it expires. An older one ends."""
    check_whole("days", days, most=3660)
    known, issued = _read(path) if path.exists() else {}, issue()
    known[name] = issued.digest, expiry(days, since=None if now is None else microseconds_of(now))
    content = {
        who: {"sha256": digest, "expires": moment_at(expires).isoformat()} for who, (digest, expires) in known.items()
    }
    fresh = path.with_name(f"{path.name}.new")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        fresh.replace(path)
    except OSError:
        raise InvalidArgument("tokens", str(path), "a place that can be written") from None
    return issued.token


def holder_of(path: Path, token: str) -> str:
    """Return whose token it is.

    Raises:
        AccessDenied: nobody's, or it has expired.
    """
    # All are compared: when the answer comes does not tell whose it is.
    found = [(name, expires) for name, (digest, expires) in _read(path).items() if matches(token, digest)]
    if not found:
        raise AccessDenied("the token is missing or not known here: ask the server's owner for one")
    name, expires = found[-1]
    if has_expired(expires):
        raise AccessDenied(f"the token of {name} expired on {moment_at(expires):%Y-%m-%d %H:%M} UTC: ask for a new one")
    return name


def read_token(path: Path) -> str:
    """Return the token in a holder's file."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument("token_file", str(path), "a file with the token that the server's owner gave") from None
    if not token:
        raise InvalidArgument("token_file", str(path), "a file that is not empty")
    return token


def _read(path: Path) -> dict[str, tuple[str, int]]:
    """Return the digest of each holder's token, and when it ends."""
    try:
        known = parse_json(path.read_bytes())
        return {str(name): (str(entry["sha256"]), _moment(entry["expires"])) for name, entry in known.items()}
    except OSError:
        raise UnreadableSource(f"there are no tokens at {path.name}: issue one for each holder") from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise UnreadableSource(f"{path.name} does not hold tokens, or is damaged") from None


def _moment(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time needs an offset from UTC")
    return microseconds_of(moment)
