"""Words of the commands about coupled sequences: queries, ages, noises, cuts between states, and who hears whom."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
import typer
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole, parse_record_unit

if TYPE_CHECKING:
    from chronodp.correlated import Maximum, Mean, Query, Sum, WeightedSum

__all__ = [
    "Adversaries",
    "AgeWords",
    "Cuts",
    "FranUnit",
    "Model",
    "QueryWords",
    "Target",
    "Turns",
    "fran_terms",
    "parse_adversary",
    "parse_ages",
    "parse_cuts",
    "parse_each_age",
    "parse_hears",
    "parse_query",
    "parse_turns",
    "to_states",
]

_MOST_AGES = 1_000
_MOST_STATES = 10_000
_QUERIES = "mean, sum, max or weighted:1,0.5,2 with a number for each sequence; several with spaces"

Adversaries = Annotated[
    str,
    typer.Option(help="`knows_others`: one who knows the present of all others; `knows_none`: one who knows nothing."),
]
AgeWords = Annotated[str, typer.Option(help="How many periods ago sequences are read: `3`, or `0,2,5` for each.")]
Cuts = Annotated[
    list[str] | None,
    typer.Option(help="Where one state ends and the next begins, as `60,100`: once for all sequences, or for each."),
]
FranUnit = Annotated[
    str, typer.Option(help="`window:1/replace`: one record; `window:24/replace`; `user/replace`: a whole sequence.")
]
Model = Annotated[Path, typer.Argument(help="The model: a JSON file with `transitions` and `coupling` or `edges`.")]
QueryWords = Annotated[str, typer.Option(help="`mean`, `sum`, `max`, `weighted:1,0.5,2`; several with spaces.")]

Target = Annotated[
    float | None, typer.Option(help="Instead of --epsilon: the most that one release may reveal about the present.")
]
Turns = Annotated[str | None, typer.Option(help="Epsilon of each release (ε_C); `0.5,1` to use several in turn.")]


def parse_query(text: str) -> Query:
    """Return the query that a text such as ``weighted:1,0.5`` names; several in one text are released together.

    >>> print(parse_query("mean max"))
    the mean, the maximum
    """
    from chronodp.correlated import Several

    found = tuple(_single(word) for word in text.split())
    if not found:
        raise InvalidArgument("query", text, _QUERIES)
    return found[0] if len(found) == 1 else Several(found)


def parse_ages(text: str) -> list[int]:
    """Return the ages that a text such as ``0:10`` or ``0,2,5`` names."""
    try:
        if ":" in text:
            first, last = (int(part) for part in text.split(":"))
            found = list(range(first, min(last, first + _MOST_AGES) + 1))
        else:
            found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 0 or len(found) > _MOST_AGES:
        allowed = f"one age such as 3, a range such as 0:10, or a list such as 0,2,5; at most {_MOST_AGES:,} ages"
        raise InvalidArgument("ages", text, allowed)
    return found


def parse_each_age(text: str) -> int | tuple[int, ...]:
    """Return the age of all sequences, or of each, that a text such as ``3`` or ``0,2,5`` names.

    >>> parse_each_age("3"), parse_each_age("0,2,5")
    (3, (0, 2, 5))
    """
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 0:
        raise InvalidArgument("ages", text, "one age such as 3 for all sequences, or 0,2,5 with one for each")
    return found[0] if len(found) == 1 else found


def parse_turns(text: str) -> float | tuple[float, ...]:
    """Return the epsilon of every release, or several to be used in turn, from a text such as ``1`` or ``0.5,1``."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        allowed = "a number above 0, or several such as 0.5,1 to be used in turn"
        raise InvalidArgument("epsilon", text, allowed) from None
    return found[0] if len(found) == 1 else found


def parse_adversary(text: str) -> Literal["knows_others", "knows_none"]:
    """Return who a leakage is measured against."""
    if text not in ("knows_others", "knows_none"):
        raise InvalidArgument("adversary", text, "knows_others or knows_none")
    return cast(Literal["knows_others", "knows_none"], text)


def fran_terms(
    ages: str, query: str, epsilon: str | None, target: float | None, adversary: str, unit: str, *, horizon: int | None
) -> dict[str, Any]:
    """Return what `design_fran` takes, from the words of options."""
    if (epsilon is None) == (target is None):
        raise InvalidArgument("epsilon", epsilon, "given, or --target instead of it: one of the two")
    return {
        "query": parse_query(query),
        "ages": parse_each_age(ages),
        "epsilon": None if epsilon is None else parse_turns(epsilon),
        "target": target,
        "adversary": parse_adversary(adversary),
        "unit": parse_record_unit(unit),
        "horizon": horizon,
    }


def parse_cuts(texts: list[str] | None, states: int | None, sequences: int) -> list[NDArray[np.float64]]:
    """Return the cuts between states of each sequence; for states that are numbers already, halfway between those.

    >>> [cuts.tolist() for cuts in parse_cuts(["60,100"], None, 2)], [cuts.tolist() for cuts in parse_cuts(None, 3, 1)]
    ([[60.0, 100.0], [60.0, 100.0]], [[0.5, 1.5]])
    """
    if (not texts) == (states is None):
        raise InvalidArgument("cuts", " ".join(texts or []) or None, "given, or --states instead of them")
    if states is not None:
        check_whole("states", states, least=2, most=_MOST_STATES)
        return [np.arange(states - 1, dtype=np.float64) + 0.5] * sequences
    found = [_ascending(text) for text in texts or []]
    if len(found) not in (1, sequences):
        raise InvalidArgument("cuts", len(found), f"given once for all sequences, or once for each of the {sequences}")
    if len({len(cuts) for cuts in found}) > 1:
        raise InvalidArgument("cuts", " ".join(texts or []), "as many for each sequence: all have the same states")
    return found * sequences if len(found) == 1 else found


def to_states(numbers: NDArray[np.float64], cuts: list[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Return the state of every number, one column a sequence: how many cuts lie at or below it.

    Every number has a state, so that none can cause a refusal.
    """
    columns = [np.searchsorted(edges, numbers[:, place], side="right") for place, edges in enumerate(cuts)]
    return np.stack(columns, axis=1).astype(np.int64)


def parse_hears(texts: list[str] | None, names: list[str]) -> NDArray[np.bool_] | None:
    """Return who may hear whom, from texts such as ``breath=pulse,breath``; None where nobody said.

    >>> parse_hears(["breath=pulse,breath"], ["pulse", "breath"]).tolist()      # pulse is not named: itself alone
    [[True, False], [True, True]]
    """
    if not texts:
        return None
    mask = np.eye(len(names), dtype=bool)
    named = set()
    for text in texts:
        name, sign, heard = text.partition("=")
        others = heard.split(",")
        if not sign or name not in names or name in named or not set(others) <= set(names):
            allowed = (
                "a sequence and those it hears, such as breath=pulse,breath, each one of --sequence and named once"
            )
            raise InvalidArgument("hears", text, allowed)
        named.add(name)
        mask[names.index(name)] = [other in others for other in names]
    return mask


def _single(text: str) -> Maximum | Mean | Sum | WeightedSum:
    from chronodp.correlated import Maximum, Mean, Sum, WeightedSum

    kind, _, detail = text.partition(":")
    match kind:
        case "mean":
            return Mean()
        case "sum":
            return Sum()
        case "max":
            return Maximum()
        case "weighted":
            try:
                return WeightedSum(tuple(float(part) for part in detail.split(",")))
            except ValueError:
                pass
    raise InvalidArgument("query", text, _QUERIES)


def _ascending(text: str) -> NDArray[np.float64]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(map(math.isfinite, found)) or any(b <= a for a, b in pairwise(found)):
        raise InvalidArgument("cuts", text, "ascending numbers such as 60,100")
    return np.asarray(found, dtype=np.float64)
