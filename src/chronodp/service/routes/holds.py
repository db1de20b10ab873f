"""Holds: owners keep jobs from being begun, see what is held and why, and let go on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from chronodp.service import shapes
from chronodp.service.access import Inspector, Owner, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.holds import Hold, hold_job, lift_hold, list_holds, place_hold, resume_job
from chronodp.service.presenting import moment
from chronodp.service.routes.asking import shown_job

__all__ = ["Holding", "router"]

router = APIRouter()

_Job = Annotated[str, Path(max_length=64, description="The job's id.")]


class Holding(BaseModel):
    """What is to be held, and why."""

    model_config = ConfigDict(extra="forbid")

    dataset: str = Field("", max_length=200, description="Whose jobs; left out, everyone's.")
    why: str = Field(
        min_length=1,
        max_length=500,
        description="For other owners and auditors.",
        examples=["the meters of May are being corrected"],
    )


@router.get("/holds", tags=["running"], summary="List what is held", responses=refusals_for())
def get_holds(request: Request, caller: Inspector) -> list[shapes.HoldShape]:  # noqa: ARG001  # checked, not used
    """Every hold, oldest first. For owners and auditors."""
    return [_shown(one) for one in list_holds(curator_of(request).store)]


@router.post(
    "/holds",
    tags=["running"],
    status_code=201,
    summary="Hold a dataset, or all",
    responses=refusals_for(400, 404, 413, 415),
)
def make_hold(request: Request, caller: Owner, given: Holding) -> shapes.HoldShape:
    """Begin no job of a dataset, or none at all, until the hold is lifted; what is under way is finished.

    Jobs that wait stay on disk, and more may be submitted. For owners.
    """
    curator = curator_of(request)
    if given.dataset:
        curator.dataset(caller, given.dataset)
    return _shown(place_hold(curator.store, dataset=given.dataset, why=given.why, by_whom=caller.name))


@router.delete("/holds/{hold}", tags=["running"], status_code=204, summary="Lift a hold", responses=refusals_for(404))
def remove_hold(
    request: Request,
    caller: Owner,  # noqa: ARG001  # who asks is checked, not used
    hold: Annotated[str, Path(max_length=64, description="The hold's id.")],
) -> None:
    """Let jobs go on, oldest first. For owners."""
    lift_hold(curator_of(request).store, hold)
    request.app.state.runner.wake()


@router.post("/jobs/{job}/hold", tags=["running"], summary="Hold one job", responses=refusals_for(404, 409))
def hold_one(request: Request, caller: Owner, job: _Job) -> shapes.JobShape:
    """Keep a job that waits from being begun. For owners."""
    curator = curator_of(request)
    hold_job(curator.store, curator.job(caller, job).id)
    return shown_job(curator, curator.job(caller, job))


@router.post("/jobs/{job}/resume", tags=["running"], summary="Let one job go on", responses=refusals_for(404, 409))
def resume_one(request: Request, caller: Owner, job: _Job) -> shapes.JobShape:
    """Let a job that is held wait for its turn again. For owners."""
    curator = curator_of(request)
    resume_job(curator.store, curator.job(caller, job).id)
    request.app.state.runner.wake()
    return shown_job(curator, curator.job(caller, job))


def _shown(hold: Hold) -> shapes.HoldShape:
    return shapes.HoldShape(
        id=hold.id, dataset=hold.dataset, why=hold.why, by_whom=hold.by_whom, made=moment(hold.made)
    )
