"""The README's table of figures, read out of ``benchmarks/RESULTS.md``: no number in it is written by hand.

``python -m benchmarks --readme`` writes it anew; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["BEGIN", "END", "RESULTS", "ROWS", "Figure", "Row", "sections", "summary", "with_summary"]

RESULTS = Path(__file__).with_name("RESULTS.md")
BEGIN = "<!-- written by `python -m benchmarks --readme` -->\n"
END = "<!-- end of what is written -->\n"


@dataclass(frozen=True)
class Figure:
    """One cell of a table: whose figure it is, by which cells its row is known, and under which heading it stands."""

    whose: str
    row: tuple[str, ...]
    column: str


@dataclass(frozen=True)
class Row:
    """One line of the summary: what was measured, by which function, our figure and those beside it."""

    what: str
    topic: str
    ours: Figure
    beside: tuple[Figure, ...] = ()


def _noise(law: str) -> Row:
    row = (law, "1000000")
    beside = (Figure("numpy, not safe", row, "numpy (unsafe)"), Figure("OpenDP", row, "OpenDP"))
    return Row(
        f"{law.capitalize()} noise, million a second", "noise.measure", Figure("chronodp", row, "chronodp"), beside
    )


def _totals(whose: str, by: str) -> Figure:
    return Figure(whose, ("10000000", "most over the limit", by), "seconds")


ROWS = (
    Row(
        "people's totals bounded and added up, 10 million rows, seconds",
        "engine.measure_large",
        _totals("chronodp", "chronodp"),
        (
            _totals("plain `GROUP BY` in DuckDB, not private", "plain DuckDB"),
            _totals("OpenDP with Polars, its noise found before", "OpenDP-Polars, noise found before"),
            _totals("pandas", "pandas, the same totals"),
        ),
    ),
    _noise("laplace"),
    _noise("gaussian"),
    Row(
        "running totals over 2²⁰ periods, largest error over the theoretical limit",
        "continual.measure",
        Figure("chronodp", ("buffers, best largest",), "largest over the limit at 2^20"),
        (
            Figure("binary tree", ("binary tree",), "largest over the limit at 2^20"),
            Figure("fresh noise, added up", ("independent noise, added up",), "largest over the limit at 2^20"),
        ),
    ),
    Row(
        "quiet steps of an alert, million a second",
        "alerts.measure",
        Figure("chronodp", ("1,000,000 steps at once",), "million steps a second"),
        (
            Figure(
                "plain loop, not safe",
                ("a plain loop, numpy's noise in floats, not durable",),
                "million steps a second",
            ),
        ),
    ),
    Row(
        "private choices among 1,000 candidates, a second",
        "selection.measure",
        Figure("chronodp", ("1000", "permute-and-flip"), "chronodp"),
        (
            Figure("OpenDP", ("1000", "permute-and-flip"), "OpenDP"),
            Figure("numpy, not safe", ("1000", "permute-and-flip"), "numpy (unsafe)"),
        ),
    ),
    Row(
        "devices' reports perturbed and counted, million a second",
        "local.measure",
        Figure("chronodp", ("randomised response",), "million reports a second"),
        (Figure("multi-freq-ldpy", ("randomised response",), "multi-freq-ldpy"),),
    ),
    Row(
        "debits a second from eight processes, each on disk",
        "ledger.measure",
        Figure("SQLite", ("SQLite, synchronous=FULL",), "debits/s"),
        (Figure("PostgreSQL", ("PostgreSQL",), "debits/s"),),
    ),
    Row(
        "secure sums of 100 holders × a million parameters, seconds of one holder",
        "federated.measure",
        Figure("chronodp", ("100 × 1,000,000",), "seconds a holder"),
        (Figure("its server", ("100 × 1,000,000",), "seconds of the server"),),
    ),
    Row(
        "private training of a recurrent model, steps a second",
        "training.measure",
        Figure("chronodp", ("recurrent with 16 units",), "chronodp"),
        (Figure("Opacus, noise in floats", ("recurrent with 16 units",), "Opacus"),),
    ),
    Row(
        "live records from Kafka, a second",
        "live.measure",
        Figure("chronodp", ("a backlog, as fast as it goes",), "events a second"),
        (Figure("plain loop that keeps nothing", ("the same, a plain loop that keeps nothing",), "events a second"),),
    ),
    Row(
        "new plans from the curator, a second",
        "service.measure",
        Figure("chronodp", ("chronodp, SQLite, 1 worker", "a new plan"), "a second"),
        (Figure("FastAPI that answers a constant", ("bare FastAPI, 1 worker",), "a second"),),
    ),
    Row(
        "ε proved by 20,000 samples of Gaussian noise whose true ε is 1",
        "audit.measure",
        Figure("chronodp", ("Gaussian noise, δ = 1e-5",), "chronodp"),
        (Figure("jax-privacy", ("Gaussian noise, δ = 1e-5",), "jax-privacy"),),
    ),
)


def sections(text: str) -> dict[str, str]:
    """Return the parts of a results file, by the function that each was measured by."""
    found = [part.partition(" -->\n") for part in text.split("<!-- ")[1:]]
    return {name: f"<!-- {name} -->\n{body.rstrip()}\n" for name, _, body in found}


def summary(results: str) -> str:
    """Return the table, from the text of a results file; a row whose table is not there yet is left out."""
    tables = {name: _table(body) for name, body in sections(results).items()}
    lines = ["| measured | chronodp | beside it |", "|---|---|---|"]
    for row in ROWS:
        if table := tables.get(row.topic):
            ours = _cell(table, row.ours) + ("" if row.ours.whose == "chronodp" else f" ({row.ours.whose})")
            beside = "; ".join(f"{figure.whose}: {_cell(table, figure)}" for figure in row.beside)
            lines.append(f"| {row.what} | **{ours}** | {beside} |")
    return "\n".join(lines) + "\n"


def with_summary(readme: str, results: str) -> str:
    """Return a README with its table of figures renewed."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{summary(results)}{END}{after}"


def _table(section: str) -> list[dict[str, str]]:
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(heads, row, strict=True)) for row in rows]


def _cell(table: list[dict[str, str]], figure: Figure) -> str:
    """Return the first row's cell; what is above a thousand is written out."""
    text = next(row[figure.column] for row in table if tuple(row.values())[: len(figure.row)] == figure.row)
    try:
        return f"{float(text):,.0f}" if float(text) >= 1_000 else text
    except ValueError:
        return text
