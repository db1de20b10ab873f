"""Lifetime series: what is public about them, and asking for their issues."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chronodp.service import shapes
from chronodp.service.access import Anyone, Asker, curator_of
from chronodp.service.curator import Caller, Curator
from chronodp.service.documented import refusals_for
from chronodp.service.issue_rules import IssueAsked
from chronodp.service.lifetimes import opened_design
from chronodp.service.policy import Dataset
from chronodp.service.routes.asking import Named, shown_job
from chronodp.service.shapes.lifetimes import LifetimeShape
from chronodp.service.showing_lifetimes import show_lifetime
from chronodp.service.terms import LifetimeTerms

__all__ = ["IssueSubmission", "router"]

router = APIRouter()

_Name = Annotated[str, Path(max_length=200, description="The series' name.", examples=["load"])]
_Moment = Annotated[str, Field(min_length=1, max_length=40, examples=["2026-01-01"])]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class IssueSubmission(BaseModel):
    """An issue to be made, under an id of the caller's choice."""

    model_config = ConfigDict(extra="forbid")

    request: str = Field(
        min_length=1,
        max_length=100,
        description="Once for each issue; the same again gives the same issue, and nobody is counted again. "
        "Letters, digits and a few signs.",
        examples=["2026-01"],
    )
    start: _Moment = Field(description="When the first period begins: one of the series' grid.")
    end: _Moment = Field(description="When the last period ends; it has passed.")
    clip: Annotated[list[_Number], Field(min_length=2, max_length=2, examples=[[0.0, 2.0]])] | None = Field(
        None, description="Of a sum, another clip within the widest; noise stays, and a wider one takes more shares."
    )
    fresh: bool = Field(False, description="Make an issue of its own though one of the same design is stored.")


@router.get(
    "/datasets/{dataset}/lifetimes",
    tags=["lifetimes"],
    summary="List series that were bought once and are issued for ever",
    responses=refusals_for(404, 409),
)
def list_lifetimes(request: Request, caller: Anyone, dataset: Named) -> list[LifetimeShape]:
    """Their terms, price, error and issues so far. Nothing is read from the data or from what people have used."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    return [_shown(curator, caller, asked, terms) for terms in asked.lifetimes.values()]


@router.get(
    "/datasets/{dataset}/lifetimes/{name}",
    tags=["lifetimes"],
    summary="Describe a lifetime series",
    responses=refusals_for(404, 409),
)
def get_lifetime(request: Request, caller: Anyone, dataset: Named, name: _Name) -> LifetimeShape:
    """The same of one."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    return _shown(curator, caller, asked, curator.lifetime(asked, name))


@router.post(
    "/datasets/{dataset}/lifetimes/{name}/issues",
    tags=["lifetimes"],
    status_code=202,
    summary="Ask for an issue of a lifetime series",
    responses=refusals_for(400, 404, 409, 413, 415)
    | {200: {"model": shapes.JobShape, "description": "The request was made before; this is its job."}},
)
def ask_for_issue(
    request: Request, response: Response, caller: Asker, dataset: Named, name: _Name, submission: IssueSubmission
) -> shapes.JobShape:
    """Put it on disk and answer at once; the work follows in the background, as for other questions.

    Nothing is debited: the series was paid for when it was opened. An issue takes shares of the life of everyone who is
    in it, so the owner says who may ask, and a period is issued once unless the owner lets it be issued again. Whether
    people have shares left changes no answer.
    """
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    clip = None if submission.clip is None else (submission.clip[0], submission.clip[1])
    wanted = IssueAsked(lifetime=name, start=submission.start, end=submission.end, clip=clip)
    job, new = curator.submit_issue(caller, asked, wanted, request=submission.request, fresh=submission.fresh)
    request.app.state.runner.wake()
    response.status_code = 202 if new else 200
    return shown_job(curator, job)


def _shown(curator: Curator, caller: Caller, dataset: Dataset, terms: LifetimeTerms) -> LifetimeShape:
    return show_lifetime(
        dataset,
        terms,
        opened_design(curator.ledger, dataset, terms.name),
        curator.issues.of(curator.ledger, terms.name),
        may_ask=caller.role == "owner" or (caller.role == "analyst" and caller.name in terms.analysts),
        may_read=lambda asked: curator.may_read(caller, dataset, asked),
    )
