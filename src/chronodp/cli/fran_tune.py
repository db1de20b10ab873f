"""``chronodp fran tune``: the age and the noise that reveal least about the present within an error."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from chronodp.cli.coupled import Adversaries, Model, QueryWords, parse_adversary, parse_query
from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import counted
from chronodp.report import Line, Page, series_figure, watching, write_page

if TYPE_CHECKING:
    from chronodp.correlated import LeakageModel, Query
    from chronodp.correlated.tuning import Segments, Tuned

__all__ = ["tune"]

_COLUMNS = ("ages", "about the present", "about the record (ε_C)")
_ROWS = 30
_LISTED = 8  # sequences that a line names one by one
_WAYS = "one, each, shrunk or parts"

Tried = list[tuple[tuple[int, ...], float, float]]
"""Every choice that was weighed: ages, ε_C, and what one release reveals about the present."""


def tune(
    model: Model,
    error: Annotated[float, typer.Option(help="The mean squared error that is allowed, about the present.")],
    query: QueryWords = "mean",
    way: Annotated[
        str,
        typer.Option(
            help="`one`: one age for all; `each`: an age for each sequence; `shrunk`: one age, and the answer moved "
            "towards its mean; `parts`: an age and noise for each group of sequences."
        ),
    ] = "one",
    oldest: Annotated[int, typer.Option(help="The largest age to try.")] = 10,
    adversary: Adversaries = "knows_others",
    page: Annotated[Path | None, typer.Option(help="Where to write a page with the plot, .html.")] = None,
    as_json: Json = False,
) -> None:
    """Find the ages and the noise that reveal least about the present within an error. Free: no data is read.

    **Example**

    `chronodp fran tune model.json --error 0.2 --oldest 10 --page tuned.html`

    Old answers reveal less about the present and err more, which leaves less room for noise. What is paid is the price
    of the record, ε_C, which ages do not lower.
    """
    from chronodp.correlated import LeakageModel, read_model

    asked, against = parse_query(query), parse_adversary(adversary)
    check_place("page", page, ".html")
    if page is not None and way not in ("one", "shrunk"):
        raise InvalidArgument("page", str(page), "left out: only one age for all is drawn, with --way one or shrunk")
    gauge = LeakageModel(read_model(model))
    if way == "parts":
        _show_parts(_parts(gauge, asked, error, oldest, against), model, as_json=as_json)
        return
    with watching("Tuning ages and noise"):
        best, tried = _tuned(way, gauge, asked, error, oldest, against)
    title = f"{asked} of {counted(gauge.model.sequences, 'sequence')} within a mean squared error of {error:g}"
    if page is not None:
        _write_plot(page, title, best, tried)
    if as_json:
        print_json({"title": title, "best": asdict(best), "tried": [_entry(one) for one in tried]})
        return
    _show(title, best, tried, f"{model} --query {shlex.quote(query)}")
    if way == "shrunk" and best.epsilon > 0:
        factor = _shrinking(gauge, asked, best)
        terminal().print(f"Then read mean + {factor:.6g} × (answer - mean), where mean is that of the query.")
    if page is not None:
        terminal(soft_wrap=True).print(f"Written: {page}")


def _tuned(
    way: str, gauge: LeakageModel, query: Query, error: float, oldest: int, adversary: Any
) -> tuple[Tuned, Tried]:
    from chronodp.correlated.tuning import certified_leakage, tune as tune_one, tune_affine, tune_each

    ways: dict[str, Callable[..., Tuned]] = {"one": tune_one, "each": tune_each, "shrunk": tune_affine}
    if way not in ways:
        raise InvalidArgument("way", way, _WAYS)
    certified = certified_leakage(adversary)
    tried: Tried = []

    def weigh(model: LeakageModel, outputs: Any, ages: NDArray[np.int64], epsilon: float) -> float:
        leaked = certified(model, outputs, ages, epsilon)
        tried.append((tuple(ages.tolist()), epsilon, leaked))
        return leaked

    best = ways[way](gauge, query=query, error=error, oldest=oldest, objective=weigh)
    return best, list(dict.fromkeys(tried))  # step by step some are weighed again


def _parts(gauge: LeakageModel, query: Query, error: float, oldest: int, adversary: Any) -> Segments:
    from chronodp.correlated import Maximum, Several
    from chronodp.correlated.tuning import segment

    if isinstance(query, Maximum | Several):
        raise InvalidArgument("query", str(query), "mean, sum or weighted: only a sum falls into parts")
    with watching("Tuning parts"):
        return segment(gauge.model, query=query, error=error, oldest=oldest, adversary=adversary)


def _shrinking(gauge: LeakageModel, query: Query, best: Tuned) -> float:
    """Return ρ V / (V + 2b²): how much of its distance from the mean the best affine reading keeps of an answer."""
    from chronodp.correlated.tuning import freshness

    fresh = freshness(gauge.model, query=query, ages=best.ages)
    kept = (fresh.variance - best.error) / fresh.variance  # = ρ² V / (V + 2b²)
    return kept / fresh.correlation


def _entry(one: tuple[tuple[int, ...], float, float]) -> dict[str, Any]:
    return dict(zip(("ages", "epsilon", "leakage"), one, strict=True))


def _old(ages: tuple[int, ...]) -> str:
    """Return ages as --ages takes them: one for all where they are alike."""
    return str(ages[0]) if len(set(ages)) == 1 else ",".join(map(str, ages))


def _short(ages: tuple[int, ...]) -> str:
    """Return ages for a table: of many sequences, how many have which."""
    if len(ages) <= _LISTED or len(set(ages)) == 1:
        return _old(ages)
    return ", ".join(f"{count} of age {age}" for age, count in sorted(Counter(ages).items()))


def _show(title: str, best: Tuned, tried: Tried, words: str) -> None:
    console = terminal()
    console.print(title, style="bold")
    table = Table(*_COLUMNS, "")
    rows = sorted(tried) if len(tried) <= _ROWS else sorted(tried, key=lambda one: one[2])[:_ROWS]
    for ages, epsilon, leaked in rows:
        mark = "least" if (ages, epsilon) == (best.ages, best.epsilon) else ""
        table.add_row(_short(ages), f"{leaked:.4g}", f"{epsilon:.4g}", mark)
    if rows:
        console.print(table)
    if len(tried) > _ROWS:
        console.print(f"The best {_ROWS} of {len(tried):,} that were tried; --json has them all.")
    console.print(f"Take {best}.")
    if best.epsilon > 0:
        _show_next(f"{words} --ages {_old(best.ages)} --epsilon {best.epsilon!r}")


def _show_parts(parts: Segments, model: Path, *, as_json: bool) -> None:
    # As `fran plan` and `fran run` take it: what each part weighs, and the noise that serves them all.
    query = " ".join("weighted:" + ",".join(map(repr, one.weights)) for one in parts.query.queries)  # type: ignore[union-attr]  # parts are weighted
    if as_json:
        print_json({name: getattr(parts, name) for name in _PARTS} | {"query": query})
        return
    console = terminal()
    console.print("Parts with noise of their own", style="bold")
    table = Table("sequences", "age", "ε", "weight in the sum")
    for group, epsilon, weight in list(zip(parts.groups, parts.epsilons, parts.weights, strict=True))[:_ROWS]:
        rest = f" and {len(group) - _LISTED:,} more" if len(group) > _LISTED else ""
        listed = ", ".join(map(str, group[:_LISTED])) + rest
        table.add_row(listed, str(parts.ages[group[0]]), f"{epsilon:.4g}", f"{weight:.6g}")
    console.print(table)
    console.print(
        f"About the present of any sequence: {parts.leakage:.4g}. With one noise for the whole sum it would be "
        f"{parts.undivided:.4g}. Mean squared error of the parts added up: {parts.error:.4g}."
    )
    _show_next(f"{model} --query {shlex.quote(query)} --ages {_old(parts.ages)} --epsilon {parts.epsilon!r}")


def _show_next(words: str) -> None:
    terminal(soft_wrap=True).print(f"Next: chronodp fran plan {words}")


_PARTS = ("groups", "ages", "epsilons", "leakage", "undivided", "error", "epsilon", "weights")


def _write_plot(path: Path, title: str, best: Tuned, tried: Tried) -> None:
    ages = [one[0][0] for one in tried]
    present, record = [one[2] for one in tried], [one[1] for one in tried]
    lines = [
        Line("about the present", ages, present, present, present),
        Line("about the record (ε_C)", ages, record, record, record),
    ]
    figure = series_figure(lines, title="Leakage by age", value_name="log odds")
    figure.update_yaxes(type="log")
    figure.update_xaxes(title_text="age in periods")
    made = Page(
        title=f"Tuned: {title}",
        promise="How much one release changes the log odds of two states of one sequence, with as much noise as the "
        "error leaves room for at each age: about its present, if the data follow the model, and about the record that "
        "was read, whatever the data.",
        facts=(("Least about the present", str(best)),),
        certificate="No data was read and nothing was released: this page follows from the model and the parameters.",
        columns=_COLUMNS,
        rows=[(_short(one), leaked, epsilon) for one, epsilon, leaked in tried],
        figure=figure,
        kind="Computed before anything is released",
        caption="Each line shows what one release reveals, by the age of what is read.",
        details="How it was made",
    )
    write_page(made, path)
