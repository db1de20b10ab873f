"""Releases, their tables and certificates; the key and the check of certificates; claims."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.ledger import SignedLink, StoredRelease, verify, verify_chain
from chronodp.privacy import to_document
from chronodp.series import Release, View
from chronodp.service import presenting, shapes
from chronodp.service.access import Anyone, Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.routes.asking import Named

__all__ = ["Checked", "router"]

router = APIRouter()

Number = Annotated[int, Path(ge=1, le=2**53, description="The release's number in the dataset's chain.")]
_CSV, _PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"


class Checked(BaseModel):
    """A release with its link, a link alone, or a chain of links, as they were downloaded."""

    model_config = ConfigDict(extra="ignore")

    release: str | None = Field(None, description="The text of a release.")
    link: dict[str, Any] | None = Field(None, description="Its signed link: body and signature.")
    links: list[dict[str, Any]] | None = Field(None, max_length=100_000, description="A chain, oldest first.")
    head: str | None = Field(None, max_length=64, description="The digest of the newest link, if it is known.")


@router.get("/datasets/{dataset}/releases", tags=["releases"], summary="List releases", responses=refusals_for(404))
def list_releases(
    request: Request,
    caller: Anyone,
    dataset: Named,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with a smaller number.")] = None,
) -> list[shapes.ReleaseLine]:
    """The newest first: everyone's where the policy shares them, else your own."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    found = curator.ledger.stored.releases(asked.name, before=before, limit=limit)
    return [
        shapes.ReleaseLine(**presenting.show_line(asked.name, stored))
        for stored in found
        if curator.may_read(caller, asked, stored.request)
    ]


@router.get(
    "/datasets/{dataset}/releases/{number}", tags=["releases"], summary="Get a release", responses=refusals_for(404)
)
def get_release(request: Request, caller: Anyone, dataset: Named, number: Number) -> shapes.ReleaseShape:
    """The release's text with its signed link, which `chronodp verify` and `Release.load` read, and its facts."""
    return presenting.show_release(dataset, _stored(request, caller, dataset, number))


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
    request: Request,
    caller: Anyone,
    dataset: Named,
    number: Number,
    view: Literal["each_period", "running_total", "rolling", "resample", "quantile"] = "each_period",
    periods: Annotated[int, Query(ge=1, le=2**24, description="Of `rolling`: how many.")] = 7,
    every: Annotated[str, Query(max_length=10, description="Of `resample`: how long.")] = "1D",
    fraction: Annotated[float, Query(gt=0, lt=1, description="Of `quantile`: 0.5 for the median.")] = 0.5,
    level: Annotated[float, Query(gt=0, lt=1, description="How often intervals hold the value before noise.")] = 0.95,
    form: Annotated[Literal["json", "csv", "parquet"], Query(alias="format")] = "json",
) -> Response:
    """Time, groups, value, lower, upper. Every view is free: it is computed from what was released."""
    stored = _stored(request, caller, dataset, number)
    release = Release(stored.text, stored.signed)
    shown = _view(release, view, periods=periods, every=every, fraction=fraction, level=level)
    if form == "json":
        return Response(presenting.show_table(shown).model_dump_json(), media_type="application/json")
    name = f"release-{number}-{view}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if form == "csv":
        return Response(shown.to_pandas().to_csv(index=False), media_type=_CSV, headers=headers)
    import pyarrow.parquet

    content = io.BytesIO()
    pyarrow.parquet.write_table(shown.to_arrow(), content)
    return Response(content.getvalue(), media_type=_PARQUET, headers=headers)


@router.get(
    "/datasets/{dataset}/releases/{number}/certificate",
    tags=["releases"],
    summary="Get a release's certificate",
    responses=refusals_for(404),
)
def get_certificate(request: Request, caller: Anyone, dataset: Named, number: Number) -> shapes.CertificateShape:
    """The certificate in words, as a document, and as it was signed, with the public key."""
    stored = _stored(request, caller, dataset, number)
    certificate = stored.signed.link.certificate
    return shapes.CertificateShape(
        number=number,
        words=str(certificate),
        certificate=to_document(certificate),
        link=stored.signed.to_dict(),
        digest=stored.signed.digest,
        public_key=curator_of(request).ledger.keys.public,
    )


@router.get(
    "/datasets/{dataset}/chain",
    tags=["releases"],
    summary="Get every certificate of a dataset, chained",
    responses=refusals_for(404),
)
def get_chain(request: Request, caller: Inspector, dataset: Named) -> shapes.ChainShape:
    """For owners and auditors: the file that `chronodp verify` checks for links changed, removed, added or moved."""
    curator = curator_of(request)
    return shapes.ChainShape(**curator.ledger.export(curator.dataset(caller, dataset).name))


@router.get("/key", tags=["certificates"], summary="Get the public key", responses=refusals_for())
def get_key(request: Request, caller: Anyone) -> shapes.KeyShape:  # noqa: ARG001  # who asks is checked, not used
    """The key that certificates are verified with; fetch it once and keep it elsewhere."""
    return shapes.KeyShape(public_key=curator_of(request).ledger.keys.public)


@router.post(
    "/verify",
    tags=["certificates"],
    summary="Check a release or a chain of certificates",
    responses=refusals_for(400, 413, 415),
)
def check(request: Request, caller: Anyone, checked: Checked) -> shapes.VerifiedShape:  # noqa: ARG001
    """Whether it was signed with this curator's key and is unchanged. `chronodp verify` does the same offline."""
    key = curator_of(request).ledger.keys.public
    try:
        if checked.links is not None:
            links = verify_chain([_signed(link) for link in checked.links], key, head=checked.head)
            why = f"All {len(links)} links are genuine and none is missing up to the newest of them."
        elif checked.link is not None:
            links = [verify(_signed(checked.link), key, release=checked.release)]
            belongs = "belongs to this release" if checked.release is not None else "came without its release"
            why = f"The certificate is genuine and {belongs}."
        else:
            raise InvalidArgument("link", None, "given, alone or with its release, or links for a chain")
    except CertificateInvalid as error:
        return shapes.VerifiedShape(valid=False, why=str(error), links=0, requests=[])
    return shapes.VerifiedShape(valid=True, why=why, links=len(links), requests=[link.request for link in links])


@router.get("/claims", tags=["certificates"], summary="List what releases claim", responses=refusals_for())
def list_claims(request: Request, caller: Anyone) -> list[shapes.ClaimShape]:
    """Every mechanism that released something you may see, for whom it claims what, and where the argument stands."""
    curator = curator_of(request)
    counted: Counter[str] = Counter()
    for dataset in curator.datasets(caller):
        for stored in curator.ledger.stored.releases(dataset.name, limit=1000):
            if not curator.may_read(caller, dataset, stored.request):
                continue
            certificate = stored.signed.link.certificate
            words = {
                "mechanism": certificate.mechanism,
                "unit": str(certificate.claim.unit),
                "theorem": certificate.theorem,
                "precision": certificate.precision,
                "argument": certificate.claim.argument,
            }
            counted[json.dumps(words)] += 1
    return [shapes.ClaimShape(**json.loads(words), releases=count) for words, count in counted.most_common()]


def _stored(request: Request, caller: Anyone, dataset: str, number: int) -> StoredRelease:
    curator = curator_of(request)
    return curator.release(caller, curator.dataset(caller, dataset), number)


def _view(release: Release, view: str, *, periods: int, every: str, fraction: float, level: float) -> View:
    match view:
        case "running_total":
            return release.running_total(level=level)
        case "rolling":
            return release.rolling(periods, level=level)
        case "resample":
            return release.resample(every, level=level)
        case "quantile":
            return release.quantile(fraction, level=level)
    return release.each_period(level=level)


def _signed(link: dict[str, Any]) -> SignedLink:
    if not all(isinstance(link.get(name), str) for name in ("body", "signature")):
        raise CertificateInvalid("a link lacks its body or its signature")
    return SignedLink(link["body"], link["signature"])
