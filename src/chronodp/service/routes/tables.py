"""Tables of releases: every reading of what was released, as JSON, CSV or Parquet, and a search among keys."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from chronodp.report import frame_as_csv, with_covers
from chronodp.series import View
from chronodp.service import shapes
from chronodp.service.access import Anyone
from chronodp.service.documented import refusals_for
from chronodp.service.routes.asking import Named
from chronodp.service.routes.releases import Number, stored_release
from chronodp.service.stored import find_keys, open_part, show_table
from chronodp.service.table_asked import TableAsked, asked_view

__all__ = ["router"]

router = APIRouter()

_CSV, _PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
_PIECE = 2**20


@router.get(
    "/datasets/{dataset}/releases/{number}/table",
    tags=["releases"],
    summary="Get a release as a table: JSON, CSV or Parquet",
    response_model=shapes.TableShape,
    responses=refusals_for(404)
    | {
        200: {
            "description": "The table in the wanted form.",
            "content": {"text/csv": {"schema": {"type": "string"}}, _PARQUET: {"schema": {"type": "string"}}},
        }
    },
)
def get_table(
    request: Request, caller: Anyone, dataset: Named, number: Number, asked: Annotated[TableAsked, Query()]
) -> Response:
    """Time, groups, value, lower, upper; of ratios and of what a rule leaves also kind, not_above, not_below and why.

    Sums, means, shares, ratios, changes and rules are free: all are computed from what was released.
    """
    shown = asked_view(stored_release(request, caller, dataset, number), asked)
    if asked.form == "json":
        return Response(show_table(shown).model_dump_json(), media_type="application/json")
    name = f"release-{number}-{asked.view}.{asked.form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if asked.form == "csv":
        return StreamingResponse(_csv(shown), media_type=_CSV, headers=headers)
    return StreamingResponse(_parquet(shown), media_type=_PARQUET, headers=headers)


@router.get(
    "/datasets/{dataset}/releases/{number}/keys",
    tags=["releases"],
    summary="Search among the keys of a release",
    responses=refusals_for(404),
)
def get_keys(
    request: Request,
    caller: Anyone,
    dataset: Named,
    number: Number,
    column: Annotated[str, Query(max_length=200, description="A grouping, or a level of places; needed.")] = "",
    part: Annotated[str | None, Query(max_length=200, description="Of queries released together: which one.")] = None,
    text: Annotated[str, Query(max_length=200, description="What they have in them, whatever its case.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[str]:
    """Keys of a grouping or a level that have the text in them, those that begin with it first. They are public."""
    stored = stored_release(request, caller, dataset, number)
    return find_keys(open_part(stored, part, "part"), column, text, limit)


def _csv(view: View) -> Iterator[str]:
    for number, stretch in enumerate(view.stretches()):
        yield frame_as_csv(with_covers(stretch.to_pandas()), header=not number)


def _parquet(view: View) -> Iterator[bytes]:
    """Return the bytes of a Parquet file, by way of the disk: memory holds one stretch of the table at a time."""
    import pyarrow.parquet

    with tempfile.TemporaryFile() as file:
        writer: pyarrow.parquet.ParquetWriter | None = None
        for stretch in view.stretches():
            table = stretch.to_arrow()
            writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece
