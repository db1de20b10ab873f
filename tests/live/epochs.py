"""Random live streams cut into epochs: what came before each look at the clock, for one process and for Spark."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronodp import Event, Ledger, User, UserPeriod
from chronodp.alerts import Alert, AlertDesign
from chronodp.live import Fields, KeyLimits, Limits, Live, Reader, State, Windows, alert_design, stream_design
from chronodp.live.sources import FileSource
from chronodp.randomness import seeded
from chronodp.series import EachPeriod, Stream, StreamDesign
from chronodp.series.key_streams import KeyStream, KeyStreamDesign
from tests.live.examples import NAME, SetClock, at, fields_of

KEY = b"the same for all"
COUNT = 6


@dataclass(frozen=True)
class Case:
    """Limits, and for each look at the clock its moment and what came before it."""

    limits: Limits | KeyLimits
    epochs: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def fields(self) -> Fields:
        if isinstance(self.limits, KeyLimits):
            return Fields("at", user="who", group="place")
        return fields_of(self.limits)

    def designs(self, *, epsilon: float) -> dict[str, Any]:
        """Return what is released: a stream, and an alert where there are no groups, or keys."""
        if isinstance(self.limits, KeyLimits):
            return {NAME: self.limits.design(epsilon=epsilon, delta=1e-3)}
        designs: dict[str, Any] = {NAME: stream_design(self.limits, workload=EachPeriod(), epsilon=epsilon)}
        if self.limits.columns == 1:
            designs[f"{NAME}.alert"] = alert_design(self.limits, above=4.47, max_alerts=8, epsilon=100 * epsilon)
        return designs

    def streams(self, ledger: Ledger) -> list[Any]:
        """Open streams whose noise is the same each time."""
        kinds = {StreamDesign: Stream, AlertDesign: Alert, KeyStreamDesign: KeyStream}
        return [
            kinds[type(design)].open(design, ledger=ledger, dataset="visits", name=name, entropy=seeded(name))  # type: ignore[attr-defined]
            for name, design in self.designs(epsilon=2.0).items()
        ]


def all_limits(*, skew: str = "90s") -> Iterator[Limits | KeyLimits]:
    """Yield limits of every kind."""
    grid = Windows("1min", "2026-01-01", lateness="10s", skew=skew, count=COUNT)
    yield Limits(User(), grid, clip=(-2.0, 5.0), max_periods=2)
    yield Limits(User(), grid, at_most=2, max_periods=3, groups=("a", "b", "c"), max_groups=2)
    yield Limits(Event(), grid, at_most=3)
    yield Limits(Event(), grid, clip=(0.0, 3.0), people=False)
    yield Limits(Event(), grid, clip=(0.0, 3.0), people=False, ids=True)
    yield Limits(UserPeriod("1h"), grid, clip=(0.0, 5.0), ids=True)
    yield KeyLimits(User(), grid, max_keys=3, looks=3)


def random_case(chance: random.Random, limits: Limits | KeyLimits, *, closed: tuple[int, ...] = (0, 1, 1, 2)) -> Case:
    """Return random records: late, ahead, of other groups, twice, out of range and unreadable ones among them."""
    epochs, window, count = [], 0, limits.windows.length
    while window < count:
        window = min(count, window + chance.choice(closed))
        moment = limits.windows.closes(window - 1) if window else limits.windows.begins(0)
        lines = [_line(chance, limits, window) for _ in range(chance.randint(0, 12))]
        epochs.append((moment + chance.choice((0, 1, 30_000_000)), tuple(lines)))
    return Case(limits, tuple(epochs))


def _line(chance: random.Random, limits: Any, window: int) -> str:
    if chance.random() < 0.05:
        return chance.choice(("no JSON", '{"at": 3}', "[]"))
    record: dict[str, Any] = {
        "at": at(
            limits, min(max(window + chance.randint(-3, 3), 0), limits.windows.length - 1), offset=chance.random()
        ),
        "who": f"p{chance.randint(0, 4)}",
        "value": chance.choice((-7, -1.5, 0.1, 0.3, 1, 2.75, 1e6)),
        "place": chance.choice("abcz"),
        "id": chance.randint(0, 9),
    }
    if chance.random() < 0.05:
        record["at"] += chance.choice((-86_400, 86_400))
    return json.dumps(record if chance.random() < 0.9 else [record, record])


def ledger_of(folder: Path, case: Case) -> Ledger:
    ledger = Ledger(folder / "budget.db")
    ledger.open("visits", unit=case.limits.unit, epsilon=1e12, delta=0.1, reserve=0.05)
    return ledger


def run_in_one_process(
    folder: Path, case: Case, *, open_all: Callable[[Case, Ledger], list[Any]] = Case.streams
) -> tuple[list[dict[str, Any]], Any]:
    """Return the rows that `Live` releases, epoch after epoch, and the owner's figures."""
    path, rows, clock = folder / "in.jsonl", [], SetClock(case.limits.windows.begins(0))  # type: ignore[var-annotated]
    path.touch()
    longest = case.limits.longest if isinstance(case.limits, KeyLimits) else None
    reader = Reader(case.fields, groups=case.limits.groups, longest=longest)
    with ledger_of(folder, case) as ledger:
        state = State(folder / "live.db", keys=ledger.keys, name=NAME)
        live = Live(
            case.limits,
            source=FileSource(path, reader=reader),
            streams=open_all(case, ledger),
            state=state,
            key=KEY,
            ledger=ledger,
            dataset="visits",
            clock=clock,
            jump="10D",
            tell=rows.extend,
        )
        left = list(case.epochs)

        def bring() -> None:
            """Let the next records come at the moment of the next look."""
            if left and live.progress.next_window >= case.limits.windows.due(clock.moment):
                clock.moment, lines = left.pop(0)
                with path.open("a", encoding="utf-8") as file:
                    file.writelines(line + "\n" for line in lines)

        live.run(each=bring)
        state.close()
    return rows, live.progress.owner


class EpochClock:
    """A clock that shows the moment of the newest epoch that may come; what came by then comes when it is looked at.

    Records are there before the tick that tells of the moment, so with a wide skew all is the same whether Spark sees
    both in one batch or in two.
    """

    boot = "the only one"

    def __init__(self, folder: Path, case: Case) -> None:
        self.pending, self.come, self.case = folder / "pending", folder / "in", case
        self.allowed = 0

    def now(self) -> int:
        for path in sorted(self.pending.iterdir())[: max(0, self.allowed - len(list(self.come.iterdir())))]:
            path.rename(self.come / path.name)
        come = len(list(self.come.iterdir()))
        return self.case.epochs[come - 1][0] if come else self.case.limits.windows.begins(0)

    def steady(self) -> int:
        return self.now()


def lay_out(folder: Path, case: Case) -> None:
    """Write a file for each epoch, none of which has come yet."""
    for name in ("pending", "in"):
        (folder / name).mkdir()
    for number, (_, lines) in enumerate(case.epochs):
        text = "".join(line + "\n" for line in lines)
        (folder / "pending" / f"{number:03}.jsonl").write_text(text, encoding="utf-8")
