"""A new measure is one file: this one is released, read back and asked for in words, and nothing else knows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.series.releases import Silent, hours, made, night, readings, values

import chronodp as cdp
from chronodp.dataset import ask_question
from chronodp.engines import DuckDB, Engine, Record, Reference, Totals
from chronodp.errors import InvalidArgument
from chronodp.privacy import Contribution, document, dump, load
from chronodp.series import ASKABLE, Design, Measure, Noise, ask_for
from chronodp.series.measures import Argument, Asking
from chronodp.series.plan import Quanta


@document("tests.away")
@dataclass(frozen=True, slots=True)
class Away(Measure):
    """How many of a public number of people have no row."""

    people: int
    whole = True
    noun = "count of those away"

    @property
    def label(self) -> str:
        return "away"

    @property
    def reach(self) -> float:
        return 1.0

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        del rounding
        return (Contribution.count(),)

    def opposite(self, part: Contribution) -> Fraction | None:
        del part
        return Fraction(0)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        return 0, round(1 / step)

    def numbers(self, totals: Totals, *, clip: tuple[int, int], noises: Sequence[Noise]) -> tuple[Quanta, ...]:
        del noises
        return (self.people * clip[1] - totals.sums,)

    def to_question(self) -> dict[str, Any]:
        return {"kind": "away", "people": self.people}

    def words(self, called: str | None = None) -> str:
        return f"count of each {called or 'person'} of {self.people:,} without a row"

    @property
    def note(self) -> str:
        return "a public number less a noisy count"


AWAY = Asking(
    "away",
    "how many were away",
    "How many of a public number of people have no row.",
    (Argument("people", "whole", "How many there are."),),
    Away,
)
ABSENT = [3.0 - count for count in hours(h0=2.0, h2=1.0, h3=1.0, h24=1.0)]


def table_of(engine: Engine) -> object:
    """Return the rows of a night as an engine takes them."""
    table = readings()
    if not isinstance(engine, Reference):
        return table
    return [Record(who, at.value // 1000) for who, at in zip(table["who"], table["at"], strict=True)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("meters", unit=cdp.User(), epsilon=10.0)
        yield opened


@pytest.mark.parametrize("engine", [DuckDB(), Reference()], ids=lambda engine: type(engine).__name__)
def test_it_is_released_and_read_back(engine: Engine, ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = night(table_of(engine), engine=engine).ask(Away(3)).plan(epsilon=1.0)
    assert "count of each person of 3 without a row" in str(plan)
    assert "a public number less a noisy count" in str(plan)
    release = made(plan, ledger, entropy=Silent())
    assert values(release)[:, 0].tolist() == ABSENT
    release.save(tmp_path / "away.json")
    again = cdp.Release.load(tmp_path / "away.json")
    assert again.design.table.measure == Away(3)
    assert again.to_pandas().equals(release.to_pandas())
    assert again.design == load(dump(plan.design), Design) == plan.design


def test_it_is_asked_for_in_words(monkeypatch: pytest.MonkeyPatch, ledger: cdp.Ledger) -> None:
    monkeypatch.setitem(ASKABLE, AWAY.kind, AWAY)  # the line that a new measure has in `series.questions`
    said = Away(3).to_question()
    assert ask_for(said) == Away(3)
    plan = ask_question(night(), said, by={"region": ["north", "south"]}).plan(epsilon=1.0)
    released = values(made(plan, ledger, entropy=Silent()), places=2)
    assert released.sum(axis=1).tolist() == [6.0 - count for count in hours(h0=2.0, h2=1.0, h3=1.0)]
    with pytest.raises(InvalidArgument, match="people must be given for away"):
        ask_for({"kind": "away"})


def test_lives_take_it_as_any_other_measure() -> None:
    assert night().ask(Away(3)).lifetime(epsilon=1.0, max_periods=25).design.max_periods == 25
