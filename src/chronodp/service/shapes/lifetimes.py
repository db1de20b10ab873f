"""The shapes of answers about lifetime series."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from chronodp.service.shapes.problems import Fact

__all__ = ["IssueShape", "LifetimeShape", "StretchShape"]


class StretchShape(BaseModel):
    """Periods from a moment to another."""

    start: str
    end: str


class IssueShape(StretchShape):
    """An issue of a lifetime series."""

    issue: int = Field(description="Its number in the series, from 1.")
    release: int | None = Field(
        description="The number of the release in the dataset's chain; null if it is not yours."
    )
    request: str = Field(description="As the ledger knows it: NAME/ID; empty if it is not yours.")
    who: str
    issued: str
    takes: str = Field(description="What a counted period of it takes of a life, in words; empty if it is not yours.")


class LifetimeShape(BaseModel):
    """What is public about a lifetime series. Nothing here is read from the data or from what people have used."""

    name: str
    dataset: str
    what: str = Field(description="What its issues release.")
    every: str
    timezone: str
    epsilon: float = Field(description="Of all issues together, past and future.")
    delta: float
    max_periods: int = Field(description="How many full periods of one person count, ever.")
    pays: Literal["own", "share"]
    half_width: float = Field(description="How far noise carries one number of any issue, in 95 of 100 cases.")
    cliff: str = Field(description="When those who were there from the start stop counting.")
    facts: list[Fact] = Field(description="The series in sentences.")
    clip: list[float] | None = Field(description="Of a sum, that of the series; an issue may ask another.")
    widest: list[float] | None = Field(description="The widest clip that an issue may ask.")
    times: int = Field(description="How many issues may hold the same period.")
    most_a_month: int = Field(description="How many issues all analysts together may ask for in a calendar month.")
    may_ask: bool = Field(description="Whether you may ask for issues.")
    next: StretchShape | None = Field(description="The first period after all issues; null where the grid ends.")
    issues: list[IssueShape] = Field(description="The newest first.")
