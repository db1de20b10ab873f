from __future__ import annotations

import datetime as dt
import math
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from chronodp import Event, User, UserPeriod, Window
from chronodp.accounting import gaussian
from chronodp.display import is_visible, shown
from chronodp.errors import (
    BudgetConflict,
    BudgetExhausted,
    InvalidArgument,
    LedgerUnavailable,
    UnitMismatch,
    UnknownBudget,
    UnsupportedCost,
)
from chronodp.ledger import Budget, Ledger, place_after
from chronodp.ledger.names import check_name
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SequenceCost,
)
from tests.hostile import HOSTILE, unseen
from tests.ledger.examples import COST, fulfil


def test_pure_spending_is_exact_to_the_last_tenth(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    for number in range(1, 11):
        assert ledger.spend("meters", PureCost(0.1), unit=User()).number == number
    with pytest.raises(BudgetExhausted, match=r"epsilon 1 of 1 spent; this needs 1e-18, and at most 0 fits"):
        ledger.spend("meters", PureCost(1e-18), unit=User())
    status = ledger.status("meters")
    assert status.share == 1.0
    assert status.largest_pure is None
    assert "Nothing fits any more" in str(status)


def test_a_day_of_gaussian_releases_costs_what_gdp_says(ledger: Ledger) -> None:
    release = GaussianCost(sensitivity=1.0, sigma=50.0)
    exact = gaussian.epsilon(RepeatedCost(release, 1440), 1e-5)
    assert exact == pytest.approx(3.190, abs=5e-4)
    ledger.open("enough", unit=User(), epsilon=exact * (1 + 1e-7), delta=1e-5)
    ledger.open("short", unit=User(), epsilon=exact * (1 - 1e-6), delta=1e-5)
    ledger.spend("enough", RepeatedCost(release, 1439), unit=User())
    ledger.spend("enough", release, unit=User())
    with pytest.raises(BudgetExhausted):
        ledger.spend("enough", GaussianCost(1.0, 500.0), unit=User())
    ledger.spend("short", RepeatedCost(release, 1439), unit=User())
    with pytest.raises(BudgetExhausted, match="spent at delta"):
        ledger.spend("short", release, unit=User())
    ledger.open("basic", unit=User(), epsilon=100.0)
    with pytest.raises(BudgetExhausted):
        ledger.spend("basic", RepeatedCost(PureCost(0.0930), 1440), unit=User())


@pytest.mark.parametrize("rule", ["gaussian", "renyi"])
def test_mixed_costs_share_a_budget(ledger: Ledger, rule: str) -> None:
    ledger.open("mixed", unit=User(), epsilon=4.0, delta=1e-6, rule=rule, reserve=5e-7)  # type: ignore[arg-type]
    for cost in (
        GaussianCost(1.0, 20.0),
        LaplaceCost(1.0, 20.0),
        PureCost(0.05),
        RandomizedResponseCost(0.1, 5),
        ApproximateCost(0.05, 1e-7),
        SequenceCost((PureCost(0.01), GaussianCost(1.0, 90.0))),
    ):
        ledger.spend("mixed", cost, unit=User())
    status = ledger.status("mixed")
    assert status.charges == 6
    assert 0 < status.share < 1
    assert status.sums[-1].name == "reserved delta"
    assert status.sums[-1].spent == pytest.approx(1e-7)
    for number in range(4):
        ledger.spend("mixed", ApproximateCost(1e-6, 1e-7), unit=User(), purpose=f"{number}")
    with pytest.raises(BudgetExhausted, match="delta 5e-07 of 5e-07 spent; this needs 1e-07"):
        ledger.spend("mixed", ApproximateCost(1e-6, 1e-7), unit=User())


def test_terms_never_change_and_the_same_again_is_nothing(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=4.0, delta=1e-6)
    ledger.spend("meters", GaussianCost(1.0, 9.0), unit=User())
    ledger.open("meters", unit=User(), epsilon=4.0, delta=1e-6)
    assert ledger.status("meters").charges == 1
    with pytest.raises(BudgetConflict, match="other terms"):
        ledger.open("meters", unit=User(), epsilon=5.0, delta=1e-6)
    with pytest.raises(BudgetConflict, match="other terms"):
        ledger.open("meters", unit=Event(), epsilon=4.0, delta=1e-6)
    with pytest.raises(UnknownBudget, match="no budget is open for 'metres'; known: meters"):
        ledger.spend("metres", PureCost(0.1), unit=User())
    ledger.close("meters")
    for call in (
        lambda: ledger.spend("meters", GaussianCost(1.0, 9.0), unit=User()),
        lambda: ledger.status("meters"),
        lambda: ledger.close("meters"),
        lambda: ledger.open("meters", unit=User(), epsilon=4.0, delta=1e-6),
    ):
        with pytest.raises(BudgetConflict, match="closed"):
            call()
    assert len(ledger.history("meters")) == 1


def test_costs_for_other_units_pay_their_price_or_are_refused(ledger: Ledger) -> None:
    ledger.open("replace", unit=User("replace"), epsilon=1.0)
    ledger.spend("replace", PureCost(0.2), unit=User())  # two steps: 0.4
    assert ledger.status("replace").sums[0].spent == pytest.approx(0.4)
    ledger.open("days", unit=UserPeriod("1D"), epsilon=1.0)
    ledger.spend("days", PureCost(0.2), unit=User("replace"))
    assert ledger.status("days").sums[0].spent == pytest.approx(0.2)
    for name, unit in (("replace", Event()), ("days", Window(24)), ("replace", UserPeriod("1D"))):
        with pytest.raises(UnitMismatch, match="says nothing about this budget's unit"):
            ledger.spend(name, PureCost(0.1), unit=unit)


def test_assumptions_must_be_accepted_by_name(ledger: Ledger) -> None:
    cost = AssumedCost(PureCost(0.1), Assumption("Markov", "order one"))
    ledger.open("plain", unit=User(), epsilon=1.0)
    ledger.open("bold", unit=User(), epsilon=1.0, accepts=("Markov",))
    ledger.spend("bold", cost, unit=User())
    with pytest.raises(UnitMismatch, match="assumes Markov, which this budget does not accept"):
        ledger.spend("plain", cost, unit=User())
    assert ledger.status("plain").charges == 0


def test_a_budget_that_renews_charges_every_period_the_data_touches(ledger: Ledger) -> None:
    ledger.open("monthly", unit=User(), epsilon=1.0, delta=1e-6, renews="1mo")
    january = (dt.date(2026, 1, 1), dt.date(2026, 2, 1))
    across = (dt.date(2026, 1, 31), dt.date(2026, 2, 2))
    half = GaussianCost(1.0, gaussian.sigma(1.0, 1e-6) * math.sqrt(2) * 1.0001)
    ledger.spend("monthly", half, unit=User(), dates=january)
    ledger.spend("monthly", half, unit=User(), dates=across)
    with pytest.raises(BudgetExhausted, match="in 2026-01"):
        ledger.spend("monthly", half, unit=User(), dates=across)
    assert ledger.status("monthly").period == "2026-02"  # the newest
    assert ledger.status("monthly", period="2026-02").charges == 1  # what was refused touched nothing
    ledger.spend("monthly", half, unit=User(), dates=(dt.date(2026, 2, 1), dt.date(2026, 3, 1)))
    text = str(ledger.status("monthly", period="2026-02"))
    assert "starts anew every 1mo" in text
    assert "over a year of 12 periods" in text
    for dates in (None, (dt.date(2026, 2, 1), dt.date(2026, 2, 1)), ("2026-01-01", "2026-02-01")):
        with pytest.raises(InvalidArgument, match="dates"):
            ledger.spend("monthly", half, unit=User(), dates=dates)  # type: ignore[arg-type]


def test_labels_of_periods() -> None:
    days = (dt.date(2025, 12, 28), dt.date(2026, 1, 6))
    expected = {
        "1Y": ["2025", "2026"],
        "1mo": ["2025-12", "2026-01"],
        "1W": ["2025-W52", "2026-W01", "2026-W02"],
        "1D": [f"2025-12-{day}" for day in (28, 29, 30, 31)] + [f"2026-01-0{day}" for day in range(1, 6)],
    }
    for renews, labels in expected.items():
        assert list(Budget(User(), 1.0, renews=renews).periods(days)) == labels  # type: ignore[arg-type]


def test_analysts_share_the_whole_unless_collusion_is_excluded(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    ledger.allot("meters", "ana", epsilon=0.8)
    ledger.allot("meters", "ben", epsilon=0.8)
    ledger.spend("meters", PureCost(0.7), unit=User(), analyst="ana")
    with pytest.raises(BudgetExhausted, match="for 'meters' cannot pay"):
        ledger.spend("meters", PureCost(0.4), unit=User(), analyst="ben")
    with pytest.raises(BudgetExhausted, match="analyst 'ana'"):
        ledger.spend("meters", PureCost(0.2), unit=User(), analyst="ana")
    assert ledger.status("meters").sums[0].spent == pytest.approx(0.7)
    ledger.open("apart", unit=User(), epsilon=1.0)
    ledger.allot("apart", "ana", epsilon=1.0, collusion="excluded")
    ledger.allot("apart", "ben", epsilon=1.0, collusion="excluded")
    for analyst in ("ana", "ben"):
        ledger.spend("apart", PureCost(0.9), unit=User(), analyst=analyst)
    assert ledger.status("apart").charges == 0
    assert "do not pool what they learn" in ledger.status("apart", analyst="ana").guarantee
    with pytest.raises(UnknownBudget, match="analyst 'cid'; known: apart, apart for ana"):
        ledger.spend("apart", PureCost(0.1), unit=User(), analyst="cid")


def test_history_and_clocks_that_go_backwards(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    ledger.spend("meters", PureCost(0.1), unit=User(), purpose="first")
    genuine = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: genuine() - 10**18)
    ledger.spend("meters", PureCost(0.2), unit=User(), purpose="second")
    monkeypatch.undo()
    second, first = ledger.history("meters")
    assert (first.purpose, second.purpose) == ("first", "second")
    assert second.made >= first.made
    assert second.number == 2
    assert second.cost == PureCost(0.2)
    assert ledger.history("meters", limit=1) == [second]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_history_is_read_by_pages_though_charges_fall_on_one_moment(
    ledger: Ledger, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open("monthly", unit=User(), epsilon=1.0, renews="1mo")
    ledger.allot("monthly", "ana", epsilon=0.5)
    monkeypatch.setattr(time, "time_ns", lambda: 1_790_000_000 * 10**9)  # every charge at once
    year = (dt.date(2026, 1, 1), dt.date(2026, 8, 1))
    for number in range(3):
        ledger.spend("monthly", PureCost(0.1), unit=User(), analyst="ana", dates=year, purpose=f"ana/{number}")
    for whole in (False, True):
        entries, before = [], None
        while page := ledger.history("monthly", limit=limit, before=before, whole=whole):
            entries += page
            before = place_after(page, before)
        assert entries == ledger.history("monthly", whole=whole)
        assert len({(one.analyst, one.period, one.number) for one in entries}) == len(entries) == 3 * 7 * (2 - whole)
    assert not ledger.history("monthly", by="ben/")
    assert len(ledger.history("monthly", by="ana/")) == 21


def test_refuses_bad_terms() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"rule": "magic"}, "rule must be 'pure', 'gaussian' or 'renyi'"),
        ({"rule": "gaussian"}, "delta must be above the reserve"),
        ({"delta": 1e-6, "reserve": 1e-6}, "delta must be above the reserve"),
        ({"delta": 1e-6, "rule": "pure", "reserve": 1e-7}, "reserve must be all of delta"),
        ({"epsilon": 0.01, "delta": 1e-6, "rule": "renyi"}, "epsilon must be larger: by the renyi rule nothing fits"),
        ({"renews": "1h"}, "renews"),
        ({"accepts": "Markov"}, "accepts"),
        ({"unit": "user"}, "unit"),
    ]
    for terms, message in refused:
        with pytest.raises(InvalidArgument, match=message):
            Budget(**{"unit": User(), "epsilon": 1.0, **terms})


def test_refuses_bad_charges(ledger: Ledger) -> None:
    ledger.open("pure", unit=User(), epsilon=1.0)
    ledger.open("gaussian", unit=User(), epsilon=1.0, delta=1e-6)
    with pytest.raises(UnsupportedCost, match="a pure budget cannot pay for Gaussian noise"):
        ledger.spend("pure", GaussianCost(1.0, 5.0), unit=User())
    with pytest.raises(UnsupportedCost, match="open with reserve="):
        ledger.spend("gaussian", ApproximateCost(0.1, 1e-9), unit=User())
    with pytest.raises(InvalidArgument, match="cost"):
        ledger.spend("pure", 0.1, unit=User())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="unit"):
        ledger.spend("pure", PureCost(0.1), unit="user")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="purpose must be a text"):
        ledger.spend("pure", PureCost(0.1), unit=User(), purpose=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="analyst"):
        ledger.spend("pure", PureCost(0.1), unit=User(), analyst="x" * 300)
    with pytest.raises(InvalidArgument, match="period must be left out: this budget does not renew"):
        ledger.status("pure", period="2026-01")
    for name in ("", " ", "a" * 201, None, "a\x00b"):
        with pytest.raises(InvalidArgument, match="dataset"):
            ledger.open(name, unit=User(), epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(BudgetExhausted):
        ledger.spend("pure", PureCost(1e60), unit=User())
    with pytest.raises(BudgetExhausted):
        ledger.spend("gaussian", GaussianCost(1e60, 1e-60), unit=User())
    assert ledger.status("pure").charges == ledger.status("gaussian").charges == 0


def test_addresses_that_lead_nowhere(tmp_path: Path) -> None:
    for address in ("mysql://host/db", "", None, ":memory:"):
        with pytest.raises(InvalidArgument, match="address"):
            Ledger(address)  # type: ignore[arg-type]
    with pytest.raises(LedgerUnavailable, match=r"folder of budget\.db does not exist"):
        Ledger(tmp_path / "nowhere" / "budget.db")
    with pytest.raises(LedgerUnavailable, match="cannot be opened"):
        Ledger(tmp_path)
    (tmp_path / "notes.txt").write_text("these are notes, not a ledger " * 50)
    with pytest.raises(LedgerUnavailable, match="is not a ledger"):
        Ledger(tmp_path / "notes.txt")
    with pytest.raises(LedgerUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:1: connection refused") as caught:
        Ledger("postgresql://someone:secret@127.0.0.1:1/none", timeout=1.0)
    assert "secret" not in str(caught.value)


def test_letters_digits_and_a_few_signs_make_a_name() -> None:
    for name in ("load-2026-01", "ana/load", "owner:olga/x", "Zähler", "名前", "हिन्दी", "a" * 200, "_x, y"):
        check_name("request", unicodedata.normalize("NFC", name))


def test_whatever_could_mislead_is_no_name() -> None:
    names = [
        *("a\x1b[2J", "a\nb", "a\rb", "a\u202eb", "a\u200bb", "a\u2028b", "a\x9bm", "a\x7fb", "a\u00a0b", "\ufeffa"),
        *("a\u3164", "a\ufe0f", "a\U000e0041", "Za\u0308hler", "\u0301a"),  # unseen letters; not composed
        *("", " a", "a ", "a  b", "a//b", "/a", "a/", "../a", "a/../b", "-rf", "=1+1", "@sum", "+1", "a" * 201),
        *("<b>", "[red]", "a'b", 'a"b', "a;b", "a\\b", "a%00", "a|b", "a`b", "a$b", "😀"),
    ]
    for name in names:
        with pytest.raises(InvalidArgument) as refused:
            check_name("request", name)
        assert refused.value.name == "request", repr(name)
        assert unseen(str(refused.value)) == [], repr(name)


@given(st.text(max_size=30))
@pytest.mark.slow
def test_a_name_is_shown_as_it_is(text: str) -> None:
    assert is_visible(shown(text))
    with suppress(InvalidArgument):
        check_name("request", text)
        assert shown(text) == text
        assert unicodedata.normalize("NFC", text) == text


def test_nothing_is_stored_or_found_under_a_hostile_name(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        stores: dict[str, Callable[[], object]] = {
            "dataset": lambda: ledger.open(HOSTILE, unit=User(), epsilon=1.0),
            "analyst": lambda: ledger.allot("meters", HOSTILE, epsilon=0.1),
            "request": lambda: fulfil(ledger, HOSTILE),
            "name": lambda: ledger.open_stream("meters", HOSTILE, cost=COST, unit=User(), plan="p", state=b""),
            "dataset of a status": lambda: ledger.status(HOSTILE),
            "name of a stream": lambda: ledger.resume_stream(HOSTILE),
        }
        for argument, store in stores.items():
            with pytest.raises(InvalidArgument) as refused:
                store()
            assert refused.value.name == argument.split()[0]
        with pytest.raises(InvalidArgument, match="request"):
            ledger.check_fits("meters", COST, unit=User(), request=HOSTILE)
        assert ledger.status("meters").charges == 0
        assert ledger.stored.streams() == []
        assert [name for name, _, _ in ledger.budgets()] == ["meters"]
