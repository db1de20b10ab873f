"""Several questions in one TOML file: what they share at its top, and a table ``[queries.NAME]`` for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chronodp.cli.asking import Asked
from chronodp.cli.question_options import FILE_OPTIONS
from chronodp.cli.watch import parse_noise
from chronodp.errors import InvalidArgument
from chronodp.privacy import parse_record_unit
from chronodp.settings import Section, Settings, anything, each, load_settings, table

if TYPE_CHECKING:
    from chronodp.alerts import AlertDesign
    from chronodp.dataset import PlanTogether, Query
    from chronodp.series import Plan

__all__ = ["is_workload", "plan_workload"]

_BLOCKS = ("total", "peak", "trough")
_WEIGHT = {"weight": anything()}
_SERIES: Settings = {**FILE_OPTIONS, **_WEIGHT}
_OF: Settings = {name: anything() for name in ("of", *_BLOCKS)} | _WEIGHT
_ALERT: Settings = {
    "above": anything(),
    "below": anything(),
    "change": anything(needed="the most that one unit changes any value"),
    "max_alerts": anything(default=1),
    "value_epsilon": anything(),
    "monotone": anything(),
    "noise": anything(default="exponential"),
    **_WEIGHT,
}


def _settings_of(query: Section) -> Settings:
    """Return what a query may hold: it is an alert, about another query, or one of the series."""
    if "above" in query or "below" in query:
        return _ALERT
    return _OF if _is_about_another(query) else _SERIES


def _is_about_another(query: Section) -> bool:
    """Return whether ``of`` names a query above; beside a measure it says what a mean or a histogram is of."""
    from chronodp.series import ASKABLE

    return "of" in query and not any(kind in query for kind in ASKABLE)


_WORKLOAD: Settings = {
    **FILE_OPTIONS,
    "queries": each(table(_settings_of), needed="a table [queries.NAME] for each query"),
}


def is_workload(asked: Asked) -> bool:
    """Return whether several questions are asked: the data is a TOML file."""
    return str(asked.options.get("data") or "").endswith(".toml")


def plan_workload(asked: Asked) -> PlanTogether:
    """Return the plan of all questions in a file; flags take the place of what it says at its top."""
    from chronodp.dataset import plan_together

    said = load_settings("workload", asked.options["data"], _WORKLOAD)
    flags = {name: value for name, value in asked.options.items() if name != "data"}
    shared = {**said, **flags}
    queries = shared.pop("queries")
    for name in ("missing", "missing_assume"):
        given = next((part[name] for part in (shared, *queries.values()) if name in part), None)
        if given is not None:
            raise InvalidArgument(name, given, "left out where several queries are planned together")
    made: dict[str, Any] = {}
    for name, query in queries.items():
        made[name] = _question(query, shared, made)
    weights = {name: query["weight"] for name, query in queries.items() if "weight" in query}
    if weights and len(weights) < len(made):
        missing = next(name for name in made if name not in weights)
        raise InvalidArgument("weight", None, f"given for {missing!r} as well, or for no query")
    epsilon = Asked(shared).needed("epsilon")
    with said.pointing(but=flags):
        return plan_together(made, epsilon=epsilon, delta=shared.get("delta", 0.0), weights=weights or None)


def _question(query: Section, shared: dict[str, Any], known: dict[str, Any]) -> Query[Plan] | AlertDesign:
    options = {name: value for name, value in query.items() if name != "weight"}
    with query.pointing():
        if "change" in query:
            return _alert(options, shared)
        if not _is_about_another(query):
            return Asked(shared | options).query()
    source = options.pop("of")
    asked = [block for block in _BLOCKS if block in options]
    if not isinstance(source, str) or source not in known or len(asked) != 1:
        raise query.wrong("of", f"a query above it, with one of {', '.join(_BLOCKS)}")
    with query.pointing():
        made: Query[Plan] = getattr(known[source], asked[0])(every=options[asked[0]])
        return made


def _alert(options: dict[str, Any], shared: dict[str, Any]) -> AlertDesign:
    from chronodp.alerts import design_alert

    return design_alert(
        **{**options, "noise": parse_noise(options["noise"])},
        unit=parse_record_unit(shared.get("unit", "user")),
        epsilon=1.0,  # its share takes the place of it
    )
