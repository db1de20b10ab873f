"""Releases, and what is read from them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from chronodp.service.shapes.problems import Fact

__all__ = ["LevelShape", "PartShape", "ReleaseLine", "ReleaseShape", "TableShape", "TryShape"]


class TableShape(BaseModel):
    """A long table: time, groups, value, lower, upper; a note says what the bands cover.

    Of ratios and of what a rule leaves also kind (`interval`, `outside` a gap, the whole `line`, `empty`), the ends of
    the gap, and why a value is missing.
    """

    title: str
    label: str
    level: float
    note: str = ""
    steps: list[str] = Field(default_factory=list, description="What was done with the released numbers, in words.")
    columns: list[str]
    rows: list[list[Any]]


class TryShape(BaseModel):
    """What a release would look like, on made-up rows of the same schema."""

    made_up: Literal[True] = True
    note: str
    table: TableShape


class ReleaseLine(BaseModel):
    """A release in a list."""

    number: int
    dataset: str
    request: str
    who: str
    issued: str
    kind: str
    what: str
    epsilon: float
    delta: float


class LevelShape(BaseModel):
    """A level of places."""

    name: str
    places: int


class PartShape(BaseModel):
    """What can be read of a release, or of one of several queries released together."""

    name: str = Field(description="To be sent as `part`; empty where the release has one alone.")
    what: str
    periods: int
    readings: list[str] = Field(description="Which views `table` offers.")
    offers: list[str] = Field(
        description="What else it offers: places, at, over, resample, rolling, running_total, share, ratio, change, "
        "publish."
    )
    groups: dict[str, list[str]] = Field(description="Groupings with their keys; empty above 1,000: see `keys`.")
    levels: list[LevelShape] = Field(description="Levels of places, root first.")


class ReleaseShape(ReleaseLine):
    """A release with its text and its signed link: the file that `chronodp verify` reads."""

    release: str
    beside: int = Field(0, description="How many numbers the text names and does not list; `file` has all of them.")
    link: dict[str, str]
    facts: list[Fact]
    readings: list[str] = Field(description="Which views `table` offers; of several queries see `parts`.")
    parts: list[PartShape] = Field(default_factory=list, description="What can be read, and how.")
    keys: list[str] | None = Field(None, description="The keys that were found; null where all were declared.")
