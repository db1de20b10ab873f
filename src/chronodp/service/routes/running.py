"""Who I am, sessions of the page, health and figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Cookie, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import LedgerError, NotSignedIn
from chronodp.service import shapes
from chronodp.service.access import Anyone, Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.holds import list_holds
from chronodp.service.readiness import DATABASE
from chronodp.service.sessions import COOKIE, csrf_of, end_session, start_session
from chronodp.service.tokens import check_token

__all__ = ["SignIn", "router"]

router = APIRouter()

_HELD = "the owner holds releases back; what was asked waits"
_LOST = "releases are held back: one was lost after it was paid for, and the owner has to look; what was asked waits"


class SignIn(BaseModel):
    """A token, exchanged for a session of the page."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=1, max_length=200)


@router.get("/me", tags=["access"], summary="See who you are", responses=refusals_for())
def get_me(request: Request, caller: Anyone) -> shapes.MeShape:
    """The name and role of your token, and the datasets you may ask about."""
    curator = curator_of(request)
    return shapes.MeShape(
        name=caller.name,
        role=caller.role,
        datasets=[dataset.name for dataset in curator.datasets(caller)],
        title=curator.policy.running.title,
    )


@router.post(
    "/session",
    tags=["access"],
    summary="Sign in on the page",
    responses=refusals_for(400, 401, 413, 415, open_to_all=True),
)
def sign_in(request: Request, response: Response, given: SignIn) -> shapes.SessionShape:
    """Exchange a token for a cookie that scripts cannot read, and the secret that every change must carry."""
    curator = curator_of(request)
    token = check_token(curator.store, given.token)
    seconds = curator.policy.running.session
    secret = start_session(curator.store, token, seconds=seconds)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(seconds),
        httponly=True,
        samesite="strict",
        secure=request.app.state.tls or request.url.scheme == "https",
        path="/",
    )
    return shapes.SessionShape(name=token.name, role=token.role, csrf=csrf_of(curator.ledger.keys, secret))


@router.get("/session", tags=["access"], summary="See the page's session", responses=refusals_for())
def get_session(
    request: Request, caller: Anyone, secret: Annotated[str | None, Cookie(alias=COOKIE)] = None
) -> shapes.SessionShape:
    """Who is signed in, and the secret that every change must carry. For sessions only, not for tokens."""
    if secret is None:
        raise NotSignedIn("there is no session: you came with a token", mend="sign in on the page")
    csrf = csrf_of(curator_of(request).ledger.keys, secret)
    return shapes.SessionShape(name=caller.name, role=caller.role, csrf=csrf)


@router.delete("/session", tags=["access"], status_code=204, summary="Sign out", responses=refusals_for())
def sign_out(
    request: Request,
    response: Response,
    caller: Anyone,  # noqa: ARG001  # who asks is checked, not used
    secret: Annotated[str | None, Cookie(alias=COOKIE)] = None,
) -> None:
    """End the session, here and in every tab."""
    if secret is not None:
        end_session(curator_of(request).store, secret)
    response.delete_cookie(COOKIE, path="/")


@router.get(
    "/health",
    tags=["running"],
    summary="See whether the service works",
    responses=refusals_for(open_to_all=True)
    | {503: {"model": shapes.HealthShape, "description": "It works in part: no release is made now, and why."}},
)
def get_health(request: Request, response: Response) -> shapes.HealthShape:
    """`ok`; or, with status 503, `read-only` while something that releases need cannot be written, or `held`.

    Needs no token and reveals nothing else.
    """
    ledger, held, why = True, False, request.app.state.runner.readiness.why
    try:
        on_all = [one for one in list_holds(curator_of(request).store) if not one.dataset]
        if why is None and on_all:
            held, why = True, _HELD if all(one.by_whom for one in on_all) else _LOST
    except LedgerError:
        ledger, why = False, DATABASE
    response.status_code = 200 if why is None else 503
    return shapes.HealthShape(
        status="ok" if why is None else "held" if held else "read-only",
        why=why,
        ledger="ok" if ledger else "unavailable",
        version=request.app.version,
    )


@router.get(
    "/metrics",
    tags=["running"],
    summary="Get figures for Prometheus",
    response_class=Response,
    responses=refusals_for()
    | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Figures."}},
)
def get_metrics(request: Request, caller: Inspector) -> Response:  # noqa: ARG001  # who asks is checked, not used
    """Calls, jobs and budgets; nothing that is read from data. For owners and auditors."""
    text = request.app.state.metrics.text(curator_of(request), writable=request.app.state.runner.readiness.why is None)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
