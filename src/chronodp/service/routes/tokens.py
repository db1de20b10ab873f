"""Tokens: made by an owner and shown once, listed without their secrets, and revoked."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import NotFound
from chronodp.service.access import Inspector, Owner, curator_of
from chronodp.service.curator import Caller
from chronodp.service.documented import refusals_for
from chronodp.service.presenting import moment
from chronodp.service.shapes.desk import MadeTokenShape, TokenShape
from chronodp.service.tokens import Role, Token, add_token, find_token, list_tokens, revoke_token
from chronodp.tokens import id_of

__all__ = ["TokenAsked", "router"]

router = APIRouter()

_LISTED = 500
_LONGEST = 3660.0  # days

_Id = Annotated[str, Path(pattern="^[0-9a-f]{1,64}$", description="The token's id.", examples=["3f9a0c1d2e4b"])]


class TokenAsked(BaseModel):
    """A token to be made."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100, description="Whom it is for; an analyst as the policy names them.")
    role: Role
    days: float = Field(90.0, gt=0, le=_LONGEST, allow_inf_nan=False, description="How long it opens anything.")


@router.get("/tokens", tags=["desk"], summary="List tokens", responses=refusals_for())
def get_tokens(request: Request, caller: Inspector) -> list[TokenShape]:
    """For owners and auditors: whose each is, what it may and until when; those that open something first."""
    found = sorted(list_tokens(curator_of(request).store), key=lambda token: (not token.valid, -token.made))
    return [_shown(token, caller) for token in found[:_LISTED]]


@router.post("/tokens", tags=["desk"], status_code=201, summary="Make a token", responses=refusals_for(400, 413, 415))
def make_token(request: Request, caller: Owner, asked: TokenAsked) -> MadeTokenShape:
    """For owners: a token that is shown in this answer and never again. Asked twice, it is two tokens."""
    store = curator_of(request).store
    made = add_token(store, asked.name, asked.role, days=asked.days)
    kept = find_token(store, id_of(made))
    if kept is None:
        raise AssertionError("a token that was made is kept")
    return MadeTokenShape(**_shown(kept, caller).model_dump(), token=made)


@router.delete("/tokens/{id}", tags=["desk"], summary="Revoke a token", responses=refusals_for(404))
def close_token(request: Request, caller: Owner, id: _Id) -> TokenShape:  # noqa: A002  # the route's own word
    """For owners: closes a token, and every session that it opened, for good. Again it changes nothing."""
    store = curator_of(request).store
    known = find_token(store, id)
    if known is None:
        raise NotFound("there is no such token", argument="id", mend="GET /api/v1/tokens lists them")
    revoke_token(store, id)
    return _shown(find_token(store, id) or known, caller)


def _shown(token: Token, caller: Caller) -> TokenShape:
    return TokenShape(
        id=token.id,
        name=token.name,
        role=token.role,
        made=moment(token.made),
        expires=moment(token.expires),
        revoked=None if token.revoked is None else moment(token.revoked),
        state="revoked" if token.revoked is not None else "valid" if token.valid else "expired",
        mine=token.id == caller.token,
    )
