"""``chronodp account``: what a sequence of releases adds up to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.privacy import Cost, RepeatedCost, load
from chronodp.reading import closed_file, parse_json
from chronodp.report import watching

__all__ = ["account", "parse_release", "read_releases"]

_DEFAULTS = {"laplace": {"sensitivity": 1.0}, "gaussian": {"sensitivity": 1.0}}
_EXAMPLE = "gaussian:sigma=50,sensitivity=1,times=1440"


def account(
    file: Annotated[
        Path | None,
        typer.Argument(help="JSON with one release or a list of them.", exists=True, dir_okay=False, readable=True),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option("--release", "-r", help=f"A release, such as `{_EXAMPLE}`. May be repeated.", metavar="KIND:..."),
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Total delta at which every theorem is read.")] = None,
    slack: Annotated[
        float | None, typer.Option(help="Instead of --delta: what is added to the deltas of the releases.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add up releases by every composition theorem, side by side.

    Kinds of release: `pure:epsilon=`, `bounded_range:epsilon=` (the exponential mechanism),
    `approximate:epsilon=,delta=`, `failure:delta=` (an event that gives everything away),
    `laplace:scale=,sensitivity=`, `gaussian:sigma=,sensitivity=` and `randomized_response:epsilon=,choices=`, each with
    `times=`.

    **Examples**

    `chronodp account -r gaussian:sigma=50,times=1440 --delta 1e-5`

    `chronodp account -r approximate:epsilon=0.05,delta=1e-8,times=1440 --slack 1e-7`

    `chronodp account releases.json --delta 1e-6 --json`
    """
    from chronodp.accounting import compare

    costs = [*(read_releases(file) if file else []), *(parse_release(text) for text in release or [])]
    if not costs:
        raise InvalidArgument("release", None, f"given at least once (--release {_EXAMPLE}), or a JSON file")
    if (delta is None) == (slack is None):
        raise InvalidArgument("delta", delta, "given with --delta, or --slack in its place")
    with watching("Composing"):
        table = compare(costs, delta, slack=slack)
    if as_json:
        print_json(table.to_dict(), indent=2)
        return
    shown = Table(title=f"{table.releases:,} releases", title_justify="left", title_style="bold")
    for name, justify in (("theorem", "left"), ("ε", "right"), ("δ", "right"), ("adaptive", "center"), ("", "left")):
        shown.add_column(name, justify=justify)  # type: ignore[arg-type]  # rich wants a literal
    for bound in table.bounds:
        best = bound in (table.best, table.best_adaptive)
        number = "—" if bound.epsilon is None else f"{bound.epsilon:.4f}"
        shown.add_row(
            bound.theorem,
            number,
            f"{bound.delta:.4g}",
            "yes" if bound.adaptive else "no",
            bound.remark,
            style="bold green" if best else None,
        )
    console = terminal()
    console.print(shown)
    for assumption in table.assumptions:
        console.print(f"Only true assuming {assumption}.")
    console.print(
        f"For a plan fixed in advance: ε = {_number(table.best.epsilon)} ({table.best.theorem}). "
        f"For a budget that is spent step by step: ε = {_number(table.best_adaptive.epsilon)} "
        f"({table.best_adaptive.theorem})."
    )


def parse_release(text: str) -> Cost:
    """Return the cost that a text such as ``gaussian:sigma=50,times=1440`` describes."""
    kind, _, rest = text.partition(":")
    fields: dict[str, object] = {"kind": kind.strip(), **_DEFAULTS.get(kind.strip(), {})}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise InvalidArgument("release", text, f"KIND:name=value,..., such as {_EXAMPLE}")
        fields[name.strip()] = _parse_number(name.strip(), value.strip())
    times = fields.pop("times", 1)
    cost: Cost = load(fields, Cost)
    return cost if times == 1 else RepeatedCost(cost, times)  # type: ignore[arg-type]  # checked by RepeatedCost


def read_releases(file: Path) -> list[Cost]:
    """Return the costs in a JSON file: one document, or a list of them."""
    try:
        content = parse_json(file.read_bytes())
    except (OSError, UnknownDocument) as error:
        raise UnknownDocument(f"{file.name} is not JSON: {error}") from None
    documents = content if isinstance(content, list) else [content]
    if not documents:
        raise UnknownDocument(f"{file.name} lists no release")
    with closed_file():
        return [load(document, Cost) for document in documents]


def _parse_number(name: str, value: str) -> float | int:
    try:
        return int(value) if name in ("times", "choices") else float(value)
    except ValueError:
        raise InvalidArgument(name, value, "a number") from None


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
