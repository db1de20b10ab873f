"""Budgets over time, for whoever answers for them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from chronodp.service.access import Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.routes.asking import Named
from chronodp.service.shapes.desk import SpendingShape, SpentDayShape, SpentShape

__all__ = ["router"]

router = APIRouter()


@router.get("/spending", tags=["desk"], summary="See how much of every budget is used", responses=refusals_for())
def list_spending(request: Request, caller: Inspector) -> list[SpentShape]:
    """For owners and auditors: every dataset's whole budget, those first of which most is used."""
    curator = curator_of(request)
    shares = curator.ledger.shares()
    found = [
        SpentShape(dataset=one.name, epsilon=one.epsilon, delta=one.delta, share=shares.get(one.name, 0.0))
        for one in curator.datasets(caller)
    ]
    return sorted(found, key=lambda one: -one.share)


@router.get(
    "/datasets/{dataset}/spending", tags=["desk"], summary="See a budget over time", responses=refusals_for(404, 409)
)
def get_spending(
    request: Request,
    caller: Inspector,
    dataset: Named,
    period: Annotated[str, Query(max_length=20, description="Of a budget that renews, such as 2026-01.")] = "",
) -> SpendingShape:
    """For owners and auditors: how much of the whole budget was used at the end of each day with a charge."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    found = curator.ledger.spending(asked.name, period=period)
    return SpendingShape(
        dataset=asked.name,
        epsilon=found.budget.epsilon,
        delta=found.budget.delta,
        period=found.period,
        opening=found.opening,
        share=found.share,
        days=[SpentDayShape(day=one.day.isoformat(), share=one.share, charges=one.charges) for one in found.days],
    )
