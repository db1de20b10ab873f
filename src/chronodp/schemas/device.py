"""What a device is given, and what it reports: tables of whole numbers, so that any small program can follow them."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from chronodp.local import LocalPlan

__all__ = ["DevicePlan", "DeviceReport"]

Positive = Annotated[int, {"minimum": 1}]
Count = Annotated[int, {"minimum": 0}]
Short = Annotated[str, {"pattern": "^[0-9a-f]{16}$"}]


class ChoiceTable(TypedDict):
    """The held value with probability keep / whole, else another one, all alike."""

    kind: Literal["choice"]
    choices: Positive
    keep: Positive
    whole: Positive


class UnaryTable(TypedDict):
    """A bit for every value: set with probability held / whole, or other / whole."""

    kind: Literal["unary"]
    choices: Positive
    held: Positive
    other: Positive
    whole: Positive


class HashingTable(TypedDict):
    """As a choice, among buckets of a drawn hash."""

    kind: Literal["hashing"]
    choices: Positive
    prime: Positive
    buckets: Positive
    keep: Positive
    whole: Positive


class BitTable(TypedDict):
    """An amount rounded to one of two ends at random, and that bit kept or turned."""

    kind: Literal["bit"]
    lower: float
    upper: float
    steps: Positive
    keep: Positive
    whole: Positive


class PiecewiseTable(TypedDict):
    """An amount near the held one with probability inside / whole."""

    kind: Literal["piecewise"]
    lower: float
    upper: float
    outputs: Positive
    window: Positive
    inside: Positive
    whole: Positive


class HybridTable(TypedDict):
    """The first table with probability share / whole, else the second."""

    kind: Literal["hybrid"]
    share: Count
    whole: Positive
    parts: tuple[PiecewiseTable, BitTable]


class LaplaceTable(TypedDict):
    """An amount on a grid with discrete Laplace noise; its scale is a fraction."""

    kind: Literal["laplace"]
    lower: float
    upper: float
    steps: Positive
    scale: tuple[Positive, Positive]
    least: int
    most: int


Table = ChoiceTable | UnaryTable | HashingTable | BitTable | PiecewiseTable | HybridTable | LaplaceTable


class FreshTable(TypedDict):
    """A report in every slot."""

    kind: Literal["fresh"]
    horizon: Positive


class SlotsTable(TypedDict):
    """Reports in some slots, drawn once."""

    kind: Literal["slots"]
    horizon: Positive
    reports: Positive


class MemoisedTable(TypedDict):
    """A kept answer for every value, told again with fresh noise."""

    kind: Literal["memoised"]
    horizon: Positive
    max_values: Positive
    keep: Positive
    whole: Positive
    keep_again: Positive
    whole_again: Positive


class WindowTable(TypedDict):
    """So many reports in any window of slots."""

    kind: Literal["window"]
    window: Positive
    reports: Positive
    phased: bool


class Epsilon(TypedDict):
    """What is given away: by one report, and by all of them."""

    report: float
    same_pattern: float | Literal["unbounded"]
    any_pattern: float | Literal["unbounded"]


class DevicePlan(TypedDict):
    """What a device is given, and in ``source`` the plan that it follows from."""

    format: Literal["chronodp device plan"]
    version: Literal[1]
    name: str
    mechanism: Table
    protocol: FreshTable | SlotsTable | MemoisedTable | WindowTable
    epsilon: Epsilon
    linkable: bool
    source: LocalPlan


class DeviceReport(TypedDict):
    """A report, as one line of JSON."""

    version: Literal[1]
    plan: Short
    slot: Count
    id: Annotated[str, {"pattern": "^[0-9a-f]{32}$"}]
    answer: list[int]
