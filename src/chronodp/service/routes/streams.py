"""Streams and alerts: their public state, and released steps as they come."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from chronodp.errors import ChronodpError, NotFound
from chronodp.ledger import StoredStream, feeding_path, read_feeding
from chronodp.service import shapes
from chronodp.service.access import Anyone, curator_of
from chronodp.service.curator import Caller, Curator
from chronodp.service.documented import refusals_for
from chronodp.service.paging import PAGED, Cursor, cut, read_cursor, write_cursor
from chronodp.service.refusals import describe
from chronodp.service.released_steps import Reader, design_of

__all__ = ["router"]

router = APIRouter()

Name = Annotated[str, Path(max_length=200, description="The stream's name.", examples=["live"])]
_LOOK = 0.5  # seconds between looks into the ledger
_ALIVE = 15.0  # seconds after which a line says that the connection is alive


@router.get("/streams", tags=["streams"], summary="List streams and alerts", responses=refusals_for() | PAGED)
def list_streams(
    request: Request,
    response: Response,
    caller: Anyone,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    after: Cursor = None,
) -> list[shapes.StreamShape]:
    """Those of the datasets you may ask about, by name, with how many steps they have released."""
    curator = curator_of(request)
    names = [dataset.name for dataset in curator.datasets(caller)]
    # Steps of a lifetime series tell when somebody was forgotten; its issues are shown among the dataset's releases.
    found = [stream for stream in curator.ledger.stored.streams(names) if not _is_lifetime(stream)]
    (last,) = read_cursor(after, str, argument="after") or ("",)
    later = sorted((stream for stream in found if stream.name > last), key=lambda stream: stream.name)
    return [
        _shown(curator, caller, stream) for stream in cut(response, later, limit, lambda one: write_cursor(one.name))
    ]


@router.get("/streams/{name}", tags=["streams"], summary="Describe a stream", responses=refusals_for(404))
def get_stream(request: Request, caller: Anyone, name: Name) -> shapes.StreamShape:
    """What it answers, for whom, and how far it has come."""
    curator = curator_of(request)
    return _shown(curator, caller, _stream(curator, caller, name))


@router.get(
    "/streams/{name}/events",
    tags=["streams"],
    summary="Follow a stream's released steps (server-sent events)",
    response_class=StreamingResponse,
    responses=refusals_for(404)
    | {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events."}},
)
async def follow(
    request: Request,
    caller: Anyone,
    name: Name,
    wait: Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for further steps.")] = 600.0,
    after: Annotated[int, Query(ge=0, description="The last step that is known already.")] = 0,
    last_event_id: Annotated[int, Header(ge=0, description="The same, as a browser sends it.")] = 0,
) -> StreamingResponse:
    """Every released step after those that are known, then further ones as they are committed to the ledger.

    Each event has `id` (the step) and `data`, a JSON object with `kind`: `value` (`period`, `values`, `half_width` at
    95 %), `alert` (`period`, `value`), `watched`, `released` (as stored), or at the end `end`.
    """
    curator = curator_of(request)
    stream = await run_in_threadpool(_stream, curator, caller, name)
    return StreamingResponse(
        _events(request, curator, stream, wait, known=max(after, last_event_id)), media_type="text/event-stream"
    )


async def _events(
    request: Request, curator: Curator, stream: StoredStream, wait: float, *, known: int
) -> AsyncIterator[str]:
    reader = Reader(design_of(stream))
    deadline, quiet = time.monotonic() + wait, time.monotonic()
    try:
        while True:
            texts = await run_in_threadpool(curator.ledger.stored.steps, stream.name, after=reader.step)
            for event in await run_in_threadpool(reader.read, texts):
                if event["step"] <= known:  # read all the same: a running answer needs every step
                    continue
                yield f"id: {event['step']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
            moment = time.monotonic()
            if stream.finished or moment >= deadline or await request.is_disconnected():
                break
            if not texts and moment - quiet > _ALIVE:
                yield ": alive\n\n"
                quiet = moment
            await asyncio.sleep(min(_LOOK, max(0.0, deadline - moment)))
    except ChronodpError as error:
        yield f"event: problem\ndata: {json.dumps(describe(error)[1]['error'])}\n\n"
        return
    yield f"data: {json.dumps({'step': reader.step, 'kind': 'end'})}\n\n"


def _stream(curator: Curator, caller: Caller, name: str) -> StoredStream:
    stream = curator.ledger.stored.stream(name)
    known = stream is not None and any(dataset.name == stream.dataset for dataset in curator.datasets(caller))
    if stream is None or not known or _is_lifetime(stream):
        raise NotFound(f"there is no stream {name!r} for you", argument="name", mend="GET /api/v1/streams lists yours")
    return stream


def _is_lifetime(stream: StoredStream) -> bool:
    """Return whether a stream of the ledger is a lifetime series, which the owner issues by command."""
    try:
        return isinstance(content := json.loads(stream.plan), dict) and content.get("kind") == "lifetime"
    except ValueError:
        return False


def _shown(curator: Curator, caller: Caller, stream: StoredStream) -> shapes.StreamShape:
    plan: dict[str, Any] = json.loads(stream.plan)
    design = design_of(stream)
    return shapes.StreamShape(
        name=stream.name,
        dataset=stream.dataset,
        kind=str(plan.get("kind", "stream")),
        what=str(getattr(design, "workload", None) or plan.get("kind", "stream")),
        steps=stream.step,
        finished=stream.finished,
        epsilon=plan.get("epsilon"),
        delta=plan.get("delta"),
        **_said(curator, caller, stream.name),
    )


def _said(curator: Curator, caller: Caller, name: str) -> dict[str, Any]:
    """Return what the process that feeds a stream says of itself; an alert is fed with the stream of its name."""
    path = feeding_path(curator.address, name.removesuffix(".alert"))
    feeding = None if path is None else read_feeding(path)
    if feeding is None:
        return {}
    # That records are missing depends on what came: nobody has paid for telling it.
    gaps = [shapes.GapShape(at=gap.at, what=gap.what) for gap in feeding.gaps] if caller.role == "owner" else None
    return {"said_at": feeding.at, "waits": list(feeding.waits), "gaps": gaps}
