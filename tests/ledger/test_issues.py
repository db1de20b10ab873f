"""Issues: a step of a stream and a release under a request, all or nothing, and nothing debited."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chronodp import User
from chronodp.errors import InvalidArgument, KeysMismatch, LedgerSetBack, RequestConflict, StreamConflict
from chronodp.ledger import Fulfilled, Ledger, Produce, StreamState, Written, pack, restore, verify_chain
from chronodp.privacy import Claim, PureCost, Unit, UserPeriod, canonical
from tests.ledger.examples import CERTIFICATE, COST
from tests.ledger.test_numbers import several


def begin(ledger: Ledger) -> StreamState:
    ledger.open("meters", unit=User(), epsilon=1.0)
    return ledger.open_stream("meters", "load", cost=COST, unit=User(), plan="life", state=b"0")


def issued(
    ledger: Ledger,
    before: StreamState,
    request: str = "january",
    *,
    text: str = "[1]",
    plan: str = "plan",
    cost: PureCost = COST,
    unit: Unit = User(),  # noqa: B008
    produce: Produce | None = None,
) -> tuple[StreamState, Fulfilled]:
    return ledger.issue(
        before,
        request=request,
        plan=plan,
        cost=cost,
        unit=unit,
        state=f"after {request}".encode(),
        value=request,
        produce=(lambda: (text, CERTIFICATE)) if produce is None else produce,
    )


def never() -> Any:
    raise AssertionError("nothing is drawn for what is refused")


def nothing_happened(ledger: Ledger, step: int = 0) -> None:
    assert ledger.resume_stream("load").step == step
    assert len(ledger.released_steps("load")) == len(ledger.chain("meters")) == step
    assert ledger.status("meters").unreleased == ()


def test_an_issue_is_a_step_and_a_release_and_costs_nothing_further(ledger: Ledger) -> None:
    one, january = issued(ledger, begin(ledger))
    two, february = issued(ledger, one, "february", text="[2]")
    assert (one.step, two.step, two.state, two.finished) == (1, 2, b"after february", False)
    assert (january.release, january.repeated, february.release) == ("[1]", False, "[2]")
    assert ledger.released_steps("load") == ["january", "february"]
    assert ledger.resume_stream("load") == two
    links = verify_chain(ledger.chain("meters"), ledger.public_key)
    assert [(link.request, link.refresh) for link in links] == [("january", "never"), ("february", "never")]
    status = ledger.status("meters")
    assert (status.charges, status.unreleased) == (1, ())
    stored = ledger.stored.release_of("meters", "february")
    assert stored is not None
    assert stored.text == "[2]"


def test_the_same_request_returns_what_is_stored_and_another_plan_is_refused(ledger: Ledger) -> None:
    start = begin(ledger)
    assert ledger.stored_issue("meters", "january", "plan") is None
    one, january = issued(ledger, start)
    again = ledger.stored_issue("meters", "january", "plan")
    assert again == replace(january, repeated=True)
    with pytest.raises(RequestConflict, match="made before for another plan"):
        ledger.stored_issue("meters", "january", "other")
    with pytest.raises(RequestConflict, match="made before for another plan"):
        issued(ledger, one, plan="other", produce=never)
    with pytest.raises(StreamConflict, match="was released elsewhere meanwhile: ask again"):
        issued(ledger, one, produce=never)
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        ledger.fulfil("meters", request="january", cost=COST, unit=User(), plan="plan", source="s", produce=never)
    nothing_happened(ledger, 1)


def test_a_request_that_was_debited_is_no_issue(ledger: Ledger) -> None:
    start = begin(ledger)
    ledger.fulfil(
        "meters", request="paid", cost=COST, unit=User(), plan="plan", source="s", produce=lambda: ("[]", CERTIFICATE)
    )
    for ask in (lambda: ledger.stored_issue("meters", "paid", "plan"), lambda: issued(ledger, start, "paid")):
        with pytest.raises(RequestConflict, match="made before for another plan"):
            ask()
    assert ledger.resume_stream("load").step == 0


def test_parts_go_with_an_issue(ledger: Ledger) -> None:
    described, parts = pack([several()])
    written = Written(canonical({"kind": "release", "noisy": described}), parts)
    _, made = issued(ledger, begin(ledger), produce=lambda: (written, CERTIFICATE))
    assert made.written == written
    again = ledger.stored_issue("meters", "january", "plan")
    assert again is not None
    assert again.written == written


def test_of_two_jobs_one_goes_on(ledger: Ledger) -> None:
    start = begin(ledger)
    issued(ledger, start)
    drawn = []

    def produce() -> tuple[str, Any]:
        drawn.append(1)
        return "[2]", CERTIFICATE

    with pytest.raises(StreamConflict, match="gone on past step 0 elsewhere"):
        issued(ledger, start, "february", produce=produce)
    assert drawn  # and never shown
    nothing_happened(ledger, 1)
    assert ledger.stored_issue("meters", "february", "plan") is None


def test_only_what_opening_was_charged_is_claimed(ledger: Ledger) -> None:
    start = begin(ledger)
    for cost, unit in ((PureCost(0.25), User()), (COST, UserPeriod("1D")), (COST, User("replace"))):
        with pytest.raises(InvalidArgument, match="what opening stream 'load' was charged"):
            issued(ledger, start, cost=cost, unit=unit, produce=never)
    cheaper = replace(CERTIFICATE, claim=Claim(User(), PureCost(0.0625), "nowhere"))
    with pytest.raises(InvalidArgument, match="certificate must be for the paid cost and unit"):
        issued(ledger, start, produce=lambda: ("[1]", cheaper))
    wrong: Any = "no certificate"
    with pytest.raises(InvalidArgument, match="a Certificate"):
        issued(ledger, start, produce=lambda: ("[1]", wrong))
    with pytest.raises(InvalidArgument, match="what opening stream 'other' was charged"):
        issued(ledger, replace(start, name="other"), produce=never)
    nothing_happened(ledger)


def test_a_purchase_within_a_period_is_none_for_ever(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0, renews="1mo")
    dates = (dt.date(2026, 1, 1), dt.date(2026, 2, 1))
    start = ledger.open_stream("meters", "load", cost=COST, unit=User(), plan="life", state=b"", dates=dates)
    with pytest.raises(InvalidArgument, match="what opening stream 'load' was charged"):
        issued(ledger, start, produce=never)


def test_what_cannot_be_drawn_leaves_nothing(ledger: Ledger) -> None:
    start = begin(ledger)

    def fails() -> Any:
        raise RuntimeError("no noise")

    with pytest.raises(RuntimeError):
        issued(ledger, start, produce=fails)
    text: Any = "no bytes"
    with pytest.raises(InvalidArgument, match="state must be bytes"):
        ledger.issue(start, request="r", plan="p", cost=COST, unit=User(), state=text, value="v", produce=never)
    with pytest.raises(InvalidArgument, match="request must be a name"):
        issued(ledger, start, "")
    nothing_happened(ledger)
    assert issued(ledger, start)[0].step == 1  # the same request, drawn afresh: nothing of the first draw was shown


def test_an_issue_needs_keys(tmp_path: Path, postgres_only: str) -> None:
    with Ledger(postgres_only, keys=tmp_path / "keys") as ledger:
        start = begin(ledger)
    with Ledger(postgres_only) as ledger, pytest.raises(KeysMismatch):
        issued(ledger, start, produce=never)


def test_a_closed_budget_has_been_paid_from(ledger: Ledger) -> None:
    start = begin(ledger)
    ledger.close("meters")
    assert issued(ledger, start)[0].step == 1


def test_a_stream_that_has_ended_issues_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "b.db") as ledger:
        issued(ledger, begin(ledger))
    assert restore(tmp_path / "b.db").stopped == ("load",)
    with Ledger(tmp_path / "b.db") as ledger:
        ended = ledger.resume_stream("load")
        with pytest.raises(StreamConflict, match="has ended: it is finished, or its ledger was restored since"):
            issued(ledger, ended, "february", produce=never)
        stored = ledger.stored_issue("meters", "january", "plan")
        assert stored is not None


def test_a_ledger_that_was_set_back_under_way_is_noticed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "b.db") as ledger:
        start = begin(ledger)
        issued(ledger, start)
        with ledger._store.transaction() as transaction:  # as if an older database had been put in its place
            transaction.run("UPDATE streams SET step = 0")
            for table in ("steps", "requests", "links", "chains"):
                transaction.run(f"DELETE FROM {table}")
        with pytest.raises(LedgerSetBack, match="it holds 0 steps of 'load' and 1 were made"):
            issued(ledger, start)
