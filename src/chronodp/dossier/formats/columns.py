"""The columns of the one table of all numbers with times, and what SDMX's data structure says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["COLUMNS", "LEVEL", "TOTAL", "UNSAID", "Column"]

LEVEL = 0.95
TOTAL, UNSAID = "_T", "_U"
"""SDMX's own words for a total and for what is not known."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table.

    Attributes:
        name: in the table.
        role: in SDMX's data structure; None for the columns that name the structure itself.
        kind: of its cells.
        about: what it holds.
    """

    name: str
    role: Literal["dimension", "time", "measure", "attribute"] | None
    kind: Literal["string", "integer", "number", "datetime"]
    about: str


COLUMNS = (
    Column("STRUCTURE", None, "string", "Of SDMX: what the next column names."),
    Column("STRUCTURE_ID", None, "string", "Of SDMX: the data structure that the other columns follow."),
    Column("RELEASE", "dimension", "integer", "The number of the release in the dataset's chain."),
    Column("SERIES", "dimension", "string", f"Which question and groups; {TOTAL} where there is one series alone."),
    Column("TIME_PERIOD", "time", "datetime", "When the period begins."),
    Column("OBS_VALUE", "measure", "number", "The released value, with noise."),
    Column("LOWER_BOUND", "attribute", "number", "The lower end of the interval, in the unit of the value."),
    Column("UPPER_BOUND", "attribute", "number", "The upper end of the interval, in the unit of the value."),
    Column(
        "CONF_LEVEL", "attribute", "number", "How often such intervals cover the value without noise, of bounded data."
    ),
    Column("UNIT_MEASURE", "attribute", "string", f"The unit of measurement; {UNSAID} where it is not known."),
    Column("PERIOD_LENGTH", "attribute", "string", "How long the period is, by ISO 8601."),
)
