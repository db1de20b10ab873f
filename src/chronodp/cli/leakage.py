"""``chronodp leakage``: what aged, noisy answers about coupled sequences tell, before anything is released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from chronodp.cli.baselines import Baselines, find_baselines
from chronodp.cli.coupled import Model, QueryWords, parse_ages, parse_query
from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, terminal
from chronodp.privacy import counted
from chronodp.report import Line, Page, series_figure, watching, write_page

if TYPE_CHECKING:
    from chronodp.correlated import Leakage

__all__ = ["leakage"]

_COLUMNS = (
    "age",
    "exact",
    "certified",
    "by",
    "nothing else known",
    "then by",
    "record",
    "Theorem 1 (no bound)",
    "Theorem 2 (no bound)",
)
_OLDER = "this age or older"


class _Found(NamedTuple):
    """What is told at an age: to who knows all others, to who knows nothing else, and of any two presents."""

    age: int
    others: Leakage
    none: Leakage
    any_pair: float


def leakage(
    model: Model,
    epsilon: Annotated[float, typer.Option(help="Of each release: sensitivity over scale of the noise.")],
    ages: Annotated[str, typer.Option(help="How old what is read is: `3`, `0:10`, or `0,2,5`.")] = "0:10",
    query: QueryWords = "mean",
    releases: Annotated[int, typer.Option(help="How many releases in a row are seen.")] = 1,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Show other definitions of privacy beside it, for every age.")
    ] = False,
    page: Annotated[Path | None, typer.Option(help="Where to write a page with the plot, .html.")] = None,
    as_json: Json = False,
) -> None:
    """Show what a release reveals about the present of any sequence, and about the record it was made of.

    **Examples**

    `chronodp leakage model.json --epsilon 1 --ages 0:10 --page leakage.html`

    `chronodp leakage model.json --epsilon 1 --ages 0:5 --baselines` with age-dependent and dependent differential
    privacy, plain noise and the group's ceiling beside it; with `--releases 24` temporal leakage too

    A model is `{"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[0.75, 0.25], [0.25, 0.75]]}`: columns of
    transitions and rows of coupling sum to one. `chronodp chain fit` makes one from a table. With a single age the
    baselines are always shown.

    Of several sequences an older release may tell more about one of them than a younger one; what is shown last, of
    any two presents of a group, holds at the oldest age shown and at every older one.
    """
    from chronodp.correlated import LeakageModel, leakage as measure, read_model

    asked, wanted = parse_query(query), parse_ages(ages)
    check_place("page", page, ".html")
    gauge = LeakageModel(read_model(model))
    found: list[_Found] = []
    with watching("Measuring leakage") as tell:
        for number, age in enumerate(wanted):
            others = measure(gauge, query=asked, ages=age, epsilon=epsilon, releases=releases)
            none = measure(gauge, query=asked, ages=age, epsilon=epsilon, releases=releases, adversary="knows_none")
            pairs = gauge.any_pair(query=asked, ages=age, epsilon=epsilon, releases=releases)
            found.append(_Found(age, others, none, pairs))
            tell((number + 1) / len(wanted))
    beside: Baselines | None = None
    if baselines or len(wanted) == 1:
        beside = find_baselines(gauge, query=asked, ages=wanted, epsilon=epsilon, releases=releases)
    count = counted(gauge.model.sequences, "sequence")
    title = f"{asked} of {count} of {gauge.model.states} states, ε_C = {epsilon:g}"
    if page is not None:
        _write_plot(page, title, found, beside if baselines else None)
    if as_json:
        print_json(_as_json(title, found, beside))
        return
    _show(title, found, beside)
    if page is not None:
        terminal(soft_wrap=True).print(Text.assemble("Look at ", (str(page), "bold")))


def _rows(found: list[_Found]) -> list[tuple[Any, ...]]:
    return [
        (
            age,
            others.exact,
            others.certified,
            others.certified_by,
            none.certified,
            none.certified_by,
            others.record,
            others.paper_theorem_1,
            others.paper_theorem_2,
        )
        for age, others, none, _ in found
    ]


def _show(title: str, found: list[_Found], beside: Baselines | None) -> None:
    console = terminal()
    table = Table(*_COLUMNS, title=title, title_justify="left", title_style="bold")
    for row in _rows(found):
        table.add_row(*(_cell(cell) for cell in row))
    console.print(table)
    if beside is not None:
        beside.show()
    for reason in found[0].others.reasons:
        console.print(f"Not exact: {reason}.")
    console.print(
        "Certified: about the present, if the data follow the model; by: exact, or the bound that is least. "
        "Record: about what is read, whatever the data; ages do not help it, and a ledger pays it. "
        "The paper's theorems are for comparison: neither is a bound."
    )
    oldest, most = max(one.age for one in found), min(one.any_pair for one in found)
    console.print(
        f"At age {oldest} and at any older one: at most {most:.4g} about any two presents of a group. "
        "About one of several sequences an older release may tell more than a younger one."
    )


def _as_json(title: str, found: list[_Found], beside: Baselines | None) -> dict[str, Any]:
    content = None if beside is None else beside.to_dict()
    return {
        "title": title,
        "ages": [
            {"age": age, "knows_others": _short(others), "knows_none": _short(none), "any_pair": pairs}
            for age, others, none, pairs in found
        ],
        "beside": content["by_age"][0]["definitions"] if content and len(found) == 1 else [],
        "baselines": content,
    }


def _short(told: Leakage) -> dict[str, Any]:
    content = told.to_dict()
    if len(told.each) > 1_000:
        del content["each"]
    return content


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _write_plot(path: Path, title: str, found: list[_Found], beside: Baselines | None) -> None:
    ages = [one.age for one in found]
    curves: list[tuple[str, list[float]]] = [
        ("present, all others known", [one.others.certified for one in found]),
        ("present, nothing else known", [one.none.certified for one in found]),
        (f"any two presents, {_OLDER}", [one.any_pair for one in found]),
        ("record", [one.others.record for one in found]),
    ]
    formulas = [one.others.paper_theorem_1 for one in found]
    if None not in formulas:
        curves.append(("Theorem 1 (no bound)", [formula for formula in formulas if formula is not None]))
    if beside is not None:
        curves += beside.curves()
    lines = [Line(name, ages, values, values, values) for name, values in curves]
    figure = series_figure(lines, title="Leakage by age", value_name="log odds")
    figure.update_yaxes(type="log")
    figure.update_xaxes(title_text="age in periods")
    page = Page(
        title=f"Leakage: {title}",
        promise="How much one release changes the log odds of two states of one sequence: about its present, if the "
        "data follow the model, and about the record that was read, whatever the data.",
        facts=(
            ("Adversaries", "one knows the present of all other sequences of the group, one knows nothing else"),
            (
                "Certified by",
                ", ".join(sorted({told.certified_by for one in found for told in (one.others, one.none)})),
            ),
        ),
        certificate="No data was read and nothing was released: this page follows from the model and the parameters.",
        columns=(*_COLUMNS, _OLDER),
        rows=[(*row, one.any_pair) for row, one in zip(_rows(found), found, strict=True)],
        figure=figure,
        kind="Computed before anything is released",
        caption="Each line shows what one definition says of a release, by the age of what is read.",
        details="How it was made",
    )
    write_page(page, path)
