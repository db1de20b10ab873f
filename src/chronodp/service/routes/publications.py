"""What was published about whom, for whoever answers for it."""

from __future__ import annotations

import math

from fastapi import APIRouter, Request

from chronodp.accounting import epsilon_at
from chronodp.ledger import ListedRelease
from chronodp.service.access import Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.listing import releases_on
from chronodp.service.paging import PAGED, ShortPage
from chronodp.service.presenting import moment, who_asked
from chronodp.service.routes.asking import OfDataset, Who
from chronodp.service.shapes.desk import PublicationShape

__all__ = ["router"]

router = APIRouter()


@router.get(
    "/publications", tags=["desk"], summary="See what was published about whom", responses=refusals_for(404) | PAGED
)
def list_publications(
    request: Request, caller: Inspector, page: ShortPage, dataset: OfDataset = None, who: Who = None
) -> list[PublicationShape]:
    """For owners and auditors: every release, newest first, with whom it protects and what it cost them.

    The cost is that of the certificate, as an epsilon at the dataset's own delta, so that releases can be compared. Of
    an issue of a lifetime series it is the price of the whole series.
    """
    curator = curator_of(request)
    asked = curator.datasets(caller) if dataset is None else [curator.dataset(caller, dataset)]
    deltas = {one.name: one.delta for one in asked}
    return [_shown(one, deltas[one.dataset]) for one in releases_on(page, curator, caller, asked, who)]


def _shown(listed: ListedRelease, delta: float) -> PublicationShape:
    link = listed.signed.link
    certificate = link.certificate
    price = epsilon_at(certificate.claim.cost, delta)
    return PublicationShape(
        issued=moment(link.issued),
        dataset=listed.dataset,
        number=listed.number,
        unit=f"{certificate.claim.unit}",
        what=certificate.mechanism,
        who=who_asked(listed.request),
        request=listed.request,
        epsilon=price if math.isfinite(price) else None,
        delta=delta,
    )
