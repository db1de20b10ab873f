"""Laws from parts are the laws of the whole: streams step by step, orders once for all values, chosen values."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest

import chronodp as cdp
from chronodp.alerts import Split
from chronodp.audit.adaptive import Game, Live
from chronodp.audit.case import Unfit
from chronodp.audit.exact import examine, outcomes
from chronodp.audit.steps import StepEnumerator
from chronodp.ledger import MOST_LISTED
from chronodp.randomness import Entropy, seeded
from tests.audit.cases.alerts import tiny_alert, watch_walk
from tests.audit.cases.releases import coarse_plan, noisy_numbers
from tests.audit.cases.temporal import Orders


@pytest.mark.slow
def test_a_walk_by_states_gives_the_law_of_every_path() -> None:
    walk = watch_walk(tiny_alert(Split(8.0, 8.0), 1))
    values = (0.0, -1.0, 0.0)
    whole = outcomes(lambda entropy: walk(values, entropy=entropy))
    assert walk.law(values).probabilities == whole.probabilities
    assert walk.law(values).unresolved == whole.unresolved


def test_states_behind_equal_answers_are_kept_apart() -> None:
    def step(state: int, value: int, entropy: Entropy) -> tuple[int, Hashable]:  # noqa: ARG001 (of a step)
        after = state + int(bool(entropy.coins(1, 2)))
        return after, after // 2

    walk = StepEnumerator(start=lambda _: 0, step=step, key=lambda state: state)
    assert walk.law((0, 0, 0)).probabilities == outcomes(lambda entropy: walk((0, 0, 0), entropy=entropy)).probabilities


def test_orders_that_depend_on_values_are_refused() -> None:
    def sort(values: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(sorted(values)) if entropy.coins(1, 2) else values

    with pytest.raises(Unfit, match="depends on the values"):
        Orders(sort, 3).law((1, 2, 3))


def test_an_adversary_who_adapts_sees_more_where_noise_is_reused() -> None:
    """A stream that repeats the noise of its first step is private for that step alone."""

    def opened(entropy: Entropy) -> Live:
        noise = int(entropy.laplace(0.5, 1)[0])
        return lambda value: value + noise

    def fixed(answers: tuple[int, ...]) -> tuple[int, int] | None:
        return (0, 1) if not answers else None

    def adapting(answers: tuple[int, ...]) -> tuple[int, int] | None:
        if len(answers) == 2:
            return None
        return (0, 0) if not answers else (0, 1)

    assert not examine(Game(opened, fixed), [(0, 1)]).refutes(2.0)
    assert examine(Game(opened, adapting), [(0, 1)]).refutes(2.0)


@pytest.mark.slow
def test_numbers_beside_the_text_are_those_that_an_adversary_sees() -> None:
    """A case that releases more numbers at once than a text lists is judged like any other."""
    totals = np.zeros(MOST_LISTED + 1)
    plan = cdp.Aggregate(totals, change=1.0, unit=cdp.Event()).plan(epsilon=1.0)
    seen = noisy_numbers(plan, seeded(1))
    assert seen.shape == totals.shape
    assert 0 < np.abs(seen).mean() * plan.design.noises[0].step < 2


@pytest.mark.slow
def test_a_whole_release_with_thinner_noise_is_caught() -> None:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits, thin=0.9), entropy)[0])

    assert examine(release, [(("ann", "ann", "bo"), ("ann",))]).refutes(8.0, 0.0)
