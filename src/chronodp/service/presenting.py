"""How datasets, plans and jobs are shown: plain data for JSON, made of what is public or released."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable
from dataclasses import asdict

import numpy as np

from chronodp.engines import Reading
from chronodp.errors import BudgetExhausted, InvalidArgument, LedgerError
from chronodp.privacy import to_document
from chronodp.series import (
    Design,
    DiscoverPlan,
    FindPlan,
    Plan,
    QuantilePlan,
    describe as describe_design,
    describe_discover,
    describe_find,
    describe_quantiles,
    each,
    estimate,
    running,
)
from chronodp.service import shapes
from chronodp.service.job import Job
from chronodp.service.policy import Column, Dataset
from chronodp.service.refusals import describe
from chronodp.service.scale import declared_scale

__all__ = ["moment", "show_dataset", "show_facts", "show_job", "show_now", "show_plan", "who_asked"]

_POINTS = 200


def moment(microseconds: int) -> str:
    """Return a time as text, in UTC."""
    return dt.datetime.fromtimestamp(microseconds / 1e6, dt.UTC).isoformat()


def who_asked(request: str) -> str:
    """Return who made a request; whoever works on the ledger itself is the owner."""
    name, slash, _ = request.partition("/")
    return name if slash else "owner"


def show_dataset(dataset: Dataset) -> shapes.DatasetShape:
    """Return what is public about a dataset."""
    calendar, allowed = dataset.calendar, dataset.allowed
    return shapes.DatasetShape(
        name=dataset.name,
        about=dataset.about,
        user=dataset.user,
        every=calendar.every,
        start=calendar.start,
        end=calendar.end,
        timezone=calendar.timezone,
        periods=len(calendar),
        unit=to_document(dataset.unit),
        protects=f"{dataset.unit.on(dataset.calendar)}: {dataset.unit.protects}",
        does_not_protect=dataset.unit.does_not_protect,
        max_periods=dataset.max_periods.get(calendar.every),
        most_periods=_most_periods(dataset),
        usual_periods=dict(dataset.usual_periods),
        people=dataset.people,
        columns={name: _show_column(column, calendar.every) for name, column in dataset.columns.items()},
        groups={name: list(groups.keys) for name, groups in dataset.groups.items()},
        measures=list(allowed.measures),
        workloads=list(allowed.workloads),
        grids=list(allowed.grids),
        largest_epsilon=allowed.epsilon,
        largest_delta=allowed.delta,
        largest_cells=allowed.cells,
        least_group=allowed.least_group,
        expression_columns=list(allowed.expression_columns),
        expression_functions=list(allowed.expression_functions),
        find=bool(allowed.find),
        find_bounds=list(allowed.find),
        places=allowed.places,
        missing=allowed.missing,
        max_groups=allowed.max_groups,
        discover=None if allowed.discover is None else shapes.DiscoverShape(**asdict(allowed.discover)),
        reading=None if dataset.reading == Reading() else to_document(dataset.reading),
        share=dataset.share,
        epsilon=dataset.epsilon,
        delta=dataset.delta,
        reserve=dataset.reserve or 0.0,
        renews=dataset.renews,
    )


def _show_column(column: Column, every: str) -> shapes.ColumnShape:
    return shapes.ColumnShape(
        clip=list(column.clips[every]),
        clips={length: list(clip) for length, clip in column.clips.items()},
        about=column.about,
        norm=column.norms.get(every),
        norms=dict(column.norms),
        usual=dict(column.usual),
    )


def _most_periods(dataset: Dataset) -> dict[str, int]:
    """Return how many periods of one person count, by their length; of lengths that fill the dataset's dates."""
    found = {}
    for every in dict.fromkeys((dataset.calendar.every, *dataset.allowed.grids)):
        with contextlib.suppress(InvalidArgument):  # others need dates of their own, and have their limit there
            found[every] = dataset.most_periods(every)
    return {every: most for every, most in found.items() if most is not None}


def show_plan(dataset: Dataset, plan: Plan | FindPlan | DiscoverPlan | QuantilePlan) -> shapes.PlanShape:
    """Return a plan as it is shown before the ledger was asked: `show_now` adds what it says."""
    if isinstance(plan, FindPlan):  # its error hangs on what is found: the facts and the alternatives say how
        facts, width, bands = describe_find(plan.design), None, dict[str, list[float]]()
    elif isinstance(plan, QuantilePlan):  # errors are of ranks, which the facts and the alternatives tell
        facts, width, bands = describe_quantiles(plan.design), None, dict[str, list[float]]()
    elif isinstance(plan, DiscoverPlan):  # the same of every key that is found
        facts, width, bands = describe_discover(plan.design), plan.half_width(), _bands(plan.design.typical)
    else:
        facts, width, bands = describe_design(plan.design, plan.delta), plan.half_width(), _bands(plan.design)
    return shapes.PlanShape(
        design=to_document(plan.design),
        facts=show_facts(facts),
        half_width=width,
        scale=declared_scale(dataset, plan),
        epsilon=plan.design.epsilon,
        delta=plan.design.typical.delta if isinstance(plan, DiscoverPlan) else plan.design.delta,
        cost=str(plan.design.cost),
        alternatives=plan.candidates,
        bands=bands,
        fits=True,
        refusal=None,
        share=0.0,
    )


def show_now(shown: shapes.PlanShape, *, refused: LedgerError | None, share: float) -> shapes.PlanShape:
    """Return a plan that is shown with whether the budget could pay it now, and how much of that is used."""
    problem = None if refused is None else shapes.Problem(**describe(refused)[1]["error"])
    now = {"fits": not isinstance(refused, BudgetExhausted), "refusal": problem, "share": share}
    return shown.model_copy(update=now)


def show_job(job: Job, release: int | None) -> shapes.JobShape:
    """Return a job; ``release`` is the number of its release, if it has one."""
    return shapes.JobShape(
        id=job.id,
        dataset=job.dataset,
        request=job.request,
        state=job.state,
        submitted=moment(job.made),
        ended=None if job.ended is None else moment(job.ended),
        release=release,
        repeated=job.source != job.request,
        problem=None if job.problem is None else shapes.Problem(**job.problem),
    )


def show_facts(facts: Iterable[tuple[str, str]]) -> list[shapes.Fact]:
    """Return sentences with their labels."""
    return [shapes.Fact(label=label, text=text) for label, text in facts]


def _bands(design: Design) -> dict[str, list[float]]:
    measure, horizon = design.table.measure, design.table.horizon
    if measure.ratio:
        return {}
    nothing = (np.zeros((horizon, 1)),)
    wanted = {"each_period": each(horizon)}
    if not measure.averages and measure.block is None:
        wanted["running_total"] = running(horizon)
    shown = np.linspace(0, horizon - 1, min(horizon, _POINTS)).round().astype(int)
    return {
        name: estimate(design, nothing, windows.at(shown), average=False, level=0.95).upper[:, 0].tolist()
        for name, windows in wanted.items()
    }
