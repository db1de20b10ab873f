"""A machine that does not compute as the proof assumes is noticed before the first draw, and still draws exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from chronodp.randomness import seeded, slow, start_check
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.start_check import checked, holds
from chronodp.randomness.variates import EXPONENTIAL, GAUSSIAN, LAPLACE, Family, Floats, Words, Workspace
from tests.randomness.replay import Replay, random_words

FAMILIES = {"laplace": LAPLACE, "exponential": EXPONENTIAL, "gaussian": GAUSSIAN}
Spoil = Callable[[Words, Floats], None]


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    checked.cache_clear()
    yield
    checked.cache_clear()


def spoiled(family: Family, spoil: Spoil) -> Family:
    """Return the family with a mistake in what its transform writes."""

    def transform(words: Words, out: Floats, work: Workspace) -> None:
        family.transform(words, out, work)
        spoil(words, out)

    return replace(family, transform=transform)


def everywhere(family: Family) -> Spoil:
    def spoil(_: Words, out: Floats) -> None:
        out += 3 * family.tolerance

    return spoil


def in_one_octave(family: Family) -> Spoil:
    """A logarithm that is off for one exponent only."""

    def spoil(words: Words, out: Floats) -> None:
        low = np.abs(words[: len(out)]) >> 45
        out[(low >= 1) & (low < 2)] += 3 * family.tolerance

    return spoil


def in_one_part_of_the_mantissa(family: Family) -> Spoil:
    """A polynomial that is off on a thirty-second of its range."""

    def spoil(words: Words, out: Floats) -> None:
        mantissas, _ = np.frexp(np.abs(words[: len(out)]).astype(np.float64))
        out[(mantissas >= 0.75) & (mantissas < 0.75 + 1 / 64)] += 3 * family.tolerance

    return spoil


def in_one_lane(family: Family) -> Spoil:
    """A vector unit with one bad lane of eight."""

    def spoil(_: Words, out: Floats) -> None:
        out[5::8] += 3 * family.tolerance

    return spoil


def at_the_end_of_the_loop(family: Family) -> Spoil:
    """What is left over after whole vectors is computed by other code."""

    def spoil(_: Words, out: Floats) -> None:
        out[len(out) - len(out) % 4 :] += 3 * family.tolerance

    return spoil


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_this_machine_holds(family: Family) -> None:
    assert holds(family)
    assert checked(family) is family


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize(
    "mistake", [everywhere, in_one_octave, in_one_part_of_the_mantissa, in_one_lane, at_the_end_of_the_loop]
)
def test_a_transform_that_is_off_by_three_tolerances_is_caught(
    family: Family, mistake: Callable[[Family], Spoil]
) -> None:
    assert not holds(spoiled(family, mistake(family)))


def test_another_way_of_rounding_and_a_wrong_reference_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_check, "_rounds_to_nearest", lambda: False)
    assert not holds(LAPLACE)
    monkeypatch.undo()
    monkeypatch.setattr(start_check, "_KNOWN", ((0.5, 0.5 + 2.0**-40),))
    assert not holds(LAPLACE)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_where_it_fails_every_draw_is_the_slow_paths(family: Family) -> None:
    with pytest.warns(RuntimeWarning, match="drawn slowly"):
        careful = checked(spoiled(family, everywhere(family)))
    words = random_words(40, 3)
    assert np.array_equal(
        Reservoir(Replay(words), careful, batch=40).draw(1000.3, 40),
        Reservoir(Replay(words), family, batch=40).draw(1000.3, 40),
    )


def test_coins_take_the_slow_path_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def exceeds(uniform: slow.UniformReal, threshold: float) -> bool:
        asked.append(threshold)
        return slow_exceeds(uniform, threshold)

    slow_exceeds = slow.exponential_exceeds
    monkeypatch.setattr(slow, "exponential_exceeds", exceeds)
    monkeypatch.setattr(start_check, "holds", lambda _: False)
    with pytest.warns(RuntimeWarning, match="drawn slowly"):
        slowly = seeded(5).exponential_coins([0.1, 0.7, 2.0] * 5)
    assert len(asked) == 15
    checked.cache_clear()
    monkeypatch.setattr(start_check, "holds", lambda _: True)
    assert np.array_equal(seeded(5).exponential_coins([0.1, 0.7, 2.0] * 5), slowly)
