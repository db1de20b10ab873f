"""Certificates, their chain and key, and what they claim."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

__all__ = ["CertificateShape", "ChainShape", "ClaimShape", "KeyShape", "VerifiedShape"]

_Document = dict[str, Any]


class CertificateShape(BaseModel):
    """A signed certificate, in words and as it was signed."""

    number: int
    words: str
    certificate: _Document
    link: dict[str, str]
    digest: str
    public_key: str


class ChainShape(BaseModel):
    """Every certificate of a dataset, chained, with what is needed to verify it."""

    dataset: str
    public_key: str
    head: str
    links: list[dict[str, str]]


class KeyShape(BaseModel):
    """The key that certificates are verified with."""

    public_key: str
    algorithm: Literal["Ed25519"] = "Ed25519"


class VerifiedShape(BaseModel):
    """Whether a release or a chain is genuine."""

    valid: bool
    why: str
    links: int
    requests: list[str]


class ClaimShape(BaseModel):
    """What releases claim: by which mechanism, for whom, at what cost, and where the argument stands."""

    mechanism: str
    unit: str
    theorem: str
    precision: str
    argument: str
    releases: int
