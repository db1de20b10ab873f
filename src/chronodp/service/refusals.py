"""The one shape in which everything that goes wrong is told, and the status that goes with it."""

from __future__ import annotations

from typing import Any

from chronodp import errors

__all__ = ["HEADERS", "STATUSES", "describe", "refusal", "refuse", "restore"]

STATUSES = {
    "malformed": 400,
    "not_signed_in": 401,
    "not_allowed": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "budget_exhausted": 409,
    "conflict": 409,
    "ledger_refused": 409,
    "too_large": 413,
    "wrong_type": 415,
    "invalid_argument": 422,
    "too_many_calls": 429,
    "release_failed": 500,
    "damaged": 500,
    "internal": 500,
    "unavailable": 503,
}

# What goes along with a status.
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}

# The first that fits is taken, so the narrow ones stand before the wide ones.
_KINDS: tuple[tuple[type[errors.ChronodpError], str, str], ...] = (
    (errors.NotSignedIn, "not_signed_in", ""),
    (errors.NotAllowed, "not_allowed", ""),
    (errors.NotFound, "not_found", ""),
    (errors.TooManyCalls, "too_many_calls", ""),
    (errors.ReleaseFailed, "release_failed", ""),
    (errors.BudgetExhausted, "budget_exhausted", "ask for less: a smaller epsilon, fewer groups, longer periods"),
    (errors.RequestConflict, "conflict", "choose another request id"),
    (errors.LedgerUnavailable, "unavailable", "try again later; what is public can still be read"),
    (errors.LedgerError, "ledger_refused", ""),
    (errors.CertificateInvalid, "damaged", "tell the owner: what is stored is not what was signed"),
    (errors.ChronodpError, "invalid_argument", ""),
)


def _mend(allowed: str) -> str:
    """Return what to do, from what would have been accepted."""
    first = allowed.split(" ", 1)[0]
    if allowed.startswith("left out"):
        return f"leave it out{allowed.removeprefix('left out')}"
    return f"it must be {allowed}" if first in ("asked", "given", "used") else f"give {allowed}"


def describe(error: errors.ChronodpError) -> tuple[int, dict[str, Any]]:
    """Return the status and the content of a refusal."""
    kind, mend = next((kind, mend) for known, kind, mend in _KINDS if isinstance(error, known))
    content: dict[str, Any] = {"kind": kind, "message": str(error), "argument": None, "mend": mend}
    match error:
        case errors.InvalidArgument():
            content |= {"argument": error.name, "mend": _mend(error.allowed)}
        case errors.ServiceError():
            content |= {"argument": error.argument, "mend": error.mend or mend}
        case errors.BudgetExhausted():
            content |= {
                "measure": error.measure,
                "asked": error.asked,
                "spent": error.spent,
                "limit": error.limit,
                "left": error.left,
            }
    return STATUSES[kind], {"error": content}


def refusal(kind: str, message: str, mend: str, argument: str | None = None) -> tuple[int, dict[str, Any]]:
    """Return a refusal that no error of the library stands behind, in the one shape."""
    return STATUSES[kind], {"error": {"kind": kind, "message": message, "argument": argument, "mend": mend}}


def refuse(argument: str, given: str, allowed: str) -> errors.NotAllowed:
    """Return the refusal of what the owner's policy does not allow, with what it does."""
    return errors.NotAllowed(
        f"the owner's policy does not allow {argument} {given}",
        argument=argument,
        mend=_mend(allowed) if allowed.startswith("left out") else f"make it {allowed}",
    )


def restore(content: Any) -> errors.ChronodpError:
    """Return the error that a refusal describes, for whoever asked from afar."""
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict):
        return errors.ServiceError("the curator gave an answer that is none of its own")
    message, mend = str(error.get("message", "")), str(error.get("mend", ""))
    argument = error.get("argument")
    told = message + (f"; {mend}" if mend else "")
    match error.get("kind"):
        case "budget_exhausted":
            sizes = {name: error.get(name) for name in ("asked", "spent", "limit", "left")}
            return errors.BudgetExhausted(message, measure=str(error.get("measure", "")), **sizes)
        case "conflict":
            return errors.RequestConflict(told)
        case "unavailable":
            return errors.LedgerUnavailable(told)
        case "damaged":
            return errors.CertificateInvalid(told)
        case "ledger_refused":
            return errors.LedgerError(told)
    families = {kind: known for known, kind, _ in _KINDS if issubclass(known, errors.ServiceError)}
    family = families.get(str(error.get("kind")), errors.ServiceError)
    return family(told, argument=argument if isinstance(argument, str) else None, mend=mend)
