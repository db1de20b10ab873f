from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from chronodp.accounting import gaussian
from chronodp.audit.exact import Outcomes, _Aligned, compare_outcomes, examine, outcomes, total
from chronodp.errors import InvalidArgument
from chronodp.randomness import Entropy
from tests.rounding import FUNCTION


def test_finite_choices_are_exact_and_rational() -> None:
    def everything(_: int, *, entropy: Entropy) -> tuple[object, ...]:
        return (entropy.integers([2, 3]).tolist(), bool(entropy.coins(1, 7)), entropy.permutations(3, rows=1).tolist())

    found = outcomes(lambda entropy: everything(0, entropy=entropy))
    assert sum(found.probabilities.values()) == 1
    assert len(found.probabilities) == 2 * 3 * 2 * 6
    assert set(found.probabilities.values()) == {Fraction(1, 36) * Fraction(1, 7), Fraction(1, 36) * Fraction(6, 7)}
    assert found.unresolved == 0


def test_outcomes_without_probability_are_not_walked() -> None:
    found = outcomes(lambda entropy: entropy.coins([0, 2], 2).tolist())
    assert found.probabilities == {(False, True): Fraction(1)}


def test_noise_and_exponential_coins_to_many_digits() -> None:
    coin = outcomes(lambda entropy: bool(entropy.exponential_coins(0.5)))
    assert float(coin.probabilities[True]) == pytest.approx(math.exp(-0.5), rel=FUNCTION)
    noise = outcomes(lambda entropy: int(entropy.gaussian(1.3, 1)[0]))
    assert sum(noise.probabilities.values()) + noise.unresolved == 1
    assert noise.unresolved < Fraction(1, 2**80)
    inside = math.erf(0.5 / 1.3 / math.sqrt(2))
    assert float(noise.probabilities[0]) == pytest.approx(inside, rel=1e-14)
    laplace = outcomes(lambda entropy: int(entropy.laplace(1.3, 1)[0]))
    assert float(laplace.probabilities[0]) == pytest.approx(-math.expm1(-0.5 / 1.3), rel=1e-14)
    ratio = laplace.probabilities[3] / laplace.probabilities[2]
    assert float(ratio) == pytest.approx(math.exp(-1 / 1.3), rel=1e-14)
    delay = outcomes(lambda entropy: int(entropy.exponential(1.3, 1)[0]))
    assert sum(delay.probabilities.values()) + delay.unresolved == 1
    assert delay.unresolved < Fraction(1, 2**80)
    assert -1 not in delay.probabilities
    assert float(delay.probabilities[2]) == pytest.approx(-math.exp(-2 / 1.3) * math.expm1(-1 / 1.3), rel=1e-14)


def test_laplace_on_a_grid_has_exactly_its_epsilon() -> None:
    def count(value: int, *, entropy: Entropy) -> int:
        return value + int(entropy.laplace(3.0, 1)[0])

    finding = examine(count, [(0, 1), (0, 2)])
    assert finding.epsilon == pytest.approx(2 / 3, abs=1e-12)
    assert not finding.refutes(2 / 3)
    assert finding.refutes(2 / 3 - 1e-6)


def test_the_privacy_curve_of_gaussian_noise_stays_below_the_ideal_one() -> None:
    def count(value: int, *, entropy: Entropy) -> int:
        return value + int(entropy.gaussian(4.0, 1)[0])

    for epsilon, low, high in examine(count, [(0, 1)]).curve([0.0, 0.2, 0.5, 1.0]):
        assert low <= high <= gaussian.delta_of(0.25, epsilon) * (1 + 1e-12)
        assert high == pytest.approx(gaussian.delta_of(0.25, epsilon), rel=0.05)


def test_an_output_only_one_neighbour_can_give_is_an_infinite_loss() -> None:
    finding = examine(lambda data, *, entropy: data + int(entropy.integers(2, 1)[0]), [(0, 1)])
    assert finding.ratio is None
    assert finding.epsilon == math.inf
    assert finding.output in (0, 2)
    assert finding.delta(5.0) == (0.5, 0.5)
    assert finding.impossible == Fraction(1, 2)


def tossed(output: object, entropy: Entropy) -> object:
    entropy.coins(1, 2)
    return output


def test_outputs_of_any_plain_kind_are_compared_by_value() -> None:
    for output in (
        np.array([1.5, 2.0]),
        np.float64(3.0),
        [1, [2, 3]],
        {"value": np.int64(4), "series": np.zeros(3)},
        np.array([1.0, math.nan]),
        np.ma.masked_equal([1, 2], 2),
        "text",
        None,
    ):
        found = outcomes(partial(tossed, output))
        assert list(found.probabilities.values()) == [1]
    with pytest.raises(InvalidArgument, match="output can be compared"):
        outcomes(lambda _: bytearray(b"x"))


def test_says_when_there_is_too_much_to_enumerate() -> None:
    with pytest.raises(InvalidArgument, match="small enough to enumerate in 100 runs"):
        outcomes(lambda entropy: entropy.integers(101, 1).tolist(), most_runs=100)
    with pytest.raises(InvalidArgument, match="at least one pair"):
        compare_outcomes([])


def test_mass_that_was_not_followed_counts_for_the_mechanism_when_accusing_it() -> None:
    first = Outcomes.of({"a": Fraction(1, 2), "b": Fraction(1, 2)}, Fraction(0))
    second = Outcomes.of({"a": Fraction(1, 4)}, Fraction(3, 4))
    finding = compare_outcomes([(first, second)])
    assert finding.ratio == 1
    assert finding.impossible == 0
    low, high = finding.delta(0.0)
    assert low == 0
    assert high == 0.75


def test_shares_in_order_give_the_delta_of_plain_sums() -> None:
    """Also where ratios lie nearer to the factor than floats tell, and where floats end."""
    chance = random.Random(1)
    for _ in range(200):
        bits = chance.choice([3, 60, 2_000])
        first, second = ([chance.choice([0, 1, chance.getrandbits(bits)]) for _ in range(8)] for _ in range(2))
        shares = tuple(zip(first, second, strict=True))
        aligned = _Aligned(shares, (chance.randrange(3), chance.randrange(3)), 2**bits)
        apart = 1 + Fraction(chance.choice([-1, 0, 1]), 2 ** chance.choice([52, 60, 300]))
        near = [Fraction(here, there) * apart for here, there in shares if here and there]
        for factor in (Fraction(1), Fraction(chance.getrandbits(300), 2**290), Fraction(2**1_100), *near):
            excess = sum((max(Fraction(0), here - factor * there) for here, there in shares), Fraction(0))
            low = max(Fraction(0), excess - factor * aligned.lost[1])
            assert aligned.delta(factor) == (low / aligned.whole, (excess + aligned.lost[0]) / aligned.whole)


def test_shares_by_denominator_are_added_exactly() -> None:
    assert total({}, 12) == 0
    assert Fraction(total({6: 1, 4: 3, 12: 5}, 24), 24) == Fraction(1, 6) + Fraction(3, 4) + Fraction(5, 12)


@pytest.mark.parametrize("draw", ["laplace", "gaussian", "exponential"])
def test_noise_that_is_followed_less_far_is_kept_as_unresolved(draw: str) -> None:
    def run(entropy: Entropy) -> tuple[int, ...]:
        return tuple(getattr(entropy, draw)(0.5, 2).tolist())

    whole, cut = outcomes(run), outcomes(run, bits=90)
    assert len(cut.shares) < 0.9 * len(whole.shares)
    assert sum(cut.shares.values()) + cut.lost == cut.whole
    assert 0 < cut.unresolved < Fraction(1, 2**80)
    assert all(chance == whole.probabilities[told] for told, chance in cut.probabilities.items())
