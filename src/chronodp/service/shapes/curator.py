"""The curator itself: who calls, whether it can spend, and what holds it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["HealthShape", "HoldShape", "MeShape", "SessionShape"]


class MeShape(BaseModel):
    """Who the caller is."""

    name: str
    role: Literal["owner", "analyst", "auditor"]
    datasets: list[str]
    title: str


class SessionShape(BaseModel):
    """A session of the page."""

    name: str
    role: Literal["owner", "analyst", "auditor"]
    csrf: str = Field(description="To be sent as X-CSRF-Token with every change.")


class HealthShape(BaseModel):
    """Whether the service can spend, only read, or neither."""

    status: Literal["ok", "read-only", "held"]
    why: str | None = Field(description="What keeps releases from being made; null while they are.")
    ledger: Literal["ok", "unavailable"]
    version: str


class HoldShape(BaseModel):
    """While it stands, no job of a dataset is begun, or none at all."""

    id: str
    dataset: str = Field(description="Empty for all.")
    why: str
    by_whom: str = Field(description="An owner's name; empty for the curator itself.")
    made: str
