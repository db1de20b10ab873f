"""A client's connection to a curator, and what it says when that is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chronodp.errors import InvalidArgument, ServiceError
from chronodp.extras import check_extra
from chronodp.privacy import check_positive
from chronodp.reading import check_path
from chronodp.service.refusals import restore

if TYPE_CHECKING:
    import httpx

__all__ = ["answered", "connect", "unreachable"]


def answered(answer: httpx.Response) -> Any:
    """Return what an answer says in JSON, None if it is none; raise what it refuses."""
    try:
        found = answer.json()
    except ValueError:
        found = None
    if answer.status_code >= 400:
        raise restore(found)
    return found


def unreachable(error: Exception) -> ServiceError:
    """Return the error of a connection that was lost."""
    return ServiceError(
        f"the curator cannot be reached ({type(error).__name__})",
        mend="ask again: with the same request id nothing is paid twice",
    )


def connect(url: str, certificates: str | None, timeout: float) -> httpx.Client:
    """Return a connection to an address."""
    check_extra("service", "httpx")
    import ssl

    import httpx

    trusted: bool | ssl.SSLContext = True
    if certificates is not None:
        try:
            trusted = ssl.create_default_context(cafile=check_path("certificates", certificates))
        except (OSError, UnicodeEncodeError):
            raise InvalidArgument("certificates", str(certificates), "a file of certificates (PEM)") from None
    try:
        return httpx.Client(base_url=url, timeout=check_positive("timeout", timeout), verify=trusted)
    except httpx.InvalidURL:
        raise InvalidArgument("url", url, "an address that begins with https:// or http://") from None
