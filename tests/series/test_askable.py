"""A kind of question is described once: the API, the command line, policies and the page all have it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from chronodp.cli.question_options import OPTIONS
from chronodp.dataset import BOUNDS
from chronodp.errors import InvalidArgument
from chronodp.series import ASKABLE, Active, Count, Histogram, RowHistogram, RowMean, ScaledSum, Variance, ask_for
from chronodp.series.measures import Asking
from chronodp.series.measures.choices import mean_of, sum_of
from chronodp.series.measures.quantiles import quantiles_of
from chronodp.series.measures.sums import Mean, PanelMean, Sum
from chronodp.service import policy
from chronodp.service.question import QueryRequest

ASKINGS = list(ASKABLE.values())
PAGE = Path(policy.__file__).parent / "page"
FIELDS = {"clip": ("low", "high")}  # what the page's form has in two


def _size_names(asking: Asking) -> set[str]:
    """Return which arguments of a kind bound a size that can be found, by the measures that it makes."""
    ends = (0.0, 1.0)
    made = {"column": "kwh", "clip": ends, "edges": ends, "fractions": (0.5,), "at_most": 1, "window": "7D"}
    made |= {"of": "people"} if asking.kind == "mean" else {}
    named = {argument.name: made[argument.name] for argument in asking.arguments if argument.name in made}
    names = {asking.make(**named).size_name}
    if any(argument.name == "norm" for argument in asking.arguments):
        names.add({"bound": "norm"}[asking.make(column="kwh", norm=1.0).size_name])
    return names - {""}


def test_every_face_has_every_kind_and_argument(subtests: pytest.Subtests) -> None:
    for asking in ASKINGS:
        with subtests.test(asking=asking):
            schema = QueryRequest.model_json_schema()["$defs"][f"{asking.kind.capitalize()}Asked"]
            assert schema["properties"].keys() == {"kind", *(argument.name for argument in asking.arguments)}
            # What can be found may be left out of the JSON; `ask_question` refuses it where it is neither given
            # nor found.
            needed = {argument.name for argument in asking.arguments if argument.needed and not argument.found}
            assert set(schema["required"]) == {"kind", *needed}
            found = {argument.name for argument in asking.arguments if argument.found}
            assert found == _size_names(asking)
            assert found <= set(BOUNDS)
            options = {argument.name for argument in asking.arguments if argument.kind not in ("column", "length")}
            assert OPTIONS.keys() >= {asking.kind, *options}
            assert asking.kind in policy.MEASURES
            form = (PAGE / "templates/views/ask.html").read_text(encoding="utf-8")
            script = (PAGE / "static/question.js").read_text(encoding="utf-8")
            for argument in asking.arguments:
                if argument.on_page:
                    assert f'asks("{argument.name}")' in form
                    assert all(f'name="{field}"' in form for field in FIELDS.get(argument.name, (argument.name,)))
                    assert re.search(rf"^  {argument.name}: \(", script, flags=re.MULTILINE)


def test_a_question_is_read_as_it_is_written(subtests: pytest.Subtests) -> None:
    for measure in [
        Count(),
        Count(7),
        Sum("kwh", (0.0, 3.0)),
        ScaledSum("kwh", 40.0),
        ScaledSum("kwh", 40.0, signed=False),
        Mean("kwh", (-1.0, 3.0)),
        PanelMean("kwh", (0.0, 3.0), 50),
        Variance("kwh", (-1.0, 3.0)),
        Histogram("kwh", (0.0, 1.0, 2.5), 2),
        RowMean("kwh", (-1.0, 3.0)),
        RowMean("kwh", (0.0, 3.0), 4),
        RowHistogram("kwh", (0.0, 1.0, 2.5), 5),
        Active("7D"),
        Active("28D", 6),
        quantiles_of("kwh", (0.1, 0.5), (0.0, 1.0, 2.5)),
        quantiles_of("kwh", (0.1, 0.5), (0.0, 1.0, 2.5), of="rows", at_most=2),
        sum_of("kwh", {"north": (-1.0, 2.0), "south": (-2.0, 4.0)}),
        mean_of("kwh", {"north": (0.0, 2.0), "south": (0.0, 4.0)}, of="rows", at_most=2),
    ]:
        with subtests.test(measure=measure):
            question = measure.to_question()
            assert ask_for(question) == measure
            assert ("of" in question) == (question["kind"] in ("mean", "histogram", "quantiles"))


def test_a_mean_says_whose_it_is() -> None:
    mean = {"kind": "mean", "column": "kwh", "clip": [0.0, 3.0]}
    for said, measure in (
        ({"of": "people"}, RowMean("kwh", (0.0, 3.0), 1)),
        ({"of": "rows", "at_most": 4}, RowMean("kwh", (0.0, 3.0), 4)),
        ({"of": "totals"}, Mean("kwh", (0.0, 3.0))),
        ({"of": "totals", "people": 5}, PanelMean("kwh", (0.0, 3.0), 5)),
    ):
        assert ask_for(mean | said) == measure
        asked = QueryRequest.model_validate({"measure": mean | said, "epsilon": 1.0})
        assert ask_for(asked.measure.model_dump()) == measure
    with pytest.raises(ValidationError, match="of"):
        QueryRequest.model_validate({"measure": mean, "epsilon": 1.0})


def test_refuses_what_is_no_question(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "measure must be one of count, sum, mean, variance, histogram"),
        ({"kind": "median"}, "measure must be one of"),
        ({"kind": "sum", "column": "kwh"}, "clip must be given for sum"),
        ({"kind": "count", "clip": [0, 1]}, "clip must be left out for count, which takes at_most"),
        ({"kind": "sum", "column": 3, "clip": [0, 1]}, "column must be the name of a column"),
        ({"kind": "mean", "column": None, "clip": [0, 1]}, "column must be given for mean"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1], "of": "flights"}, "of must be 'people', 'rows' or 'totals'"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1], "of": "people", "at_most": 2}, "at_most must be left out"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1], "of": "totals", "at_most": 2}, "at_most must be left out"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1]}, "of must be given for mean"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1], "of": "rows"}, "at_most is missing: say the weight"),
        ({"kind": "mean", "column": "kwh", "clip": [0, 1], "of": "rows", "people": 2}, "people must be left out"),
        ({"kind": "histogram", "column": "kwh", "edges": [0, 1], "of": "totals"}, "of must be"),
        (None, "question must be a mapping with a kind"),
        ([1], "question must be a mapping with a kind"),
    ]
    for question, message in cases:
        with subtests.test(question=question, message=message), pytest.raises(InvalidArgument, match=message):
            ask_for(question)
