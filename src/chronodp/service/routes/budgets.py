"""What is spent, what is left, and who spent it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from chronodp.accounting import price_words
from chronodp.ledger import Entry, Status, place_after
from chronodp.service import presenting, shapes
from chronodp.service.access import Anyone, curator_of
from chronodp.service.answering import answer
from chronodp.service.curator import Caller, Curator
from chronodp.service.documented import refusals_for
from chronodp.service.listing import seen_by, whose
from chronodp.service.paging import PAGED, Page, pages
from chronodp.service.policy import Dataset
from chronodp.service.routes.asking import Named, Who

__all__ = ["router"]

router = APIRouter()


@router.get(
    "/datasets/{dataset}/budget",
    tags=["budget"],
    summary="See what is spent and left",
    response_model=shapes.BudgetShape,
    responses=refusals_for(404),
)
def get_budget(
    request: Request,
    caller: Anyone,
    dataset: Named,
    period: Annotated[str, Query(max_length=20, description="Of a budget that renews, such as 2026-01.")] = "",
) -> Response:
    """The whole budget, your own part, and for owners and auditors everyone's part."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)

    def status(analyst: str) -> dict[str, Any]:
        found = curator.ledger.status(asked.name, analyst=analyst, period=period)
        return _shown(found, caller, asked)

    everyone = asked.analysts if caller.role != "analyst" else {}
    found = shapes.BudgetShape(
        whole=status(""),
        mine=status(caller.name) if caller.role == "analyst" else None,
        analysts={name: status(name) for name in everyone},
    )
    return answer(found)


@router.get(
    "/datasets/{dataset}/history", tags=["budget"], summary="See who spent what", responses=refusals_for(404) | PAGED
)
def get_history(
    request: Request, caller: Anyone, dataset: Named, page: Annotated[Page, Depends(pages(100, 1000))], who: Who = None
) -> list[shapes.EntryShape]:
    """Charges, newest first. Where releases are not shared, analysts see of others that they spent, and when.

    Cost and period of others' charges are empty then: noise and sensitivity tell the clip and how many periods count.
    How much of the whole budget is spent is everybody's to know, so what a charge took of its sums follows (section 8
    of the curator's proof).
    """
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    place = page.place(int, int, int)
    found = _charges(curator, caller, asked, who, place, page.looked_for)
    entries = []
    # Not the last line itself says where the next page begins: it may be another's.
    for charge in page.cut(found, lambda _: place_after(found[: page.limit], place)):
        mine = curator.may_read(caller, asked, charge.purpose)
        entries.append(
            shapes.EntryShape(
                number=charge.number,
                made=charge.made.isoformat(),
                who=presenting.who_asked(charge.purpose) if mine else "another analyst",
                request=charge.purpose if mine else "",
                period=charge.period if mine else "",
                cost=price_words(charge.cost, asked.delta) if mine else "",
            )
        )
    return entries


def _charges(
    curator: Curator, caller: Caller, dataset: Dataset, who: str | None, before: tuple[int, int, int] | None, limit: int
) -> list[Entry]:
    """Return the newest charges to the whole, of everyone or of someone whose they may be known to be."""
    seen, by = seen_by(caller, [dataset]), whose(who)
    if seen.own and by not in (None, seen.by):
        return []
    return curator.ledger.history(dataset.name, limit=limit, before=before, whole=True, by=by)


def _shown(status: Status, caller: Caller, dataset: Dataset) -> dict[str, Any]:
    content = status.to_dict()
    if caller.role == "analyst":  # request ids of others are theirs
        own = f"{caller.name}/"
        content["unreleased"] = [name for name in status.unreleased if dataset.share or name.startswith(own)]
    return content
