"""Every theorem at extremes, beside the same formula with eighty digits: never on the unsafe side, and near it.

Each check takes the function that it examines, so that wrong ones (below) can be put in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import erfcx, gammaln, logsumexp, ndtr

from chronodp.accounting import (
    advanced,
    adversary,
    basic,
    calibrate,
    gather,
    gaussian,
    group,
    most_releases,
    optimal,
    pld,
    renyi,
    sampled,
    zcdp,
)
from chronodp.accounting.solving import smallest
from chronodp.ledger.filters import CAP, ORDERS, Filter
from chronodp.privacy import (
    ApproximateCost,
    BoundedRangeCost,
    Cost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
)
from tests.accounting import truth
from tests.conftest import Trials

Function = Callable[..., float]
Point = tuple[Any, ...]
Check = Callable[[Function, Sequence[Point]], Iterator[str]]

EPSILONS = (1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.1, 1.0, 10.0, 100.0, 500.0)
DELTAS = (1e-300, 1e-150, 1e-50, 1e-15, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.99)
SIGMAS = (0.01, 0.02, 0.1, 0.5, 1.0, 3.7, 50.0, 1e3, 1e6)
ORDERS_ = (1.0000001, 1.00001, 1.25, 2.0, 2.5, 16.0, 20.5, 256.0, 511.5, 1e4, 1e9)
TIMES = (1, 30, 1440, 10**6)
CLOSE = 1e-9  # how far a result may be from the truth, relative, where the formula is closed


def share(points: Sequence[Point], trials: Trials, *, least: int = 110) -> list[Point]:
    """Every point at full count; else a share of them spread over the grid, its ends among them."""
    count = min(len(points), trials(len(points), least=min(len(points), least)))
    return [points[round(index * (len(points) - 1) / max(1, count - 1))] for index in range(count)]


def above(found: float, exact: mpf, *, near: float = CLOSE, floor: float = 0.0) -> str:
    """Say what is wrong with a result that may not be below the truth, and not far above it."""
    if not found >= exact:
        return f"below the truth by {mpmath.nstr(1 - mpf(found) / exact, 3)}"
    if found > exact * (1 + mpf(near)) + floor:
        return f"above the truth by {mpmath.nstr(mpf(found) / exact - 1, 3)}"
    return ""


def told(points: Sequence[Point], judge: Callable[..., str]) -> Iterator[str]:
    with mp.workdps(truth.DIGITS):
        for point in points:
            if wrong := judge(*point):
                yield f"{point}: {wrong}"


# The checks -----------------------------------------------------------------------------------------------------------


def check_gaussian_delta(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(sigma: float, epsilon: float) -> str:
        mu = 1 / sigma
        exact = truth.gaussian_delta(mu, epsilon)
        return above(function(mu, epsilon), exact, near=4e-12, floor=3e-308)

    return told(points, judge)


def check_gaussian_epsilon(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(sigma: float, delta: float) -> str:
        mu = 1 / sigma
        found = function(mu, delta)
        if truth.gaussian_delta(mu, found) > delta:
            return f"{found} does not hold"
        less = found * (1 - mpf(CLOSE)) - mpf(delta) * mpf("1e-11")  # delta's own margin, where epsilon is near 0
        return "loose" if less > 0 and truth.gaussian_delta(mu, less) <= delta else ""

    return told(points, judge)


def check_mu_for(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, delta: float) -> str:
        found = function(epsilon, delta)
        if truth.gaussian_delta(found, epsilon) > delta:
            return f"delta is exceeded by {mpmath.nstr(truth.gaussian_delta(found, epsilon) / delta - 1, 3)}"
        return "loose" if truth.gaussian_delta(mpf(found) * (1 + mpf(CLOSE)), epsilon) <= delta else ""

    return told(points, judge)


def check_mu_of_bounded(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float) -> str:
        found, unlikely = mpf(function(epsilon)), 1 / (1 + mpmath.exp(mpf(epsilon)))
        if mpmath.ncdf(-found / 2) > unlikely:
            return "too small"
        return "loose" if mpmath.ncdf(-found * (1 - mpf(CLOSE)) / 2) <= unlikely else ""

    return told(points, judge)


def check_sampled(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(rate: float, sigma: float, order: float, exact: str) -> str:
        found = function(SampledGaussianCost(1.0, sigma, rate), order)
        # Where sigma is below 1/64 and the order near 1 the integral is not computed, and the bound is everybody's.
        near = 1e-11 if sigma > 1 / 64 or order >= 1.25 else 4.0
        return above(found, mpf(exact), near=near)

    return told(points, judge)


def check_coins(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, times: int, delta: float, exact: str) -> str:
        found = function(RepeatedCost(PureCost(epsilon), times), delta)
        return above(found, mpf(exact), floor=1e-9 * epsilon)

    return told(points, judge)


def check_divergence(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(value: float, order: float) -> str:
        ratio, a = mpf(value), mpf(order)
        pairs: list[tuple[Cost, mpf]] = [
            (GaussianCost(value, 1.0), a * ratio**2 / 2),
            (RepeatedCost(LaplaceCost(value, 1.0), 10**6), 10**6 * truth.laplace_divergence(value, order)),
            (PureCost(value), truth.response_divergence(value, 2, order)),
            (BoundedRangeCost(value), truth.range_divergence(value, order)),
            (RandomizedResponseCost(value, 1000), truth.response_divergence(value, 1000, order)),
        ]
        return "; ".join(filter(None, (above(function(cost, order), exact, near=1e-11) for cost, exact in pairs)))

    return told(points, judge)


def check_conversions(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(divergence: float, order: float, delta: float) -> str:
        a, paid = mpf(order), -mpmath.log(mpf(delta)) / (mpf(order) - 1)
        exact = mpf(divergence) + mpmath.log(1 - 1 / a) - mpmath.log(a) / (a - 1) + paid
        found = mpf(function(divergence, order, delta))
        if found < exact:
            return f"below the truth by {mpmath.nstr(exact - found, 3)}"
        return "loose" if found - exact > mpf("1e-14") * (1 + divergence + paid) else ""  # the terms may cancel

    return told(points, judge)


def check_gaussian_theorems(function: Function, points: Sequence[Point]) -> Iterator[str]:
    """zCDP and the textbook's Rényi conversion at its best order agree on Gaussian noise: rho + 2 √(rho ln 1/delta)."""

    def judge(sigma: float, times: int, delta: float) -> str:
        rho = times / (2 * mpf(sigma) ** 2)
        exact = rho + 2 * mpmath.sqrt(-rho * mpmath.log(mpf(delta)))
        return above(function(RepeatedCost(GaussianCost(1.0, sigma), times), delta), exact)

    return told(points, judge)


def check_advanced(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, times: int, delta: float) -> str:
        value = mpf(epsilon)
        exact = mpmath.sqrt(-2 * times * mpmath.log(mpf(delta))) * value + times * value * mpmath.expm1(value)
        return above(function(RepeatedCost(PureCost(epsilon), times), delta), exact)

    return told(points, judge)


def check_basic(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(sigma: float, times: int, delta: float) -> str:
        each = mpf(function(RepeatedCost(GaussianCost(1.0, sigma), times), delta)) * (1 + mpf(2) ** -53) / times
        mu, part = truth.inverse(sigma), mpf(delta) / times  # a unit, for the float that is read as it is written
        if truth.gaussian_delta(mu, each) > part:
            return "does not hold"
        less = each * (1 - mpf(CLOSE)) - part * mpf("1e-11")
        return "loose" if less > 0 and truth.gaussian_delta(mu, less) <= part else ""

    return told(points, judge)


def pair(result: Any) -> tuple[float, float]:
    total, failure = result
    return float(total), float(failure)


def check_group(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, times: int, delta: float) -> str:
        total, failure = pair(function(epsilon, delta, times))
        value = mpf(epsilon)
        exact = mpf(delta) * mpmath.expm1(times * value) / mpmath.expm1(value)
        return above(total * (1 + 2**-52), times * value) or above(failure, min(exact, mpf(1)), near=1e-10)

    return told(points, judge)


def check_adversary(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, delta: float) -> str:
        value, failure = mpf(epsilon), mpf(delta)
        exact = mpmath.tanh(value / 2) * (1 - failure) + failure
        return above(function(epsilon, delta), exact) if exact < 1 - mpf(2) ** -53 else ""

    return told(points, judge)


def check_odds(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, delta: float) -> str:
        beyond = 1.5 * epsilon
        exact = mpf(delta) / -mpmath.expm1(mpf(epsilon) - mpf(beyond))
        return above(function(epsilon, delta, beyond), min(mpf(1), exact))

    return told(points, judge)


def check_advantage(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(sigma: float, epsilon: float) -> str:
        seen = -mpmath.log(2 * mpmath.ncdf(-1 / mpf(sigma) / 2)) + mpf(epsilon) / 2
        exact = -mpmath.expm1(-seen)
        found = function([GaussianCost(1.0, sigma), LaplaceCost(epsilon, 1.0)])
        return above(found, exact) if exact < 1 - mpf(2) ** -53 else ""

    return told(points, judge)


def check_revealed(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(times: int, delta: float) -> str:
        exact = -mpmath.expm1(times * mpmath.log1p(-mpf(delta)))
        spending = gather(RepeatedCost(ApproximateCost(1.0, delta), times))
        if exact > 1 - mpf(2) ** -53:
            return "" if function(spending) == 1 else "not all is revealed"
        wrong = above(function(spending), exact)
        whole = (1 + float(exact)) / 2
        left = (mpf(whole) - exact) / (1 - exact)
        return wrong or ("left too much" if spending.left_of(whole) > left else "")

    return told(points, judge)


GAUSSIAN: list[Point] = list(product(SIGMAS, TIMES, DELTAS))
HALVES: list[Point] = [(epsilon / 2,) for epsilon in EPSILONS]
BOUNDED: list[Point] = list(product(EPSILONS, TIMES, DELTAS))
GRID: dict[str, tuple[Check, Function, list[Point]]] = {
    "Gaussian delta": (check_gaussian_delta, gaussian.delta_of, list(product((*SIGMAS, 1e12), (0.0, *EPSILONS)))),
    "Gaussian epsilon": (check_gaussian_epsilon, gaussian.epsilon_of, list(product((*SIGMAS, 1e12), DELTAS))),
    "mu for": (check_mu_for, gaussian.mu_for, list(product(EPSILONS, DELTAS))),
    "sigma": (check_mu_for, lambda *point: 1 / gaussian.sigma(*point), list(product(EPSILONS, DELTAS))),
    "mu of bounded": (check_mu_of_bounded, gaussian.mu_of_bounded, [(epsilon,) for epsilon in EPSILONS]),
    "mu of bounded range": (check_mu_of_bounded, lambda half: gaussian.mu(BoundedRangeCost(2 * half)), HALVES),
    "divergence": (check_divergence, renyi.divergence, list(product(EPSILONS, ORDERS_))),
    "conversion": (check_conversions, renyi.convert, list(product((1e-12, 1.0, 500.0), ORDERS_, DELTAS))),
    "Rényi, textbook": (check_gaussian_theorems, renyi.epsilon_textbook, GAUSSIAN),
    "zCDP": (check_gaussian_theorems, zcdp.epsilon, GAUSSIAN),
    "basic": (check_basic, basic.epsilon, GAUSSIAN),
    "advanced": (check_advanced, advanced.epsilon, BOUNDED),
    "group": (check_group, group, BOUNDED),  # type: ignore[dict-item]
    "total variation": (check_adversary, adversary.total_variation, list(product(EPSILONS, DELTAS))),
    "odds": (check_odds, adversary.odds_tail, list(product(EPSILONS, DELTAS))),
    "advantage": (check_advantage, adversary.advantage, list(product(SIGMAS, EPSILONS))),
    "revealed": (check_revealed, lambda spending: spending.revealed, list(product(TIMES, DELTAS))),
}


FEWEST = {"optimal": 20, "sampled": 252}  # points that every run looks at; of other formulas 110


@pytest.fixture(scope="session")
def grid(golden: Any) -> dict[str, tuple[Check, Function, list[Point]]]:
    """Every check with what it examines; two of them have truths that take too long to compute each time."""
    return GRID | {
        "sampled": (check_sampled, sampled.divergence, [tuple(row) for row in golden("accounting/sampled.json")]),
        "optimal": (check_coins, optimal.epsilon, [tuple(row) for row in golden("accounting/coins.json")]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [*GRID, "sampled", "optimal"])
def test_no_theorem_is_on_the_unsafe_side(name: str, grid: Any, trials: Trials) -> None:
    check, function, points = grid[name]
    assert list(check(function, share(points, trials, least=FEWEST.get(name, 110)))) == []


# Wrong accountants ----------------------------------------------------------------------------------------------------


def overflowing_divergence(cost: SampledGaussianCost, order: float) -> float:
    """Where u overflows the integrand is lost, and with it the peak."""
    rate, mu = cost.rate, cost.sensitivity / cost.sigma
    if order == int(order) or order > 512:
        return sampled.divergence(cost, order)
    step = min(0.05, 0.4 / mu)
    z = np.arange(-14.0, 14.0 + order * mu + step, step)
    exponents = mu * z - mu * mu / 2
    logs = np.logaddexp(math.log1p(-rate), math.log(rate) + exponents)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        u = rate * np.expm1(exponents)
        near = order * (order - 1) / 2 * u**2 * (1 + (order - 2) / 3 * u * (1 + (order - 3) / 4 * u))
        far = order * logs + np.log1p(-(1 + order * u) * np.exp(-order * logs))
        heights = np.where(np.abs(order * logs) < 1e-3, np.log(near), far)
    heights[np.isnan(heights)] = -np.inf
    log_excess = float(logsumexp(heights - z * z / 2)) + math.log(step / math.sqrt(2 * math.pi))
    return min(order * mu * mu / 2, float(np.logaddexp(0.0, log_excess)) / (order - 1))


def cancelling_delta(mu: float, epsilon: float) -> float:
    """A difference of two halves where both are small, and no margin."""
    upper = mu / 2 - epsilon / mu
    shared = 0.5 * math.exp(-upper * upper / 2)
    if upper > 0:
        return float(ndtr(upper)) - shared * float(erfcx((mu / 2 + epsilon / mu) / math.sqrt(2)))
    return shared * gaussian._erfcx_fall(-upper / math.sqrt(2), mu / math.sqrt(2))


def hopeful_mu(epsilon: float, delta: float) -> float:
    """Inverts that delta, and trusts it to its last digits."""
    found = smallest(lambda value: cancelling_delta(value, epsilon) > delta)
    assert found is not None
    return found * (1 - 4e-14)


def cancelling_coins(cost: RepeatedCost, delta: float) -> float:
    """Logarithms of factorials of a million cancel."""
    assert isinstance(cost.cost, PureCost)
    epsilon, times = cost.cost.epsilon, cost.times
    against = np.arange(times + 1, dtype=np.float64)
    logs = gammaln(times + 1.0) - gammaln(against + 1) - gammaln(times - against + 1)
    chances = np.exp(logs - against * epsilon - times * math.log1p(math.exp(-epsilon)))
    ratios = (times - 2 * against) * epsilon

    def excess(value: float) -> float:
        over = ratios > value
        return float(np.sum(chances[over] * -np.expm1(value - ratios[over])))

    if excess(0.0) <= delta:
        return 0.0
    return smallest(lambda value: excess(value) <= delta) or math.inf


def a_hair_less(function: Function) -> Function:
    """Return a function whose result is rounded down instead of up."""
    return lambda *point: function(*point) * (1 - 1e-10)


MUTANTS: dict[str, tuple[str, Function]] = {
    "an overflowing divergence": ("sampled", overflowing_divergence),
    "a cancelling delta": ("Gaussian delta", cancelling_delta),
    "a hopeful mu": ("mu for", hopeful_mu),
    "cancelling coins": ("optimal", cancelling_coins),
    "mu rounded up": ("mu for", lambda *point: gaussian.mu_for(*point) * (1 + 1e-10)),
    "epsilon rounded down": ("Gaussian epsilon", a_hair_less(gaussian.epsilon_of)),
    "delta rounded down": ("Gaussian delta", a_hair_less(gaussian.delta_of)),
    "divergence rounded down": ("divergence", a_hair_less(renyi.divergence)),
    "sampled divergence rounded down": ("sampled", a_hair_less(sampled.divergence)),
    "noise on everybody": ("sampled", lambda cost, order: order / cost.sigma**2 / 2),
    "advantage rounded down": ("advantage", a_hair_less(adversary.advantage)),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_wrong_accountants_are_rejected(mutant: str, grid: Any, trials: Trials) -> None:
    name, function = MUTANTS[mutant]
    check, _, points = grid[name]
    assert any(check(function, share(points, trials, least=FEWEST.get(name, 110))))  # the first point is enough


# The numbers that were wrong, and what rests on them ------------------------------------------------------------------


@pytest.mark.slow
def test_small_noise_on_samples_keeps_its_peak() -> None:
    cost = SampledGaussianCost(sensitivity=1.0, sigma=0.1, rate=0.01)
    exact = truth.sampled_divergence(0.01, truth.inverse(0.1), 20.5)
    assert renyi.divergence(cost, 20.5) == pytest.approx(1020.158667, rel=1e-9)
    assert above(renyi.divergence(cost, 20.5), exact) == ""
    tiny = SampledGaussianCost(sensitivity=1.0, sigma=0.02, rate=0.01)
    assert renyi.epsilon(tiny, 1e-5) == pytest.approx(1427.603, rel=1e-6)
    assert renyi.epsilon_textbook(tiny, 1e-5) == pytest.approx(1431.241, rel=1e-6)
    # Divergences of a release never fall in the order.
    orders = np.exp(np.linspace(-11, 8, 40)) + 1
    for sigma in (0.02, 0.1, 0.7, 40.0):
        found = [sampled.divergence(SampledGaussianCost(1.0, sigma, 0.01), float(order)) for order in orders]
        assert all(one <= two * (1 + 1e-9) for one, two in pairwise(found))


@pytest.mark.parametrize("sigma", [0.005, 0.02, 0.3, 1e6])
def test_a_renyi_budget_charges_no_less_than_the_truth(sigma: float) -> None:
    rule = Filter("renyi", 500.0, 1e-5, 0.0)
    amounts = rule.amounts(RepeatedCost(SampledGaussianCost(1.0, sigma, 0.01), 3))
    for part, amount, ceiling, order in zip(rule.components, amounts, rule.ceilings, ORDERS, strict=False):
        exact = 3 * truth.sampled_divergence(0.01, truth.inverse(sigma), order)
        with mp.workdps(truth.DIGITS):
            assert amount == CAP or mpf(amount) / mpf(10) ** part.digits >= exact
            assert ceiling <= (500 + mpmath.log(mpf("1e-5")) / (order - 1)) * mpf(10) ** part.digits


def test_limits_are_below_what_they_promise() -> None:
    for epsilon, delta in product((1e-6, 0.1, 1.0, 50.0), (1e-300, 1e-9, 0.1, 0.9)):
        limit = Filter("gaussian", epsilon, delta, 0.0).components[0].limit
        with mp.workdps(truth.DIGITS):
            mu = mpmath.sqrt(mpf(limit.numerator) / limit.denominator)
            assert truth.gaussian_delta(mu, epsilon) <= delta
    # A limit that is a small difference of large numbers keeps its digits.
    for extra in (0.0, 1e-15, 1e-12, 1e-6):
        epsilon = math.log(1e9) / 7 + extra
        part = Filter("renyi", epsilon, 1e-9, 0.0).components[ORDERS.index(8)]
        with mp.workdps(truth.DIGITS):
            exact = mpf(repr(epsilon)) + mpmath.log(mpf("1e-9")) / 7
            assert part.ceiling <= max(exact * mpf(10) ** part.digits, 0)


def test_what_floats_cannot_hold_is_infinite_and_no_budget_pays_for_it() -> None:
    endless = RepeatedCost(SampledGaussianCost(1e60, 1e-60, 0.5), 10**400)
    for theorem in (renyi.epsilon, renyi.epsilon_textbook, zcdp.epsilon, gaussian.epsilon, advanced.epsilon):
        assert theorem(endless, 1e-6) == math.inf
    for kind in ("renyi", "gaussian"):
        rule = Filter(kind, 1.0, 1e-6, 0.0)
        assert not rule.fits((0,) * (len(rule.components) + 1), endless)
    assert gaussian.delta_of(1e200, 1.0) == 1.0
    assert gaussian.delta_of(1e-200, 1.0) > 0  # rounded up, like everything


@pytest.mark.slow
def test_noise_and_numbers_of_releases_are_found_on_the_safe_side(trials: Trials) -> None:
    for epsilon, delta in share(list(product(EPSILONS, DELTAS)), trials, least=25):
        scale = calibrate(lambda value: GaussianCost(1.0, value), epsilon=epsilon, delta=delta, by=gaussian.epsilon)
        assert list(check_mu_for(lambda *_, scale=scale: 1 / scale, [(epsilon, delta)])) == []
        fits = most_releases(GaussianCost(1.0, 1e3 / epsilon), epsilon=epsilon, delta=delta, by=gaussian.epsilon)
        if 0 < fits < 2**60:
            with mp.workdps(truth.DIGITS):
                assert truth.gaussian_delta(mpmath.sqrt(mpf(fits)) * mpf(epsilon) / 1000, epsilon) <= delta


@pytest.mark.slow
def test_distributions_are_never_below_exact_composition(golden: Any, trials: Trials) -> None:
    """Coins on the grid are exact but for the transform, whose rounding is what the margin is for."""
    deltas = truth.DELTAS if trials(100) == 100 else (1e-15, 1e-6)
    rows = [row for row in golden("accounting/coins.json") if row[0] in (0.05, 1.0) and row[1] < 2000]
    assert list(check_distributions(pld.epsilon, [tuple(row) for row in rows if row[2] in deltas])) == []


def check_distributions(function: Function, points: Sequence[Point]) -> Iterator[str]:
    def judge(epsilon: float, times: int, delta: float, exact: str) -> str:
        found = function(RepeatedCost(PureCost(epsilon), times), delta)
        # Within what transforms may lose of delta; below that Rényi divergences take over.
        lost = times * 2.0**-48
        near = 1e-5 if lost < 1e-3 * delta else 0.2
        return above(found, mpf(exact), near=near, floor=1e-4)

    return told(points, judge)


@pytest.mark.slow
def test_stored_truths_are_those_of_the_formulas(golden: Any, trials: Trials) -> None:
    """At full counts all that are quick to compute, else a few."""
    rows = [row for row in golden("accounting/sampled.json") if row[1] > 0.05]
    with mp.workdps(truth.DIGITS):
        for rate, sigma, order, stored in share(rows, trials, least=12):
            exact = truth.sampled_divergence(rate, truth.inverse(sigma), order)
            assert abs(mpf(stored) / exact - 1) < mpf("1e-25")
        coins = {(row[0], row[1], row[2]): mpf(row[3]) for row in golden("accounting/coins.json")}
        for epsilon, times in truth.COINS:
            if times <= (10**6 if trials(100) == 100 else 30):
                for delta, exact in zip(truth.DELTAS, truth.coins_epsilons(epsilon, times, truth.DELTAS), strict=True):
                    assert abs(coins[epsilon, times, delta] - exact) <= mpf("1e-25") * exact
