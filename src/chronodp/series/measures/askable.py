"""Every kind of question about each period, and the measure that a question describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.series.measures.active import ACTIVE
from chronodp.series.measures.asking import Asking
from chronodp.series.measures.base import Measure
from chronodp.series.measures.choices import HISTOGRAM, MEAN, SUM
from chronodp.series.measures.counts import COUNT
from chronodp.series.measures.quantiles import QUANTILES
from chronodp.series.measures.variance import VARIANCE

__all__ = ["ASKABLE", "ask_for"]

ASKABLE: dict[str, Asking] = {
    asking.kind: asking for asking in (COUNT, SUM, MEAN, VARIANCE, HISTOGRAM, QUANTILES, ACTIVE)
}
"""Every kind of question by its name, in the order in which they are offered."""


def ask_for(question: Mapping[str, Any]) -> Measure:
    """Return the measure that a question describes, as `Measure.to_question` writes it.

    >>> print(ask_for({"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}))
    sum of kwh, a person's total in a period clipped to 0 … 3
    """
    if not isinstance(question, Mapping):
        raise InvalidArgument("question", question, "a mapping with a kind, such as {'kind': 'count'}")
    asking = ASKABLE.get(str(question.get("kind")))
    if asking is None:
        raise InvalidArgument("measure", question.get("kind"), f"one of {', '.join(ASKABLE)}")
    known = {argument.name: argument for argument in asking.arguments}
    given = {name: _as_tuple(value) for name, value in question.items() if name != "kind"}
    for name in given.keys() - known.keys():
        raise InvalidArgument(name, None, f"left out for {asking.kind}, which takes {', '.join(known)}")
    for name, argument in known.items():
        if given.get(name) is None and argument.needed:
            raise InvalidArgument(name, None, f"given for {asking.kind}")
    return asking.make(**{name: value for name, value in given.items() if value is not None})


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
