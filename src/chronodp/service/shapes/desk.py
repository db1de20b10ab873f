"""The shapes of what the owner's desk shows: tokens, policies in words, spending over time, publications."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from chronodp.service.shapes.problems import Problem

__all__ = [
    "CheckedPolicyShape",
    "MadeTokenShape",
    "PolicyShape",
    "PublicationShape",
    "SpendingShape",
    "SpentDayShape",
    "SpentShape",
    "TokenShape",
]


class TokenShape(BaseModel):
    """What is known of a token: everything but the token."""

    id: str = Field(description="The part of a token that is no secret: by it a token is revoked.")
    name: str
    role: Literal["owner", "analyst", "auditor"]
    made: str
    expires: str
    revoked: str | None = Field(description="When it was closed for good; null if it was not.")
    state: Literal["valid", "expired", "revoked"]
    mine: bool = Field(description="Whether this call came with it, or with a session that it opened.")


class MadeTokenShape(TokenShape):
    """A new token, shown this once."""

    token: str = Field(description="To be handed to whom it is for; it is kept as a digest and never shown again.")


class SpentShape(BaseModel):
    """How much of a dataset's whole budget is used."""

    dataset: str
    epsilon: float
    delta: float
    share: float = Field(description="From 0 to 1; of a budget that renews, in its newest period with a charge.")


class SpentDayShape(BaseModel):
    """How a budget stood at the end of a day."""

    day: str = Field(description="In UTC.", examples=["2026-01-31"])
    share: float = Field(description="How much of the whole budget was used, from 0 to 1.")
    charges: int = Field(description="How many were granted on that day.")


class SpendingShape(BaseModel):
    """A dataset's whole budget over time."""

    dataset: str
    epsilon: float
    delta: float
    period: str = Field(description="Of a budget that renews; empty otherwise.")
    opening: float = Field(description="How much was used before the first of these days, from 0 to 1.")
    share: float = Field(description="How much is used now, from 0 to 1.")
    days: list[SpentDayShape] = Field(description="Days with a charge, oldest first: the newest 366 of them.")


class PolicyShape(BaseModel):
    """What a policy allows of a dataset."""

    dataset: str
    about: str
    words: list[str] = Field(description="Sentences: what may be asked, and what it costs at most.")


class CheckedPolicyShape(BaseModel):
    """What a policy would allow, or what is wrong with it."""

    problem: Problem | None = Field(description="What cannot be read, and the mend; null if all of it can.")
    line: int | None = Field(description="In which line of the text, if that is known.")
    warnings: list[str] = Field(description="What the owner may not have meant, each with its line.")
    datasets: list[PolicyShape]


class PublicationShape(BaseModel):
    """Something that was published about people."""

    issued: str
    dataset: str
    number: int = Field(description="Of the release in the dataset's chain.")
    unit: str = Field(description="About whom, and what of them is protected.")
    what: str = Field(description="The question, in words.")
    who: str
    request: str
    epsilon: float | None = Field(description="What it cost, at the dataset's delta; null where that says nothing.")
    delta: float = Field(description="The dataset's.")
