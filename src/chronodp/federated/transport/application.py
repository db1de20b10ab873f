"""The server's four addresses. Every request carries a token; bodies are bytes of bounded length."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from chronodp.errors import AccessDenied, ChronodpError, FederationError, MessageRefused, RoundConflict, TooFewHolders
from chronodp.federated.aggregation import Terms
from chronodp.federated.aggregation.agreement import LETTER_BYTES
from chronodp.federated.aggregation.content import SharePair
from chronodp.federated.aggregation.envelope import HEADER_BYTES
from chronodp.federated.transport.coordinator import Coordinator
from chronodp.federated.transport.tokens import holder_of

__all__ = ["application", "longest_message"]

_STATUS = {AccessDenied: 401, RoundConflict: 409, MessageRefused: 422, TooFewHolders: 410}
_BYTES = "application/octet-stream"


def application(coordinator: Coordinator) -> FastAPI:
    """Return the web application of a run's server."""
    app = FastAPI(title="chronodp", docs_url=None, redoc_url=None, openapi_url=None)
    longest = longest_message(coordinator.run.terms)
    seen_the_end: set[str] = set()
    app.state.seen_the_end = seen_the_end

    def authorised(request: Request) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        name = holder_of(coordinator.run.tokens, token if scheme.lower() == "bearer" else "")
        if name not in coordinator.run.terms.names:
            raise AccessDenied(f"{name} is not in the roster of this run")
        return name

    @app.exception_handler(ChronodpError)
    async def refuse(_: Request, error: ChronodpError) -> JSONResponse:
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 503)
        if not isinstance(error, FederationError):  # the server's own files: not for holders to read
            logging.getLogger("uvicorn.error").error(str(error))
            error = FederationError("the server cannot go on: its owner sees why")
        return JSONResponse({"error": type(error).__name__, "message": str(error)}, status_code=status)

    @app.get("/v1/standing")
    def standing(request: Request) -> dict[str, Any]:
        name = authorised(request)
        coordinator.tick()
        found = coordinator.describe()
        if found["aborted"]:
            seen_the_end.add(name)
        return found

    @app.get("/v1/parameters/{round_number}")
    def parameters(request: Request, round_number: int) -> Response:
        name = authorised(request)
        found = coordinator.parameters(round_number)
        if coordinator.done:  # to hear that it is over is not enough: a holder goes home with what came of it
            seen_the_end.add(name)
        return Response(found, media_type=_BYTES)

    @app.get("/v1/told/{round_number}/{attempt}/{phase}")
    def told(request: Request, round_number: int, attempt: int, phase: int) -> Response:
        return Response(coordinator.told(authorised(request), round_number, attempt, phase), media_type=_BYTES)

    @app.post("/v1/messages/{round_number}/{attempt}/{phase}", status_code=204)
    async def messages(request: Request, round_number: int, attempt: int, phase: int) -> None:
        name = await run_in_threadpool(authorised, request)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > longest:
                raise MessageRefused(f"a message has at most {longest:,} bytes in this run")
        await run_in_threadpool(coordinator.take, name, round_number, attempt, phase, bytes(body))

    return app


def longest_message(terms: Terms) -> int:
    """Return the length of the longest message that a holder has to send."""
    letters = len(terms.roster) * (SharePair.BYTES + LETTER_BYTES + 8 + 64)
    return HEADER_BYTES + max(terms.size * terms.bits // 8, letters)
