"""What goes wrong, and facts: sentences that other answers hold."""

from __future__ import annotations

from pydantic import BaseModel, Field

__all__ = ["Fact", "Problem", "Refusal"]


class Problem(BaseModel):
    """What went wrong, in the one shape that everything has."""

    kind: str = Field(description="A word for programs.", examples=["budget_exhausted"])
    message: str = Field(description="A sentence for people; never a private value.")
    argument: str | None = Field(None, description="What to change, if it is one thing.")
    mend: str = Field("", description="What to do about it.")
    measure: str | None = Field(None, description="Of a refused budget: what its rule adds up.")
    asked: float | None = Field(None, description="Of a refused budget: how much the release would take.")
    spent: float | None = None
    limit: float | None = None
    left: float | None = None


class Refusal(BaseModel):
    """Every answer that is not the one hoped for."""

    error: Problem


class Fact(BaseModel):
    """A sentence with its label."""

    label: str = Field(examples=["Error"])
    text: str
