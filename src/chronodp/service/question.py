"""A question as JSON, and the query that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model
from pydantic.config import JsonDict

from chronodp.dataset import BOUNDS, FindBounds, Queries, Query, ask_question
from chronodp.engines import LONGEST_EXPRESSION
from chronodp.privacy import load
from chronodp.series import ASKABLE, Discover, Find, Missing, Workload
from chronodp.series.measures import MOST_BINS, MOST_QUANTILES, Asking
from chronodp.series.places import PlaceLevels

__all__ = ["DiscoverAsked", "PlacesAsked", "QueryRequest", "ask"]

Planned = TypeVar("Planned")

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Key = Annotated[str, Field(min_length=1, max_length=2**16)]  # as long as any that is found
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]  # a text such as "1" is no number
_Whole = Annotated[int, Field(strict=True, ge=1, le=2**30)]
_Clip = Annotated[list[_Number], Field(min_length=2, max_length=2, examples=[[0.0, 3.0]])]
_Every = Annotated[str, Field(max_length=10, pattern=r"^[1-9][0-9]{0,5}(s|min|h|D|W|mo|Y)$", examples=["1h", "1D"])]
_Expression = Annotated[str, Field(min_length=1, max_length=LONGEST_EXPRESSION)]
_Moment = Annotated[str, Field(max_length=40, examples=["2026-01-01"])]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_KINDS: dict[str, Any] = {
    "column": _Name,
    "clip": _Clip,
    "clips": Annotated[
        Annotated[_Clip, Tag("one")]
        | Annotated[dict[_Key, _Clip], Field(min_length=1, max_length=1000), Tag("by key")],
        Discriminator(lambda clip: "by key" if isinstance(clip, dict) else "one"),
    ],
    "edges": Annotated[list[_Number], Field(min_length=2, max_length=MOST_BINS + 1)],
    "fractions": Annotated[
        list[Annotated[_Number, Field(gt=0, lt=1)]], Field(min_length=1, max_length=MOST_QUANTILES, examples=[[0.5]])
    ],
    "whole": _Whole,
    "length": _Every,
    "number": Annotated[_Number, Field(gt=0)],
    "truth": bool,
}


def _described(asking: Asking) -> type[_Part]:
    """Return the model of a kind of question, as it is described beside its measure."""
    fields: dict[str, Any] = {"kind": (Literal[asking.kind], ...)}
    for argument in asking.arguments:
        kind = Literal[argument.words] if argument.kind == "word" else _KINDS[argument.kind]
        optional = argument.found or (not argument.needed and argument.default is None)
        default = None if optional else ... if argument.needed else argument.default
        described = Field(default, description=argument.about or None)
        fields[argument.name] = (kind | None if optional else kind, described)
    return create_model(f"{asking.kind.capitalize()}Asked", __base__=_Part, __doc__=asking.about, **fields)


class BlockAsked(_Part):
    """The total, the largest or the least within longer periods, such as the daily peak of an hourly load."""

    statistic: Literal["total", "peak", "trough"]
    every: _Every


class WorkloadAsked(_Part):
    """What the error is to be small for; `periods`, `alpha`, `weights` or `levels` as the kind needs them."""

    kind: Literal["each_period", "running_total", "rolling", "ewm", "filter", "hierarchy"]
    periods: _Whole | None = None
    alpha: _Number | None = None
    weights: list[_Number] | None = Field(None, max_length=4096)
    levels: list[_Whole] | None = Field(None, max_length=64)


class FindAsked(_Part):
    """Bounds that a private step finds, from a part of the price; they are left out where they would stand."""

    bounds: list[Literal["clip", "at_most", "norm", "edges", "max_periods", "max_groups"]] = Field(
        min_length=1, max_length=len(BOUNDS)
    )
    share: _Number = Field(Find().share, gt=0, lt=1, description="The part of the price that finds them.")
    between: _Clip | None = Field(
        None, description="Public ends of the largest size in a period, of the norm or of edges."
    )
    from_zero: bool = Field(
        False, description="Totals below 0 count as 0, and only the most of a clip is found; edges begin at 0."
    )


class DiscoverAsked(_Part):
    """In place of a column's keys: those that enough people hold are found by a private step, and published."""

    max_keys: _Whole | None = Field(
        None, description="How many keys of one person count, over the whole series; left out for other units."
    )
    delta: Annotated[_Number, Field(gt=0, lt=1)] | None = Field(
        None, description="Probability that a key of one person alone is published; 0.4 of the question's delta."
    )
    share: _Number = Field(
        Discover().share,
        ge=0,
        lt=1,
        description="The part of the price that finds keys; 0 where published counts of one period decide.",
    )
    most: _Whole | None = Field(None, description="How many keys are published at most; as many as the policy allows.")
    longest: _Whole | None = Field(
        None, description="Bytes of the longest key, rows with longer ones are left out; as long as the policy allows."
    )

    @property
    def discover(self) -> Discover:
        """How keys are found, with the library's own word for what is left out."""
        return Discover(**self.model_dump(exclude_none=True))


def _how(keys: object) -> str:
    """Return whether keys are given or found, so that what is wrong is told of one of both."""
    return "given" if isinstance(keys, list | tuple) else "found"


_KeysAsked = Annotated[
    Annotated[list[_Key], Field(min_length=1, max_length=10_000), Tag("given")]
    | Annotated[DiscoverAsked, Tag("found")],
    Discriminator(_how),
]


class PlacesAsked(_Part):
    """A public tree over the keys of one column of `by`, in the order of these keys: every level is released."""

    column: _Name = Field(description="The column of `by` whose keys are the leaves.")
    names: list[_Name] = Field(min_length=2, max_length=16, description="Of the levels, root first.")
    keys: list[Annotated[list[_Key], Field(max_length=10_000)]] = Field(
        max_length=15, description="Of the levels above the leaves, root first."
    )
    children: list[Annotated[list[_Whole], Field(max_length=10_000)]] = Field(
        max_length=15, description="Of the same levels, how many children each node has, side by side on the next."
    )
    weights: list[_Number] | None = Field(
        None, max_length=16, description="What the squared error of each level counts, root first; 1 each."
    )

    @property
    def levels(self) -> PlaceLevels:
        """The tree."""
        weights = [1.0] * len(self.names) if self.weights is None else self.weights
        keys, children = (tuple(map(tuple, one)) for one in (self.keys, self.children))
        return PlaceLevels(self.column, tuple(self.names), keys, children, tuple(weights))  # type: ignore[arg-type]  # of texts, of whole numbers


class MissingAsked(_Part):
    """A private figure of what bounds took away, from a part of the price."""

    share: _Number = Field(Missing().share, gt=0, lt=1)
    assume: Literal["even loss"] | None = Field(
        None, description="Of single periods; null for the mean over all periods, which needs no assumption."
    )


if TYPE_CHECKING:
    _MeasureAsked = _Part
else:
    _MeasureAsked = Annotated[Union[tuple(map(_described, ASKABLE.values()))], Field(discriminator="kind")]  # noqa: UP007 (of as many as there are)

_EXAMPLE: JsonDict = {
    "measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]},
    "by": {"district": ["north", "south"]},
    "tuned_for": {"kind": "each_period"},
    "epsilon": 0.5,
    "delta": 1e-7,
}


class QueryRequest(_Part):
    """What is asked of a dataset, and what it may cost. Whatever is left out is the dataset's own."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]})

    measure: _MeasureAsked
    by: dict[_Name, _KeysAsked] = Field(
        default_factory=dict,
        max_length=8,
        description="Columns that split the answer, with their public keys; where the policy allows it, one with keys "
        "that are found.",
    )
    places: PlacesAsked | None = Field(None, description="A public tree over the keys of one of these columns.")
    max_groups: _Whole | None = Field(None, description="In how many groups one person counts within a period; 1.")
    block: BlockAsked | None = None
    where: _Expression | None = Field(None, description="Which rows count, as an SQL condition over one row.")
    columns: dict[_Name, _Expression] = Field(
        default_factory=dict, max_length=32, description="Columns made of others of the same row, by name."
    )
    every: _Every | None = None
    start: _Moment | None = None
    end: _Moment | None = None
    max_periods: _Whole | None = Field(None, description="How many periods of one person count.")
    tuned_for: WorkloadAsked = Field(default_factory=lambda: WorkloadAsked.model_validate({"kind": "each_period"}))
    find: FindAsked | None = Field(None, description="Bounds that are found, where the policy allows it.")
    missing: MissingAsked | None = None
    epsilon: _Number = Field(gt=0, le=1e6)
    delta: _Number = Field(0.0, ge=0, lt=1)

    @property
    def workload(self) -> Workload:
        """What the error is to be small for."""
        workload: Workload = load(self.tuned_for.model_dump(exclude_none=True), Workload)
        return workload

    @property
    def finding(self) -> FindBounds:
        """Which bounds are found."""
        if self.find is None:
            return FindBounds()
        between = None if self.find.between is None else (self.find.between[0], self.find.between[1])
        return FindBounds(tuple(self.find.bounds), self.find.share, between, self.find.from_zero)

    @property
    def discovering(self) -> DiscoverAsked | None:
        """How keys are found, if they are."""
        return next((keys for keys in self.by.values() if isinstance(keys, DiscoverAsked)), None)

    @property
    def figure(self) -> Missing | None:
        """The figure of what bounds took away, if it is asked for."""
        return None if self.missing is None else Missing(self.missing.share, self.missing.assume)


def ask(series: Queries[Planned], question: QueryRequest) -> Query[Planned]:
    """Return the query that a question describes, about a series on the question's grid."""
    block = None if question.block is None else (question.block.statistic, question.block.every)
    query = ask_question(
        series,
        question.measure.model_dump(exclude_unset=True),  # a default was not given, and so may be found
        by={name: keys.discover if isinstance(keys, DiscoverAsked) else keys for name, keys in question.by.items()},
        max_groups=question.max_groups,
        max_periods=question.max_periods,
        block=block,
        find=question.finding,
    )
    return query if question.places is None else query.with_levels(question.places.levels)
