"""Several questions in one TOML file: what they share at its top, and a table ``[queries.NAME]`` for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronodp.cli.asking import OPTIONS, Asked
from chronodp.cli.watch import parse_noise
from chronodp.errors import InvalidArgument
from chronodp.privacy.unit_text import parse_record_unit
from chronodp.reading import read_toml

if TYPE_CHECKING:
    from chronodp.alerts import AlertDesign
    from chronodp.dataset import PlanTogether, Query
    from chronodp.series import Plan

__all__ = ["is_workload", "plan_workload"]

_BLOCKS = ("total", "peak", "trough")
_ALERT = ("above", "below", "change", "max_alerts", "value_epsilon", "monotone", "noise")


def is_workload(asked: Asked) -> bool:
    """Return whether several questions are asked: the data is a TOML file."""
    return str(asked.options.get("data") or "").endswith(".toml")


def plan_workload(asked: Asked) -> PlanTogether:
    """Return the plan of all questions in a file; flags take the place of what it says at its top."""
    from chronodp.dataset import plan_together

    path = Path(asked.options["data"])
    shared, queries = _read(path)
    shared |= {name: value for name, value in asked.options.items() if name != "data"}
    made: dict[str, Any] = {}
    weights: dict[str, float] = {}
    for name, options in queries.items():
        if "weight" in options:
            weights[name] = options.pop("weight")
        made[name] = _question(name, options, shared, made)
    if weights and len(weights) < len(made):
        missing = next(name for name in made if name not in weights)
        raise InvalidArgument("weight", None, f"given for {missing!r} as well, or for no query")
    whole = Asked(shared)
    return plan_together(made, epsilon=whole.needed("epsilon"), delta=shared.get("delta", 0.0), weights=weights or None)


def _question(
    name: str, options: dict[str, Any], shared: dict[str, Any], known: dict[str, Any]
) -> Query[Plan] | AlertDesign:
    if "above" in options or "below" in options:
        return _alert(name, options, shared)
    source = options.pop("of", None)
    if source is None:
        _check_known(name, options, (*OPTIONS, "of"))
        return Asked(shared | options).query()
    asked = [block for block in _BLOCKS if block in options]
    if source not in known or len(asked) != 1 or len(options) != 1:
        allowed = f"a query above it, with one of {', '.join(_BLOCKS)}"
        raise InvalidArgument(f"of in query {name!r}", source, allowed)
    query: Query[Plan] = getattr(known[source], asked[0])(every=options[asked[0]])
    return query


def _alert(name: str, options: dict[str, Any], shared: dict[str, Any]) -> AlertDesign:
    from chronodp.alerts import design_alert

    _check_known(name, options, _ALERT)
    if "change" not in options:
        raise InvalidArgument(f"change in query {name!r}", None, "given: the most that one unit changes any value")
    given = {option: value for option, value in options.items() if option != "noise"}
    return design_alert(
        **({"max_alerts": 1} | given),
        unit=parse_record_unit(shared.get("unit", "user")),
        epsilon=1.0,  # its share takes the place of it
        noise=parse_noise(options.get("noise", "exponential")),
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    content = read_toml("workload", path)
    queries = content.pop("queries", None)
    if not isinstance(queries, dict) or not queries or not all(isinstance(one, dict) for one in queries.values()):
        raise InvalidArgument("queries", None, "a table [queries.NAME] for each query")
    _check_known(path.name, content, tuple(OPTIONS))
    return content, queries


def _check_known(where: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(options.keys() - set(known))
    if unknown:
        raise InvalidArgument(f"{unknown[0]} in {where!r}", options[unknown[0]], f"one of {', '.join(known)}")
