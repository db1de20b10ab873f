"""The application: routes, guard and background, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from chronodp.errors import ChronodpError
from chronodp.service.access import Doorkeeper
from chronodp.service.curator import Curator
from chronodp.service.edge import Proxies, Strangers
from chronodp.service.guard import Guard
from chronodp.service.metrics import Metrics
from chronodp.service.pacing import Paces
from chronodp.service.page import mount_page
from chronodp.service.refusals import HEADERS, describe, refusal
from chronodp.service.routes import (
    asking,
    budgets,
    holds,
    policies,
    publications,
    releases,
    running,
    spending,
    streams,
    tables,
    tokens,
)
from chronodp.service.runner import Runner

__all__ = ["PREFIX", "make_app"]

PREFIX = "/api/v1"
_THREADS = 8  # each has its own connections to the database

_ABOUT = """Private statistics of time series, from a curator who keeps the data.

**In short.** `GET /datasets` tells what may be asked. `POST /datasets/{dataset}/plan` prices a question and tells its
error; it is free and reads no data. `POST /datasets/{dataset}/try` shows it on made-up rows. `POST
/datasets/{dataset}/jobs` submits it under a request id of yours; `GET /jobs/{job}` tells when it is done, and
`GET /datasets/{dataset}/releases/{number}/table` gives the numbers with their intervals.

**Who may.** Send `Authorization: Bearer TOKEN`. Analysts ask; auditors look; owners do both.

**What goes wrong** has one shape: `{"error": {"kind", "message", "argument", "mend"}}`; a refused budget also tells
`asked`, `spent`, `limit` and `left`. No refusal depends on the data.
"""


def make_app(curator: Curator, *, tls: bool = False, workers: int = 1, pace: Paces | None = None) -> FastAPI:
    """Return the application of one worker.

    Args:
        curator: what it answers from.
        tls: whether it is served under TLS, so that cookies are sent under TLS only.
        workers: how many share the work, and so the rate of calls.
        pace: of releases; the policy's own unless a test says otherwise.
    """
    runner = Runner(curator, pace=pace)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        runner.start()
        yield
        await anyio.to_thread.run_sync(runner.stop)

    app = FastAPI(
        title=curator.policy.running.title,
        description=_ABOUT,
        version=version("chronodp"),
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # its scripts would come from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.curator, app.state.runner, app.state.tls = curator, runner, tls
    app.state.doorkeeper = Doorkeeper(curator, share=workers)
    edge = curator.policy.running.edge
    app.state.strangers = Strangers((edge.strangers or curator.policy.running.rate) / workers)
    app.state.metrics = Metrics()
    app.router.routes.extend(_api_routes())
    mount_page(app)
    _handle(app)
    app.add_middleware(
        Guard,
        prefix=PREFIX,
        tls=tls,
        counted=app.state.metrics.count,
        doorkeeper=app.state.doorkeeper,
        strangers=app.state.strangers,
        proxies=Proxies(edge.proxies),
        patience=edge.body,
    )
    return app


@lru_cache(maxsize=1)
def _api_routes() -> tuple[BaseRoute, ...]:
    """Return the API's routes, which hang on no curator; FastAPI takes a fifth of a second to learn their shapes."""
    api = APIRouter()
    desk = (spending, publications, policies, holds, tokens)
    for subject in (asking, releases, tables, budgets, streams, *desk, running):
        api.include_router(subject.router, prefix=PREFIX)
    return tuple(api.routes)


def _handle(app: FastAPI) -> None:
    @app.exception_handler(ChronodpError)
    def refused(request: Request, error: ChronodpError) -> JSONResponse:  # noqa: ARG001
        return _answer(*describe(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:  # noqa: ARG001
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return _answer(*refusal("invalid_argument", f"{where}: {first['msg']}", "see the API's description", where))

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> JSONResponse:  # noqa: ARG001
        kind = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "malformed")
        status, content = refusal(kind, str(error.detail), "see the API's description")
        return JSONResponse(content, status, headers=error.headers)


def _answer(status: int, content: dict[str, Any]) -> JSONResponse:
    return JSONResponse(content, status, headers=HEADERS.get(status))
