"""A holder's requests to the server, tried again while it is away."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from chronodp import errors
from chronodp.errors import FederationError, InvalidArgument, MessageRefused
from chronodp.federated.aggregation import Phase

__all__ = ["Link"]

_FIRST, _LONGEST = 0.1, 5.0  # seconds between two tries


class Link:
    """Requests with a token, over TLS that is checked; a server that is away is waited for.

    Args:
        address: of the server.
        token: of the holder.
        authority: the certificate by which the server is known; those of the system unless given.
        patience: seconds after which a server that does not come back is given up.
        away: called with the reason whenever a server is found to be away.
    """

    def __init__(
        self,
        address: str,
        token: str,
        *,
        authority: Path | None,
        patience: float,
        away: Callable[[str], None] | None = None,
    ) -> None:
        try:
            context = _trusting(authority, address)
        except (OSError, ssl.SSLError):
            raise InvalidArgument("authority", str(authority), "a file with a certificate") from None
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=address, headers=headers, verify=context, timeout=60.0, trust_env=False)
        self._patience, self._away = patience, away

    def standing(self) -> dict[str, Any]:
        """Return where the run stands."""
        response = self._ask(lambda: self._client.get("/v1/standing"))
        try:
            found: dict[str, Any] = response.json()
            if _is_standing(found):
                return found
        except (ValueError, KeyError, TypeError):
            pass
        raise MessageRefused("the server does not say how far the run is: it is another server, or another version")

    def parameters(self, round_number: int) -> bytes:
        """Return the parameters from which the round under way starts."""
        return self._ask(lambda: self._client.get(f"/v1/parameters/{round_number}")).content

    def told(self, round_number: int, attempt: int, phase: int) -> bytes:
        """Return what the server says in a phase."""
        return self._ask(lambda: self._client.get(f"/v1/told/{round_number}/{attempt}/{phase}")).content

    def send(self, round_number: int, attempt: int, phase: int, message: bytes) -> None:
        """Send a message; when this returns it is on the server's disk."""
        self._ask(lambda: self._client.post(f"/v1/messages/{round_number}/{attempt}/{phase}", content=message))

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def _ask(self, request: Callable[[], httpx.Response]) -> httpx.Response:
        since, pause = time.monotonic(), _FIRST
        while True:
            try:
                response = request()
                if response.is_success:
                    return response
                if response.status_code < 500:
                    raise _refusal(response)
                why = f"status {response.status_code}"
            except httpx.TransportError as error:
                if "CERTIFICATE_VERIFY_FAILED" in str(error):
                    raise FederationError("the server's certificate is not one that this holder trusts") from None
                why = type(error).__name__
            if time.monotonic() - since > self._patience:
                raise FederationError(f"the server is away ({why}): start again when it is back; nothing is lost")
            if pause == _FIRST and self._away is not None:
                self._away(why)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)


def _trusting(authority: Path | None, address: str) -> ssl.SSLContext:
    if authority is None and httpx.URL(address).scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody: reading whom the system trusts takes long
    return ssl.create_default_context(cafile=None if authority is None else str(authority))


def _refusal(response: httpx.Response) -> FederationError:
    try:
        told = response.json()
        kind = getattr(errors, told["error"])
        if issubclass(kind, FederationError):
            return kind(told["message"])  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return FederationError(f"the server refused with status {response.status_code}")


def _is_standing(found: dict[str, Any]) -> bool:
    numbers = [found[name] for name in ("round", "attempt", "phase")]
    texts = [found[name] for name in ("run", "model", "parameters")] + list(found["members"])
    whole = all(isinstance(one, int) and 0 <= one < 2**32 for one in numbers) and found["phase"] < len(Phase)
    return whole and all(isinstance(one, str) for one in texts) and {"done", "aborted"} <= found.keys()
