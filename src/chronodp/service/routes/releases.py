"""Releases and their certificates; the key and the check of certificates; claims."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.ledger import (
    SignedLink,
    StoredRelease,
    chain_pieces,
    check_labels,
    digest,
    numbers_in,
    release_pieces,
    verify,
    verify_chain,
)
from chronodp.privacy import to_document
from chronodp.service import shapes
from chronodp.service.access import Anyone, Inspector, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.listing import releases_on, seen_by, whose
from chronodp.service.paging import NEXT, PAGED, LongPage, ShortPage, cut
from chronodp.service.routes.asking import Named, OfDataset, Who
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
    links: list[dict[str, Any]] | None = Field(
        None, min_length=1, max_length=100_000, description="A chain, oldest first."
    )
    dataset: str | None = Field(None, max_length=1000, description="The dataset that the chain is said to be of.")
    public_key: str | None = Field(
        None, max_length=1000, description="The key that the chain is said to be signed with."
    )
    first: int = Field(
        1,
        ge=1,
        le=2**53,
        description="The number of the first link: a long chain is checked by stretches, each of which begins with the "
        "last link of the one before.",
    )
    head: str | None = Field(None, max_length=64, description="The digest of the newest link, if it is known.")


@router.get(
    "/datasets/{dataset}/releases",
    tags=["releases"],
    summary="List releases of a dataset",
    responses=refusals_for(404) | PAGED,
)
def list_releases_of(
    request: Request,
    response: Response,
    caller: Anyone,
    dataset: Named,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Only those with a smaller number.")] = None,
    who: Who = None,
) -> list[shapes.ReleaseLine]:
    """The newest first: everyone's where the policy shares them, else your own."""
    curator = curator_of(request)
    asked = curator.dataset(caller, dataset)
    seen, by = seen_by(caller, [asked]), whose(who)
    if seen.own and by not in (None, seen.by):
        return []
    by = seen.by if seen.own else by
    found = curator.ledger.stored.listed(asked.name, by=by, before=before, limit=limit + 1)
    return [show_line(one) for one in cut(response, found, limit, lambda one: str(one.number))]


@router.get(
    "/releases", tags=["releases"], summary="List releases of all datasets", responses=refusals_for(404) | PAGED
)
def list_all_releases(
    request: Request, caller: Anyone, page: ShortPage, dataset: OfDataset = None, who: Who = None
) -> list[shapes.ReleaseLine]:
    """What you may read, in the order in which it was paid for, newest first."""
    curator = curator_of(request)
    asked = curator.datasets(caller) if dataset is None else [curator.dataset(caller, dataset)]
    return [show_line(one) for one in releases_on(page, curator, caller, asked, who)]


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
    summary="Get the certificates of a dataset, chained",
    responses=refusals_for(404) | PAGED,
)
def get_chain(
    request: Request,
    response: Response,
    caller: Inspector,
    dataset: Named,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    after: Annotated[int, Query(ge=0, le=2**53, description="Only links with a larger number.")] = 0,
) -> shapes.ChainShape:
    """For owners and auditors: links oldest first, by pages, and the digest of the newest of all, `head`."""
    curator = curator_of(request)
    chain = curator.ledger.export(curator.dataset(caller, dataset).name, after=after, limit=limit)
    if len(chain["links"]) == limit and digest(chain["links"][-1]["body"]) != chain["head"]:
        response.headers[NEXT] = str(after + limit)
    return shapes.ChainShape(**chain)


@router.get(
    "/datasets/{dataset}/chain/file",
    tags=["releases"],
    summary="Get every certificate of a dataset as one file",
    response_class=StreamingResponse,
    responses=refusals_for(404)
    | {200: {"description": "The file.", "content": {"application/json": {"schema": {"type": "object"}}}}},
)
def get_chain_file(request: Request, caller: Inspector, dataset: Named) -> Response:
    """For owners and auditors: the file that `chronodp verify` checks for links changed, removed, added or moved."""
    curator = curator_of(request)
    pieces = chain_pieces(curator.ledger, curator.dataset(caller, dataset).name)
    headers = {"Content-Disposition": 'attachment; filename="chain.json"'}
    return StreamingResponse(pieces, media_type="application/json", headers=headers)


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
            links = verify_chain([_signed(link) for link in checked.links], key, head=checked.head, first=checked.first)
            check_labels(links, key, dataset=checked.dataset, public_key=checked.public_key)
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


@router.get("/claims", tags=["certificates"], summary="List what releases claim", responses=refusals_for() | PAGED)
def list_claims(request: Request, caller: Anyone, page: LongPage) -> list[shapes.ClaimShape]:
    """Every mechanism that released something you may see, for whom it claims what, and where the argument stands.

    What most releases claim comes first.
    """
    curator = curator_of(request)
    seen = seen_by(caller, curator.datasets(caller))
    found = curator.ledger.stored.claims(
        whole=seen.whole, own=seen.own, by=seen.by, before=page.place(int, str), limit=page.looked_for
    )
    shown = page.cut(found, lambda one: (one.releases, one.claim))
    return [shapes.ClaimShape(**asdict(one.words), releases=one.releases) for one in shown]


def stored_release(request: Request, caller: Anyone, dataset: str, number: int) -> StoredRelease:
    """Return a stored release that the caller may read."""
    curator = curator_of(request)
    return curator.release(caller, curator.dataset(caller, dataset), number)


def _signed(link: dict[str, Any]) -> SignedLink:
    if not all(isinstance(link.get(name), str) for name in ("body", "signature")):
        raise CertificateInvalid("a link lacks its body or its signature")
    return SignedLink(link["body"], link["signature"])
