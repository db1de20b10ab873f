"""The README's tables of figures, read out of ``benchmarks/RESULTS.md``: no number in them is written by hand.

A line is the least and the most of all rows of its topic, on each kind of machine: none is picked out.
``python -m benchmarks --readme`` writes the tables anew; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.results import MACHINES, Results

__all__ = [
    "BEGIN",
    "END",
    "ERRORS",
    "SPEEDS",
    "Line",
    "column",
    "duels",
    "least",
    "summary",
    "unfounded",
    "with_summary",
]

BEGIN = "<!-- written by `python -m benchmarks --readme` -->\n"
END = "<!-- end of what is written -->\n"
AS_FAST = 0.9  # what may be called "as fast as" something, in its worst row on its worst machine
Cells = dict[str, str]
Figures = Callable[[list[Cells]], Iterator[float]]


@dataclass(frozen=True)
class Line:
    """One line: what was measured, what stands beside it, by which function, and the figures in a table's rows."""

    what: str
    beside: str
    topic: str
    figures: Figures


def column(name: str, *, inverse: bool = False, **of: str) -> Figures:
    """Return a column's numbers, or one over them, in rows with these cells; a plain loop's row is not ours."""

    def figures(rows: list[Cells]) -> Iterator[float]:
        for row in rows:
            found, first = _number(row[name]), next(iter(row.values()))
            if found and not first.startswith("a plain") and all(row[head] == cell for head, cell in of.items()):
                yield 1 / found if inverse else found

    return figures


def duels(
    by: str,
    ours: tuple[str, ...],
    theirs: str,
    *,
    rate: str = "",
    cost: tuple[str, ...] = (),
    same: tuple[str, ...] = (),
) -> Figures:
    """Return how fast our rows are beside those of a peer: by what they cost, or else by a rate."""

    def figures(rows: list[Cells]) -> Iterator[float]:
        for row in rows:
            for peer in rows:
                if row[by] in ours and peer[by] == theirs and all(row.get(head) == peer.get(head) for head in same):
                    known = [one for one in cost if _number(peer[one])]  # of a rate, other work takes its part
                    pairs = [(peer[one], row[one]) for one in known] or ([(row[rate], peer[rate])] if rate else [])
                    for over, under in pairs:
                        if (above := _number(over)) and (below := _number(under)):
                            yield above / below

    return figures


def _noise(law: str) -> tuple[Line, Line]:
    what, topic = f"{law.capitalize()} noise, of any size", "noise.measure"
    return (
        Line(what, "numpy, not safe", topic, column("ratio to numpy", noise=law)),
        Line(what, "OpenDP", topic, column("ratio to OpenDP", noise=law)),
    )


def _totals(peer: str, called: str, ours: str = "chronodp") -> Line:
    what = "people's totals bounded and added up, from " + ("CSV" if "CSV" in ours else "Parquet")
    figures = duels("by", (ours,), peer, cost=("seconds",), same=("events", "case"))
    return Line(what, called, "engine.measure_large", figures)


def _served(rows: list[Cells]) -> Iterator[float]:
    """A release waits for the policy's floor, and is no speed of ours."""
    (bare,) = (float(row["a second"]) for row in rows if row["service"].startswith("bare"))
    for row in rows:
        if row["service"].endswith("1 worker") and row["asked"] in {"a budget", "a plan seen before", "a new plan"}:
            yield float(row["a second"]) / bare


def _paid(rows: list[Cells]) -> Iterator[float]:
    asked = ("a budget", "a plan", "a new plan")
    return (1 / float(row["times the bare route"]) for row in rows if row["asked"].startswith(asked))


def _keys_found(rows: list[Cells]) -> Iterator[float]:
    for row in rows:
        cells = [cell for head, cell in row.items() if head.startswith(("OpenDP", "PipelineDP"))]
        peers = [count for cell in cells if (count := _number(cell.partition(" (")[0]))]
        ours = _number(row["two rounds (default)"].partition(" (")[0])
        if peers and ours is not None:
            yield ours / max(peers)


def _errors(*shapes: str) -> Figures:
    return lambda rows: (float(row["largest over the limit at 2^20"]) for row in rows if row["shape"] in shapes)


SPEEDS = (
    _totals("plain DuckDB", "a plain `GROUP BY` in DuckDB, not private"),
    _totals("OpenDP-Polars, noise found before", "OpenDP with Polars, its noise found before"),
    _totals("pandas, the same totals", "pandas, without noise"),
    _totals("plain DuckDB, from CSV", "a plain `GROUP BY` in DuckDB, which guesses types", "chronodp, from CSV"),
    Line(
        "the same of a Spark frame, rightly or wrongly told that rows are sparse",
        "Spark's plain `GROUP BY`, not private",
        "spark.measure",
        duels(
            "by",
            ("chronodp", "chronodp, told that rows are sparse"),
            "plain group-by person, hour, group",
            cost=("seconds", "CPU µs an event"),
            same=("table",),
        ),
    ),
    *_noise("laplace"),
    *_noise("gaussian"),
    Line("integers, coins and permutations", "numpy, not safe", "noise.measure_choices", column("ratio")),
    Line("private choices of any size", "OpenDP", "selection.measure", column("ratio to OpenDP")),
    Line("private choices of any size", "numpy, not safe", "selection.measure", column("ratio to numpy")),
    Line(
        "running totals, step after step",
        "a plain loop",
        "continual.measure_speed",
        column("ratio to a plain loop"),
    ),
    Line(
        "running totals, step after step",
        "jax-privacy, compiled, not safe",
        "continual.measure_peer",
        duels("by", ("chronodp",), "jax-privacy, buffers", rate="million steps a second"),
    ),
    Line(
        "quiet steps of an alert, at once or one by one",
        "a plain loop, not safe",
        "alerts.measure",
        column("ratio to a plain loop"),
    ),
    Line("times blurred", "plain Python, not safe", "temporal.measure", column("ratio")),
    Line("spectra", "numpy's transform, not private", "estimation.measure", column("ratio", baseline="numpy rfft")),
    Line("devices' reports perturbed and counted", "multi-freq-ldpy", "local.measure", column("ratio")),
    Line("private training, four models", "Opacus, noise in floats", "training.measure", column("ratio")),
    Line(
        "secure sums, all holders and the server",
        "a sum in the open",
        "federated.measure",
        column("time over a sum in the open", inverse=True),
    ),
    Line(
        "live records from Kafka",
        "a plain loop that keeps nothing",
        "live.measure",
        duels(
            "what",
            ("a backlog, as fast as it goes",),
            "the same, a plain loop that keeps nothing",
            rate="events a second",
            cost=("µs of one core an event",),
        ),
    ),
    Line("budgets and plans from the curator", "FastAPI that answers a constant", "service.measure", _served),
    Line("the same, in processor time", "FastAPI that answers a constant", "service_cost.measure", _paid),
    Line("pages of a release", "plotly's chart alone", "report.measure", column("ratio", inverse=True)),
)
_LIMIT = "running totals over 2²⁰ periods: largest error over the theoretical limit"
ERRORS = (
    Line(_LIMIT, "chronodp", "continual.measure", _errors("buffers, best mean", "buffers, best largest")),
    Line(_LIMIT, "binary tree", "continual.measure", _errors("binary tree")),
    Line(_LIMIT, "fresh noise, added up", "continual.measure", _errors("independent noise, added up")),
    Line("keys found", "over the most of OpenDP or PipelineDP", "key_selection.measure", _keys_found),
    Line("error with bounds found privately", "over the best in hindsight", "bounds.measure", column("found")),
    Line("ε that an audit proves", "over jax-privacy's, same samples", "audit.measure", column("ratio")),
)


def summary(text: str) -> str:
    """Return the tables, from the text of a results file."""
    results = Results.read(text)
    lines = [f"| speed of | beside | {' | '.join(MACHINES)} (ARM) |", "|---|---|" + "---|" * len(MACHINES)]
    for what, line in _named_once(SPEEDS):
        cells = (_range(_figures(results, line, [machine])) for machine in MACHINES)
        lines.append(f"| {what} | {line.beside} | {' | '.join(cells)} |")
    lines += ["", "| quality, on every machine | of what | figure |", "|---|---|---|"]
    for what, line in _named_once(ERRORS):
        lines.append(f"| {what} | {line.beside} | {_range(_figures(results, line, MACHINES))} |")
    return "\n".join(lines) + "\n"


def with_summary(readme: str, results: str) -> str:
    """Return a README with its tables of figures renewed."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{summary(results)}{END}{after}"


def least(text: str, line: Line) -> float:
    """Return the worst row of the worst machine."""
    return min(_figures(Results.read(text), line, MACHINES))


def unfounded(prose: str, text: str) -> list[str]:
    """Return what is said to be "as fast as" something, unless every row beside it, on both machines, says so."""
    results, found = Results.read(text), []  # "times as fast as" is no claim to be equal
    for said in re.finditer(r"(?<!times )(?<!twice )as fast as (?!it\b|they\b)(\w+)", prose):
        lines = [line for line in SPEEDS if said[1] in line.beside]
        tables = [_figures(results, line, [machine]) for line in lines for machine in MACHINES]
        if not tables or any(min(table, default=0.0) < AS_FAST for table in tables):
            found.append(said[0])
    return found


def _figures(results: Results, line: Line, machines: Iterable[str]) -> list[float]:
    section = results.sections.get(line.topic)
    tables = {table for machine in machines if section and (table := section.on(machine))}
    return [figure for table in tables for figure in line.figures(table.rows)]


def _named_once(lines: Iterable[Line]) -> Iterator[tuple[str, Line]]:
    before = ""
    for line in lines:
        yield ("" if line.what == before else line.what), line
        before = line.what


def _range(figures: list[float]) -> str:
    if not figures:
        return "not measured yet"
    ends = [_text(min(figures)), _text(max(figures))]
    return " to ".join(dict.fromkeys(ends))


def _text(figure: float) -> str:
    """Two digits below one, which is slower, three above it."""
    return f"{figure:.2g}" if figure < 1 else f"{figure:.3g}" if figure < 100 else f"{figure:,.0f}"


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None
