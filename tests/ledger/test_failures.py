"""Failures in budgets: paid from the reserve alone, and never more than it holds, whoever asks next."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from chronodp.audit.exact import Finding, examine
from chronodp.errors import BudgetExhausted, UnsupportedCost
from chronodp.ledger import Filter, Ledger
from chronodp.ledger.filters import Amounts, Kind
from chronodp.privacy import (
    Cost,
    FailureCost,
    GaussianCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SequenceCost,
    User,
    UserPeriod,
)
from chronodp.randomness import Entropy

KINDS: dict[Kind, Filter] = {
    "pure": Filter("pure", 1.5, 0.05, 0.05),
    "gaussian": Filter("gaussian", 1.5, 0.06, 0.05),
    "renyi": Filter("renyi", 2.5, 0.06, 0.05),
}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keys" / "ledger_form.json").read_text())


def test_a_failure_adds_its_delta_to_the_reserve_and_nothing_else(subtests: pytest.Subtests) -> None:
    for kind, terms in KINDS.items():
        with subtests.test(kind=kind):
            alone = terms.amounts(RepeatedCost(FailureCost(0.01), 2))
            assert set(alone[:-1]) == {0}
            assert terms.reserved.value(alone[-1]) == 0.02
            plain: Cost = PureCost(0.25) if kind == "pure" else GaussianCost(1.0, 7.0)
            both = terms.amounts(SequenceCost((plain, FailureCost(0.02))))
            assert both == (*terms.amounts(plain)[:-1], alone[-1])
            assert terms.admits((0,) * len(both), both)
            assert not terms.fits((0,) * len(both), SequenceCost((plain, FailureCost(0.0501))))


def test_a_budget_without_a_reserve_says_how_to_open_one() -> None:
    rules: list[tuple[Kind, float, str]] = [
        ("pure", 0.0, "open with delta=4e-07"),
        ("gaussian", 1e-6, "reserve=4e-07"),
        ("renyi", 1e-6, "reserve=4e-07"),
    ]
    for kind, delta, mend in rules:
        words = f"{kind} budget keeps no delta for costs with a failure.*{mend} or more"
        with pytest.raises(UnsupportedCost, match=words):
            Filter(kind, 1.0, delta, 0.0).amounts(SequenceCost((PureCost(0.1), FailureCost(4e-7))))


@pytest.mark.parametrize("row", GOLDEN, ids=str)
def test_keys_and_their_failure_take_all_of_a_budget_opened_for_them(row: dict[str, str]) -> None:
    epsilon, delta, keys = float(row["eps"]), float(row["delta"]), int(row["m"])
    reserve = float(Fraction(row["share_of_delta_for_keys"]) * Fraction(row["delta"]))
    terms = Filter("gaussian", epsilon, delta, reserve)
    assert math.sqrt(terms.components[0].limit) == pytest.approx(float(row["mu"]), rel=1e-11)

    def at(factor: float) -> Cost:
        return SequenceCost((GaussianCost(math.sqrt(keys), float(row["sigma"]) * factor), FailureCost(reserve)))

    nothing: Amounts = (0, 0, 0)
    assert terms.fits(nothing, at(1 + 1e-11))
    assert not terms.fits(nothing, at(1 - 1e-11))
    assert terms.amounts(at(1.0))[-1] == terms.ceilings[-1]
    assert not terms.fits(terms.amounts(at(2.0)), FailureCost(1e-18))


def played(terms: Filter, *, odds: Fraction, counted: bool) -> Finding:
    """Enumerate an adversary who buys a failure where the answers so far tell little, and says so in the third answer.

    Each answer is one of three, the true one at ``odds``; where a failure was bought, the third, which both inputs give
    alike, gives everything away so often that this happens once in fifty. ``counted`` False is the mutant that leaves
    failures out of the reserve.
    """
    answer = RandomizedResponseCost(math.log(odds) * (1 + 1e-15), 3)
    third = 1 / (odds + 2)
    leak = Fraction(1, 50) / third

    @cache
    def after(spent: Amounts, buys: bool) -> Amounts | None:
        """Return what is spent then, if it is admitted: the same on many paths."""
        amounts = terms.amounts(SequenceCost((answer, FailureCost(0.02))) if buys else answer)
        amounts = amounts if counted else (*amounts[:-1], 0)
        admitted = terms.admits(spent, amounts)
        return tuple(before + more for before, more in zip(spent, amounts, strict=True)) if admitted else None

    def play(bit: int, *, entropy: Entropy) -> tuple[object, ...]:
        spent: Amounts | None = (0,) * len(terms.ceilings)
        seen: list[object] = []
        evidence = 0
        for _ in range(6):
            assert spent is not None
            buys = abs(evidence) <= 1
            if (spent := after(spent, buys)) is None:
                break
            if entropy.coins(odds.numerator, odds.numerator + 2 * odds.denominator):
                shown = bit
            else:
                shown = 1 - bit if entropy.coins(1, 2) else 2
            if shown == 2 and buys and entropy.coins(leak.numerator, leak.denominator):
                return (*seen, "all", bit)
            evidence += (1, -1, 0)[shown]
            seen.append(shown)
        return tuple(seen)

    return examine(play, [(0, 1)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_adversary_gets_more_by_failures_bought_after_answers(kind: Kind) -> None:
    terms = KINDS[kind]
    odds = Fraction(5, 4) if kind == "renyi" else Fraction(6, 5)
    assert not played(terms, odds=odds, counted=True).refutes(terms.epsilon, terms.delta)
    assert played(terms, odds=odds, counted=False).refutes(terms.epsilon, terms.delta)


def test_a_ledger_pays_for_failures_and_stops_at_the_reserve(ledger: Ledger) -> None:
    ledger.open("web", unit=User(), epsilon=1.0, delta=1e-6, reserve=4e-7)
    ledger.open("none", unit=User(), epsilon=1.0, delta=1e-6)
    keys = SequenceCost((GaussianCost(1.0, 20.0), GaussianCost(1.0, 10.0), FailureCost(3e-7)))
    assert ledger.spend("web", keys, unit=User()).amounts[-1] > 0
    with pytest.raises(BudgetExhausted, match="delta 3e-07 of 4e-07 spent; this needs 2e-07, and at most 1e-07 fits"):
        ledger.spend("web", FailureCost(2e-7), unit=User())
    ledger.spend("web", FailureCost(1e-7), unit=User())
    with pytest.raises(UnsupportedCost, match="open with reserve=3e-07 or more"):
        ledger.check_fits("none", keys, unit=User())
    with pytest.raises(UnsupportedCost, match="open with reserve=3e-07 or more"):
        ledger.spend("none", keys, unit=User())
    assert ledger.status("none").charges == 0


@pytest.mark.slow
def test_a_larger_unit_pays_for_what_its_parts_pass_together(ledger: Ledger) -> None:
    """One day in Tokyo is in two days of UTC: the failure of two is more than two failures."""
    ledger.open("days", unit=UserPeriod("1D", timezone="UTC"), epsilon=1.0, delta=1e-3, reserve=5e-4)
    keys = SequenceCost((GaussianCost(1.0, 20.0), FailureCost(1e-5)))
    paid = ledger.spend("days", keys, unit=UserPeriod("1D", timezone="Asia/Tokyo"))
    rule = Filter("gaussian", 1.0, 1e-3, 5e-4)
    assert rule.reserved.value(paid.amounts[-1]) > 2 * 1e-5
