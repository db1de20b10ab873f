"""What still fits: put to the test on both sides, and told by what is on disk."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from chronodp import User
from chronodp.ledger import Ledger
from chronodp.ledger.filters import CAP, Amounts, Filter, _Component
from chronodp.ledger.status import _gaussian, _laplace, _least, _pure
from chronodp.privacy import GaussianCost, PureCost

RULES = {
    "pure": Filter("pure", 1.5, 0.0, 0.0),
    "large": Filter("pure", 1e6, 0.0, 0.0),
    "gaussian": Filter("gaussian", 1.5, 1e-6, 0.0),
    "tiny": Filter("gaussian", 1e-4, 1e-9, 0.0),
    "huge": Filter("gaussian", 1e6, 1e-6, 0.0),
    "renyi": Filter("renyi", 2.5, 1e-3, 0.0),
}


def used(rule: Filter, share: float, *, noisy: bool) -> Amounts:
    """Return an account of which a share is used, perhaps by Gaussian noise."""
    spent = [max(0, int(most * share)) for most in rule.ceilings[:-1]]
    if noisy and rule.kind == "gaussian":
        spent[1] = CAP
    return (*spent, 0)


def test_what_fits_was_tried_and_what_is_below_it_does_not(subtests: pytest.Subtests) -> None:
    for noisy, share, name in product([False, True], [0.0, 0.3, 0.999, 1 - 1e-9, 1 - 1e-14], RULES):
        with subtests.test(noisy=noisy, share=share, name=name):
            rule, spent = RULES[name], used(RULES[name], share, noisy=noisy)
            for cost_at in (_pure, _laplace) if rule.kind == "pure" else (_pure, _laplace, _gaussian):
                found = _least(rule, spent, cost_at)
                if found is None:
                    assert not rule.fits(spent, cost_at(1e9))
                else:
                    assert rule.fits(spent, cost_at(found))
                    assert found == 1e-9 or not rule.fits(spent, cost_at(found / (1 + 2e-6)))


def test_nothing_fits_into_what_is_full() -> None:
    for rule in RULES.values():
        full = (*(max(0, most) for most in rule.ceilings[:-1]), 0)
        assert _least(rule, full, _pure) is None, rule


@given(value=st.fractions(min_value=0, max_value=10**19), digits=st.integers(-20, 40))
def test_amounts_are_rounded_up_in_whole_numbers(value: Fraction, digits: int) -> None:
    exact = value * Fraction(10) ** digits
    found = _Component("epsilon", Fraction(1), digits).amount(value)
    assert found == CAP if exact > CAP or value >= CAP else exact <= found < exact + 1


def test_what_is_remembered_never_hides_a_charge_of_another(tmp_path: Path) -> None:
    """Statuses are remembered by the sums that were read: who asks again after others' charges is told of them."""
    address = str(tmp_path / "budget.db")
    with Ledger(address) as one, Ledger(address) as other:
        one.open("meters", unit=User(), epsilon=4.0, delta=1e-6)
        before = one.status("meters")
        assert one.status("meters") == before
        other.spend("meters", PureCost(0.1), unit=User())
        after = one.status("meters")
        assert after.charges == 1
        assert 0 < after.share < 0.025  # by mu squared, of which less is used
        assert after.largest_pure == pytest.approx(3.9, rel=2e-6)
        other.spend("meters", GaussianCost(1.0, 4.0), unit=User())
        last = one.status("meters")
        assert last.smallest_sigma is not None
        assert after.smallest_sigma is not None
        assert last.smallest_sigma > after.smallest_sigma
