"""The table of a release as it is asked for by query parameters, and the view that answers it. All of it is free."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_LISTED, StoredRelease
from chronodp.series import QuantileRelease, ReadingRequest, Release, View, read_view
from chronodp.service.stored import open_part

__all__ = ["TableAsked", "asked_view"]

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Keys = Annotated[list[Annotated[str, Field(min_length=1, max_length=2**16)]], Field(max_length=16)]
_Length = Annotated[str, Field(max_length=10)]
_Ends = Annotated[list[float], Field(min_length=2, max_length=2)]
_Dates = Annotated[list[Annotated[str, Field(max_length=40)]], Field(min_length=2, max_length=2)]

_PLAIN = frozenset({"part", "view", "periods", "every", "fraction", "level", "form"})


class TableAsked(BaseModel):
    """What of a release is shown, and how. Steps are taken in the order in which they stand here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    part: _Name | None = Field(None, description="Of queries released together: which one.")
    places: _Name | None = Field(None, description="The level of places.")
    at: _Keys = Field([], description="Keys of groupings or levels, as `county=c12`; may be repeated.")
    over: Annotated[list[_Name], Field(max_length=16)] = Field(
        [], description="Groupings that are added up; may be repeated."
    )
    over_all: bool = Field(False, description="Whether all are.")
    resample: _Length | None = Field(None, description="Longer periods, as `1W`, before means or totals are taken.")
    view: Literal["each_period", "running_total", "rolling", "resample", "quantile"] = "each_period"
    periods: int = Field(7, ge=1, le=2**24, description="Of `rolling`: how many.")
    every: _Length = Field("1D", description="Of `resample`: how long.")
    fraction: float = Field(0.5, gt=0, lt=1, description="Of `quantile`: 0.5 for the median.")
    share: bool = Field(False, description="Whether each is shown as a part of all groups together.")
    ratio_part: _Name | None = Field(None, description="Of queries released together: the one that it is divided by.")
    ratio_at: _Keys = Field([], description="The keys that it is divided by, of that part or of the same.")
    within: _Ends | None = Field(None, description="Where the ratio is known to be: low and high, `within=0&within=1`.")
    baseline: _Dates | None = Field(
        None, description="First and last date that the change is told against: `baseline=A&baseline=B`."
    )
    match: Literal["weekday"] | None = Field(None, description="Of a change: compare with the same weekday.")
    statistic: Literal["mean", "median"] = Field("mean", description="Of the baseline.")
    scale: Literal["percent", "index"] = Field("percent", description="Of a change; the index is 100 at the baseline.")
    relative: float | None = Field(
        None, gt=0, le=1e9, description="Leave out cells whose interval reaches farther than so many times the value."
    )
    points: float | None = Field(None, gt=0, le=1e300, description="Leave out cells that may be farther off than this,")
    chance: float | None = Field(None, gt=0, lt=1, description="with a larger probability than this; 0.05.")
    coverage: Literal["published", "each", "given"] = Field(
        "published", description="In which sense intervals of what is shown hold."
    )
    level: float = Field(0.95, gt=0, lt=1, description="How often intervals hold the value before noise.")
    simultaneous: bool = Field(False, description="Whether all intervals of a share, ratio or change hold at once.")
    form: Literal["json", "csv", "parquet"] = Field("json", alias="format")

    @property
    def reading(self) -> ReadingRequest:
        """What is read, with the view as a step of it."""
        if self.resample is not None and self.view == "resample":
            raise InvalidArgument("resample", self.resample, "left out beside view=resample, whose length is every")
        return ReadingRequest(
            places=self.places,
            at=self.at,
            over=self.over,
            over_all=self.over_all,
            resample=self.every if self.view == "resample" else self.resample,
            rolling=self.periods if self.view == "rolling" else None,
            running_total=self.view == "running_total",
            share=self.share,
            ratio_at=self.ratio_at,
            within=None if self.within is None else (self.within[0], self.within[1]),
            change=None if self.baseline is None else (self.baseline[0], self.baseline[1]),
            match=self.match,
            statistic=self.statistic,
            scale=self.scale,
            relative=self.relative,
            points=self.points,
            chance=self.chance,
            coverage=self.coverage,
            level=self.level,
            simultaneous=self.simultaneous,
        )

    @property
    def plain(self) -> bool:
        """Whether nothing is asked but a view of a release."""
        return self.model_fields_set <= _PLAIN


def asked_view(stored: StoredRelease, asked: TableAsked) -> View:
    """Return what is asked of a stored release; ratios and rules are of 2^20 cells at most."""
    given = open_part(stored, asked.part, "part", level=asked.level)
    if isinstance(given, QuantileRelease):
        return _quantile_view(given, asked)
    if asked.plain and isinstance(given, Release):
        return _plain_view(given, asked)
    if asked.view == "quantile":
        raise InvalidArgument("view", "quantile", "used alone: a quantile is no sum, and has no share or rule")
    other: Release | View | None = None
    if asked.ratio_part is not None:
        divisor = open_part(stored, asked.ratio_part, "ratio_part", level=asked.level)
        if isinstance(divisor, QuantileRelease):
            raise InvalidArgument("ratio_part", asked.ratio_part, "a count or a sum: quantiles divide nothing")
        other = divisor
    reading = asked.reading
    try:
        return read_view(given, reading, other=other, most=MOST_LISTED)
    except InvalidArgument as error:
        name = {
            "rolling": "periods",
            "running_total": "view",
            "resample": "every" if asked.view == "resample" else "resample",
            "ratio": "ratio_at" if asked.ratio_part is None else "ratio_part",
            "change": "baseline",
        }.get(error.name, error.name)
        raise (error if error.name == name else error.renamed(name)) from None


def _quantile_view(release: QuantileRelease, asked: TableAsked) -> View:
    if not asked.plain:
        name = sorted(asked.model_fields_set - _PLAIN)[0]
        raise InvalidArgument(name, "given", "left out: these are quantiles, which are no sums")
    if asked.view == "quantile":
        return release.quantile(asked.fraction, level=asked.level)
    if asked.view != "each_period":
        raise InvalidArgument("view", asked.view, "each_period or quantile: these are quantiles")
    return release.each_period(level=asked.level)


def _plain_view(release: Release, asked: TableAsked) -> View:
    """Return a view with all that a release has beside it: with `Missing`, also of the numbers without bounds."""
    match asked.view:
        case "running_total":
            return release.running_total(level=asked.level)
        case "rolling":
            return release.rolling(asked.periods, level=asked.level)
        case "resample":
            return release.resample(asked.every, level=asked.level)
        case "quantile":
            return release.quantile(asked.fraction, level=asked.level)
        case _:
            return release.each_period(level=asked.level)
