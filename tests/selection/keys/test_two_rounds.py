"""Two rounds on every small table: the shipped rule with another noise law put through it, and its mutant."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.audit.cases.keys import decide_by_true_weight
from tests.audit.key_rules import People, Weighted

from chronodp.selection.keys import Round

WANTED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "keys" / "two_rounds_exact.json").read_text()
)
CHOICES = [one for size in (1, 2, 3) for one in itertools.combinations(range(3), size)]


def geometric_above(scale: float, steps: int) -> float:
    """P(two-sided geometric noise is at least so many steps), where each step is e^(1/scale) times as rare."""
    ratio = math.exp(-1 / scale)
    return ratio**steps / (1 + ratio) if steps > 0 else 1 - ratio ** (1 - steps) / (1 + ratio)


SOUND = Weighted(
    (Round(1 / WANTED["eta"], WANTED["t1"]), Round(1 / WANTED["eta"], WANTED["t2"])),
    WANTED["low"],
    (3, 2, 1),
    geometric_above,
)
BROKEN = replace(SOUND, deciding=decide_by_true_weight)


def worst(subject: Weighted, epsilons: tuple[float, ...], people: int) -> tuple[list[float], int]:
    """The true delta over all tables of at most so many people and one more."""
    known: dict[People, dict[Any, float]] = {}
    pairs = [
        (table, tuple(sorted((*table, more))))
        for count in range(people + 1)
        for table in itertools.combinations_with_replacement(sorted(CHOICES), count)
        for more in CHOICES
    ]
    for table in {one for pair in pairs for one in pair}:
        known[table] = subject.chances(table)
        assert sum(known[table].values()) == pytest.approx(1, abs=1e-12)
    return [
        max(max(excess(known[one], known[two], e), excess(known[two], known[one], e)) for one, two in pairs)
        for e in map(math.exp, epsilons)
    ], len(pairs)


def excess(here: dict[Any, float], there: dict[Any, float], factor: float) -> float:
    return sum(max(chance - factor * there.get(output, 0.0), 0.0) for output, chance in here.items())


def test_a_lone_unit_passes_with_the_stated_probability() -> None:
    # given the first round, the second looks at what is left: at most as many keys, with the weights of so few
    lone = max(
        1 - math.prod((1 - geometric_above(1 / WANTED["eta"], t - w)) ** d for t in (WANTED["t1"], WANTED["t2"]))
        for d, w in enumerate(SOUND.weights, 1)
    )
    assert lone == pytest.approx(WANTED["delta_sel"], rel=1e-12)
    for choice in CHOICES:
        assert 1 - SOUND.chances((choice,))[()] <= lone


@pytest.mark.slow
def test_two_rounds_keep_their_price_on_tables_of_two_people() -> None:
    found, _ = worst(SOUND, (WANTED["eps"],), 2)
    assert found[0] == pytest.approx(WANTED["sound at eps 2.80"]["worst"], rel=1e-10)
    assert found[0] <= WANTED["delta_sel"]


def test_the_worst_table_at_half_the_price_is_the_reference_one() -> None:
    table: People = ((0,), (0,), (0, 1), (0, 1))  # of all tables of so many people
    law, more = SOUND.chances(table), SOUND.chances(((0,), *table))
    found = max(excess(law, more, math.exp(1.4)), excess(more, law, math.exp(1.4)))
    assert found == pytest.approx(WANTED["sound at eps 1.40"]["worst"], rel=1e-10)


@pytest.mark.slow
@pytest.mark.stated  # tables of two people, and the worst ones, show it
def test_two_rounds_keep_their_price_on_all_tables() -> None:
    found, pairs = worst(SOUND, (2.8, 1.4), 4)
    assert pairs == WANTED["sound at eps 2.80"]["pairs"]
    assert found == pytest.approx([WANTED[f"sound at eps {e}"]["worst"] for e in ("2.80", "1.40")], rel=1e-10)


def test_hopeless_by_true_weight_breaks_the_price() -> None:
    three: People = ((0, 1, 2),) * 3
    law, more = BROKEN.chances(three), BROKEN.chances(((0,), *three))
    found = max(excess(law, more, math.exp(2.8)), excess(more, law, math.exp(2.8)))
    assert found == pytest.approx(WANTED["true at eps 2.80"]["worst"], rel=1e-10)
