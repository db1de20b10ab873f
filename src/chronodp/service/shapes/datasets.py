"""What is public about a dataset."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

__all__ = ["ColumnShape", "DatasetShape", "DiscoverShape"]

_Document = dict[str, Any]


class ColumnShape(BaseModel):
    """A column that may be asked about."""

    clip: list[float] = Field(
        description="The widest clip that may be asked in periods of the dataset's own length: least and most."
    )
    clips: dict[str, list[float]] = Field(
        default_factory=dict, description="The same by length of a period; others of its totals are refused."
    )
    about: str
    norm: float | None = Field(
        None, description="The largest l2 norm of a whole series that may be asked; that of the widest clip if null."
    )
    norms: dict[str, float] = Field(default_factory=dict, description="The same by length of a period.")
    usual: dict[str, float] = Field(
        default_factory=dict,
        description="What one person usually has in a period, as declared, by its length; a clip below it is refused.",
    )


class DiscoverShape(BaseModel):
    """Keys that nobody declared and that may be found."""

    columns: list[str] = Field(description="Whose keys may be found; of a derived column, all that it is made of.")
    longest: int = Field(description="Bytes of the longest key that may be published.")
    max_keys: int = Field(description="How many keys of one person may count.")


class DatasetShape(BaseModel):
    """What is public about a dataset. Nothing here is read from its data."""

    name: str
    about: str
    user: str | None = Field(description="The column with the person; none where every row stands for itself.")
    every: str
    start: str
    end: str
    timezone: str
    periods: int
    unit: _Document = Field(description="Who is protected, as a document.")
    protects: str
    does_not_protect: str
    max_periods: int | None = Field(description="How many periods of one person count where a question says nothing.")
    most_periods: dict[str, int] = Field(
        default_factory=dict, description="The same by length of a period; empty where the unit needs no such limit."
    )
    usual_periods: dict[str, int] = Field(
        default_factory=dict, description="How many periods one person usually has, as declared, by their length."
    )
    people: int = Field(description="How many people there are, as declared; 0 if it is not.")
    columns: dict[str, ColumnShape]
    groups: dict[str, list[str]] = Field(description="Columns that may split an answer, with their public keys.")
    measures: list[str]
    workloads: list[str]
    grids: list[str]
    largest_epsilon: float | None = Field(
        description="The most that one release may cost, as an epsilon at the dataset's delta; the budget's if null."
    )
    largest_delta: float = Field(0.0, description="The largest delta that one release may state.")
    largest_cells: int
    least_group: int
    expression_columns: list[str] = Field(
        default_factory=list, description="Columns that may stand in `where` and in derived `columns`."
    )
    expression_functions: list[str] = Field(default_factory=list, description="Functions that may be called there.")
    find: bool = Field(False, description="Whether bounds may be found by a private step.")
    find_bounds: list[str] = Field(default_factory=list, description="Which bounds may be found.")
    places: bool = Field(True, description="Whether every level of a public tree of places may be asked.")
    missing: bool = Field(True, description="Whether the private figure of what bounds took away may be asked.")
    max_groups: int | None = Field(None, description="In how many groups of a period one person may count.")
    discover: DiscoverShape | None = Field(None, description="Which keys may be found by a private step; none if null.")
    reading: _Document | None = Field(
        None, description="How cells are written, as a document; none where that is the default."
    )
    share: bool = Field(description="Whether releases are shared among analysts, and repeated for nothing.")
    epsilon: float
    delta: float
    reserve: float = Field(0.0, description="The part of delta for failures, which finding keys needs.")
    renews: str | None
