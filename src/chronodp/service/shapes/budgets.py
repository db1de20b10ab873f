"""What is spent, and what is left."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

__all__ = ["BudgetShape", "EntryShape"]

_Document = dict[str, Any]


class BudgetShape(BaseModel):
    """What is spent and what is left: of the whole, of the caller's part, and of everyone's for who may see it."""

    whole: _Document
    mine: _Document | None
    analysts: dict[str, _Document]


class EntryShape(BaseModel):
    """One charge. Of others', where releases are not shared: that there is one, and when it was made."""

    number: int
    made: str
    who: str
    request: str = Field(description="Empty where it is not yours to know, as are period and cost.")
    period: str
    cost: str
