"""A machine that does not compute as the proof assumes is noticed before the first draw, and still draws exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chronodp.randomness import KeyedNoise, seeded, slow, start_check
from chronodp.randomness.logarithm import Floats, Words, Workspace
from chronodp.randomness.pairs import PAIRS, Pairs
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.stairs import Stairs
from chronodp.randomness.start_check import checked, holds
from chronodp.randomness.variates import Family, judge_points, laplace, step_widths
from tests.randomness.replay import FAMILIES, Continued, by_family, random_words

KINDS: dict[str, Family | Pairs] = {**FAMILIES, "pairs": PAIRS}
by_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
Spoil = Callable[[Words, Floats, float], None]


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    checked.cache_clear()
    yield
    checked.cache_clear()


def everywhere(_: Words, out: Floats, off: float) -> None:
    out += off


def in_one_octave(words: Words, out: Floats, off: float) -> None:
    """A number that is off for one exponent only."""
    low = np.abs(words[: len(out)]) >> 45
    out[(low >= 1) & (low < 2)] += off


def in_one_part_of_the_mantissa(words: Words, out: Floats, off: float) -> None:
    """A polynomial that is off on a thirty-second of its range."""
    mantissas, _ = np.frexp(np.abs(words[: len(out)]).astype(np.float64))
    out[(mantissas >= 0.75) & (mantissas < 0.75 + 1 / 64)] += off


def in_one_lane(_: Words, out: Floats, off: float) -> None:
    """A vector unit with one bad lane of eight."""
    out[5::8] += off


def at_the_end_of_the_loop(_: Words, out: Floats, off: float) -> None:
    """What is left over after whole vectors is computed by other code."""
    out[len(out) - len(out) % 4 :] += off


MISTAKES = [everywhere, in_one_octave, in_one_part_of_the_mantissa, in_one_lane, at_the_end_of_the_loop]


def spoiled(kind: Any, spoil: Spoil) -> Any:
    """Return the kind with a mistake of three tolerances in what its transform writes."""

    def steps(stairs: Stairs, words: Words, chosen: Words, out: Floats, work: Workspace) -> None:
        step_widths(stairs, words, chosen, out, work)
        spoil(words, out, 3 * kind.bounds.tolerance)

    def pairs(words: Words, out: Floats, work: Workspace) -> None:
        PAIRS.transform(words, out, work)
        spoil(words, out, 3 * kind.bounds.tolerance)

    return replace(kind, transform=pairs if isinstance(kind, Pairs) else steps)


@by_kind
def test_this_machine_holds(kind: Any) -> None:
    assert holds(kind)
    assert checked(kind) is kind


@by_kind
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_transform_that_is_off_by_three_tolerances_is_caught(kind: Any, mistake: Spoil) -> None:
    assert not holds(spoiled(kind, mistake))


@pytest.mark.parametrize("which", [0, 1])
@by_family
@pytest.mark.parametrize("mistake", MISTAKES)
def test_points_of_the_rest_that_are_off_are_caught(family: Family, mistake: Spoil, which: int) -> None:
    def judge(stairs: Stairs, strips: Words, across: Words, heights: Words) -> tuple[Floats, Floats]:
        made = judge_points(stairs, strips, across, heights)
        mistake((across, heights)[which], made[which], (3 * family.bounds.tolerance, 2.0**-29)[which])
        return made

    assert not holds(replace(family, judge=judge))


@by_family
def test_a_table_with_one_wrong_width_is_caught(family: Family) -> None:
    def transform(stairs: Stairs, words: Words, steps: Words, out: Floats, work: Workspace) -> None:
        step_widths(stairs, words, steps, out, work)
        out[steps == 700] *= 1 + 2.0**-40

    assert not holds(replace(family, transform=transform))


def test_another_way_of_rounding_and_a_wrong_reference_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_check, "_rounds_to_nearest", lambda: False)
    assert not holds(laplace())
    monkeypatch.undo()
    monkeypatch.setattr(start_check, "_KNOWN", ((0.5, 0.5 + 2.0**-40),))
    assert not holds(laplace())


@by_family
@pytest.mark.slow
def test_where_it_fails_every_draw_is_the_slow_paths(family: Family) -> None:
    with pytest.warns(RuntimeWarning, match="drawn slowly"):
        careful = checked(spoiled(family, everywhere))
    words = random_words(400, 3)
    assert np.array_equal(
        Reservoir(Continued(words), careful, batch=400).draw(1000.3, 400),
        Reservoir(Continued(words), family, batch=400).draw(1000.3, 400),
    )


def test_pairs_are_drawn_slowly_too(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = KeyedNoise(bytes(32)).gaussian(1000.3, ["a"], begin=0, end=9)
    monkeypatch.setattr(start_check, "holds", lambda _: False)
    checked.cache_clear()
    with pytest.warns(RuntimeWarning, match="drawn slowly"):
        careful = KeyedNoise(bytes(32))
    assert np.array_equal(careful.gaussian(1000.3, ["a"], begin=0, end=9), expected)


@pytest.mark.slow
def test_coins_take_the_slow_path_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def exceeds(variate: slow.Variate, threshold: float) -> bool:
        asked.append(threshold)
        return slow_exceeds(variate, threshold)

    slow_exceeds = slow.exceeds
    monkeypatch.setattr(slow, "exceeds", exceeds)
    monkeypatch.setattr(start_check, "holds", lambda _: False)
    with pytest.warns(RuntimeWarning, match="drawn slowly"):
        slowly = seeded(5).exponential_coins([0.1, 0.7, 2.0] * 5)
    assert len(asked) == 15
    checked.cache_clear()
    monkeypatch.setattr(start_check, "holds", lambda _: True)
    assert np.array_equal(seeded(5).exponential_coins([0.1, 0.7, 2.0] * 5), slowly)
