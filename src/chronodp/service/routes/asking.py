"""Datasets, plans, trials and submissions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import InvalidArgument, LedgerError
from chronodp.ledger import MOST_LISTED
from chronodp.series import Plan, QuantilePlan
from chronodp.service import presenting, shapes
from chronodp.service.access import Anyone, Asker, curator_of
from chronodp.service.answering import answer
from chronodp.service.curator import Curator
from chronodp.service.documented import refusals_for
from chronodp.service.dummy import rehearse
from chronodp.service.job import Job, State
from chronodp.service.listing import whose
from chronodp.service.paging import PAGED, Cursor, ShortPage, cut, read_cursor, write_cursor
from chronodp.service.question import QueryRequest
from chronodp.service.quoting import quote
from chronodp.service.stored import show_table

__all__ = ["Named", "OfDataset", "Submission", "Who", "router", "shown_job"]

_MOST_DRAWN = 2**14  # edges, each a choice of its own: some seconds

router = APIRouter()

Named = Annotated[str, Path(max_length=200, description="The dataset's name.", examples=["meters"])]
OfDataset = Annotated[str | None, Query(max_length=200, description="Of one dataset.")]
Who = Annotated[str | None, Query(max_length=200, description="Of one caller, by the name that lists show as `who`.")]


class Submission(BaseModel):
    """A question to be released, under an id of the caller's choice."""

    model_config = ConfigDict(extra="forbid")

    request: str = Field(
        min_length=1,
        max_length=100,
        description="Once for each release; the same again gives the same release and costs nothing. "
        "Letters, digits and a few signs.",
        examples=["load-2026-01"],
    )
    question: QueryRequest
    fresh: bool = Field(False, description="Pay for a release of its own though one of the same design is stored.")


@router.get(
    "/datasets", tags=["datasets"], summary="List the datasets you may ask about", responses=refusals_for() | PAGED
)
def list_datasets(
    request: Request,
    response: Response,
    caller: Anyone,
    limit: Annotated[int | None, Query(ge=1, le=1000, description="How many a page has; all if not given.")] = None,
    after: Cursor = None,
) -> list[shapes.DatasetShape]:
    """What is public about each: grid, unit, columns, keys, rules, budget. Nothing is read from the data."""
    found = curator_of(request).datasets(caller)
    (seen,) = read_cursor(after, int, argument="after") or (0,)
    page = cut(response, found[seen:], limit or len(found), lambda _: write_cursor(seen + (limit or 0)))
    return [presenting.show_dataset(dataset) for dataset in page]


@router.get("/datasets/{dataset}", tags=["datasets"], summary="Describe a dataset", responses=refusals_for(404))
def get_dataset(request: Request, caller: Anyone, dataset: Named) -> shapes.DatasetShape:
    """What is public about one dataset."""
    return presenting.show_dataset(curator_of(request).dataset(caller, dataset))


@router.post(
    "/datasets/{dataset}/plan",
    tags=["asking"],
    summary="Plan a release, for nothing",
    response_model=shapes.PlanShape,
    responses=refusals_for(400, 404, 409, 413, 415),
)
def make_plan(request: Request, caller: Asker, dataset: Named, question: QueryRequest) -> Response:
    """Price and error of a release, every alternative, and whether the budget could pay it now. Reads no data."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    planned = curator.planned(asked, question, asker=caller.request(""))
    refused: LedgerError | None = None
    share = 0.0
    try:
        share = curator.ledger.shares(asked.name).get(asked.name, 0.0)
        curator.check_fits(caller, asked, planned.plan)
    except LedgerError as error:  # told with the plan, which needs no ledger; also when the ledger is away
        refused = error
    return answer(presenting.show_now(planned.shown, refused=refused, share=share))


@router.post(
    "/datasets/{dataset}/try",
    tags=["asking"],
    summary="Try a question on made-up rows, for nothing",
    responses=refusals_for(400, 404, 409, 413, 415),
)
def try_out(request: Request, caller: Asker, dataset: Named, question: QueryRequest) -> shapes.TryShape:
    """The release that the question would give on rows made up from the public schema alone. Reads no data."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    plan = curator.plan(asked, question, asker=caller.request(""))
    most = _MOST_DRAWN if isinstance(plan, QuantilePlan) and plan.design.drawn else MOST_LISTED
    if isinstance(plan, Plan | QuantilePlan) and plan.cells > most:  # it is free, so it must be cheap
        allowed = f"of at most {most:,} numbers to be tried: fewer keys or periods show the same"
        raise InvalidArgument("question", f"{plan.cells:,} numbers", allowed)
    release = rehearse(asked, plan)
    note = "Made-up rows of the same schema: nothing was read, nothing was spent, and nothing here is true."
    return shapes.TryShape(note=note, table=show_table(release.each_period()))


@router.post(
    "/datasets/{dataset}/quote",
    tags=["asking"],
    summary="Say what submitting a question would debit, for nothing",
    responses=refusals_for(400, 404, 409, 413, 415),
)
def make_quote(request: Request, caller: Asker, dataset: Named, submission: Submission) -> shapes.QuoteShape:
    """The price at the dataset's delta and what would be left, or that nothing is debited. Reads no data.

    It is refused where the submission would be.
    """
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    return quote(curator, caller, asked, submission.question, request=submission.request, fresh=submission.fresh)


@router.post(
    "/datasets/{dataset}/jobs",
    tags=["asking"],
    status_code=202,
    summary="Submit a question, to be paid for and released",
    responses=refusals_for(400, 404, 409, 413, 415)
    | {200: {"model": shapes.JobShape, "description": "The request was made before; this is its job."}},
)
def submit(
    request: Request, response: Response, caller: Asker, dataset: Named, submission: Submission
) -> shapes.JobShape:
    """Put the question on disk and answer at once; the work follows in the background.

    The same request id with the same question gives the same job. A question of a design that is stored is answered
    from the store and costs nothing. Refusals depend on the question, the policy and the budget, never on the data.
    """
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    job, new = curator.submit(caller, asked, submission.question, request=submission.request, fresh=submission.fresh)
    request.app.state.runner.wake()
    response.status_code = 202 if new else 200
    return shown_job(curator, job)


@router.get("/jobs", tags=["asking"], summary="List your jobs", responses=refusals_for() | PAGED)
def list_jobs(
    request: Request,
    caller: Anyone,
    page: ShortPage,
    dataset: OfDataset = None,
    who: Who = None,
    state: Annotated[State | None, Query(description="Of one state.")] = None,
) -> list[shapes.JobShape]:
    """The newest jobs first; owners and auditors see everyone's."""
    curator = curator_of(request)
    by, mine = whose(who), caller.request("") if caller.role == "analyst" else None
    if mine is not None and by not in (None, mine):
        return []
    place, most = page.place(int, str), page.looked_for
    found = curator.jobs.newest(by=mine or by, dataset=dataset, state=state, before=place, limit=most)
    jobs = page.cut(found, lambda job: (job.made, job.id))
    numbers = curator.ledger.stored.numbers_of([(job.dataset, job.source) for job in jobs if job.state == "done"])
    return [presenting.show_job(job, numbers.get((job.dataset, job.source))) for job in jobs]


@router.get("/jobs/{job}", tags=["asking"], summary="See how far a job is", responses=refusals_for(404))
def get_job(
    request: Request, caller: Anyone, job: Annotated[str, Path(max_length=64, description="The job's id.")]
) -> shapes.JobShape:
    """Its state, the number of its release once it is done, and what went wrong if something did."""
    curator = curator_of(request)
    return shown_job(curator, curator.job(caller, job))


def shown_job(curator: Curator, job: Job) -> shapes.JobShape:
    """Return a job, with the number of its release once it is done."""
    answer = (job.dataset, job.source)
    numbers = curator.ledger.stored.numbers_of([answer] if job.state == "done" else [])
    return presenting.show_job(job, numbers.get(answer))
