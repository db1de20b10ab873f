"""Releases and their certificates; the key and the check of certificates; claims."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.ledger import SignedLink, StoredRelease, numbers_in, release_pieces, verify, verify_chain
from chronodp.privacy import to_document
from chronodp.service import shapes
from chronodp.service.access import Anyone, Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.routes.asking import Named
from chronodp.service.stored import show_line, show_release

__all__ = ["Checked", "Number", "router", "stored_release"]

router = APIRouter()

Number = Annotated[int, Path(ge=1, le=2**53, description="The release's number in the dataset's chain.")]
_ARROW = "application/vnd.apache.arrow.file"


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
        shapes.ReleaseLine(**show_line(asked.name, stored))
        for stored in found
        if curator.may_read(caller, asked, stored.request)
    ]


@router.get(
    "/datasets/{dataset}/releases/{number}", tags=["releases"], summary="Get a release", responses=refusals_for(404)
)
def get_release(request: Request, caller: Anyone, dataset: Named, number: Number) -> shapes.ReleaseShape:
    """The release's text with its signed link, which `chronodp verify` and `Release.load` read, and its facts."""
    return show_release(dataset, stored_release(request, caller, dataset, number))


@router.get(
    "/datasets/{dataset}/releases/{number}/file",
    tags=["releases"],
    summary="Get a release as one file: JSON, or Arrow where its numbers stand beside its text",
    response_class=StreamingResponse,
    responses=refusals_for(404)
    | {
        200: {
            "description": "The file that `chronodp verify` and `Release.load` read.",
            "content": {"application/json": {"schema": {"type": "object"}}, _ARROW: {"schema": {"type": "string"}}},
        }
    },
)
def get_file(request: Request, caller: Anyone, dataset: Named, number: Number) -> Response:
    """The release with all of its numbers and its signed link, sent part by part."""
    stored = stored_release(request, caller, dataset, number)
    form, media = ("arrow", _ARROW) if stored.parts else ("json", "application/json")
    headers = {"Content-Disposition": f'attachment; filename="release-{number}.{form}"'}
    return StreamingResponse(release_pieces(stored.written, stored.signed), media_type=media, headers=headers)


@router.get(
    "/datasets/{dataset}/releases/{number}/certificate",
    tags=["releases"],
    summary="Get a release's certificate",
    responses=refusals_for(404),
)
def get_certificate(request: Request, caller: Anyone, dataset: Named, number: Number) -> shapes.CertificateShape:
    """The certificate in words, as a document, and as it was signed, with the public key."""
    stored = stored_release(request, caller, dataset, number)
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
            if checked.release is not None and numbers_in(checked.release):
                belongs += ", whose numbers stand beside it: `chronodp verify` checks its file"
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


def stored_release(request: Request, caller: Anyone, dataset: str, number: int) -> StoredRelease:
    """Return a stored release that the caller may read."""
    curator = curator_of(request)
    return curator.release(caller, curator.dataset(caller, dataset), number)


def _signed(link: dict[str, Any]) -> SignedLink:
    if not all(isinstance(link.get(name), str) for name in ("body", "signature")):
        raise CertificateInvalid("a link lacks its body or its signature")
    return SignedLink(link["body"], link["signature"])
