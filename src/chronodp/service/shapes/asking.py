"""Plans, prices and jobs: what answers a question before its release."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from chronodp.service.shapes.problems import Fact, Problem

__all__ = ["JobShape", "PlanShape", "QuoteShape"]

_Document = dict[str, Any]


class PlanShape(BaseModel):
    """A plan: price and error before anything is read."""

    design: _Document = Field(description="Everything public about the release; `Design` of the library.")
    facts: list[Fact] = Field(description="The plan in sentences.")
    half_width: float | None = Field(
        description="How far noise carries what the plan is tuned for, in 95 of 100 cases; null where bounds are found."
    )
    scale: float | None = Field(
        None,
        description="About how large the numbers are, by what the owner declared of people and what they usually have; "
        "null where nothing is declared.",
    )
    epsilon: float
    delta: float
    cost: str
    alternatives: list[_Document] = Field(
        description="Every candidate with its error, the chosen one first; where bounds are found, those that may be."
    )
    bands: dict[str, list[float]] = Field(
        description="Half widths at 95 %, for at most 200 evenly spaced periods, by reading; empty for means, "
        "and where bounds are found."
    )
    fits: bool = Field(description="Whether the budget could pay it now.")
    refusal: Problem | None = Field(description="Why not, with asked, spent and left.")
    share: float = Field(description="How much of the whole budget is used now, from 0 to 1.")


class QuoteShape(BaseModel):
    """What submitting a question would debit now. Nothing is submitted, spent or read."""

    debits: bool = Field(description="Whether anything would be debited; not if it was asked before, or is stored.")
    why: str = Field(description="Why nothing would be; empty if something would.")
    release: int | None = Field(description="The number of the release that answers it for nothing, once there is one.")
    epsilon: float = Field(description="What it would cost, as an epsilon at `delta`; 0 if nothing.")
    delta: float = Field(description="The delta of the dataset's whole budget.")
    left: float | None = Field(
        description="How much of the whole budget would be left after it, from 0 to 1; null where nothing is debited, "
        "or where the whole does not pay."
    )
    left_of_mine: float | None = Field(description="The same of your own part; null where you have none.")


class JobShape(BaseModel):
    """A submitted question and how far it is."""

    id: str
    dataset: str
    request: str = Field(description="As the ledger knows it: NAME/ID.")
    state: Literal["waiting", "held", "running", "done", "refused", "failed", "lost"]
    submitted: str
    ended: str | None
    release: int | None = Field(description="The number of the release in the dataset's chain, once it is done.")
    repeated: bool = Field(description="Whether an earlier release of the same design answers it, for nothing.")
    problem: Problem | None
