"""From a small table through a plan and a ledger to a release: paid before it is read, and stored."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import BERLIN, EDGES, Forbidden, Silent, hours, made, night, readings, three_days, values

import chronodp as cdp
from chronodp.dataset.joint.plan import PlanTogether
from chronodp.errors import (
    BudgetExhausted,
    CertificateInvalid,
    InvalidArgument,
    RequestConflict,
    UnitMismatch,
    UnknownBudget,
    UnknownDocument,
    UnsupportedCost,
)
from chronodp.ledger import Keys, SignedLink, Written, verify
from chronodp.privacy import Claim, FailureCost, GaussianCost, SequenceCost
from chronodp.randomness import seeded
from chronodp.series import Plan
from chronodp.series.discovery.plan import DiscoverPlan
from chronodp.series.finding.plan import FindPlan
from chronodp.series.quantiles.plan import QuantilePlan
from chronodp.series.releasing import ReleasePlan
from chronodp.spectrum.spectrum import SpectrumPlan


@pytest.mark.slow
def test_totals_are_those_of_the_table(ledger: cdp.Ledger) -> None:
    series = night()

    def exact(query: Any, request: str, dataset: str = "meters") -> list[float]:
        release = made(query.plan(epsilon=1.0), ledger, request, entropy=Silent(), dataset=dataset)
        return release.to_pandas()["value"].tolist()

    assert exact(series.count(), "people") == hours(h0=2, h2=1, h3=1, h24=1)
    assert exact(series.count(at_most=5), "rows") == hours(h0=3, h2=1, h3=1, h24=1)
    total = series.sum("kwh", clip=(0.0, 4.0))
    assert exact(total, "sum") == pytest.approx(hours(h0=3.5 + 4.0, h2=2.0, h3=1.5, h24=0.5), abs=1e-6)
    by_region = exact(total.by(region=["north", "south"]), "regions")
    assert by_region[0::2] == pytest.approx(hours(h0=3.5, h3=1.5), abs=1e-6)
    assert by_region[1::2] == pytest.approx(hours(h0=4.0, h2=2.0), abs=1e-6)
    nobody = dict.fromkeys((f"h{hour}" for hour in range(25)), 2.0)  # the middle of the clip
    of_rows = exact(series.mean("kwh", clip=(0.0, 4.0), of="people"), "mean of rows")
    assert of_rows == pytest.approx(hours(**nobody | {"h0": 2.875, "h2": 2.0, "h3": 1.5, "h24": 0.5}), abs=1e-6)
    means = exact(series.mean("kwh", clip=(0.0, 4.0), of="totals"), "mean")
    assert means == pytest.approx(hours(**nobody | {"h0": 3.75, "h2": 2.0, "h3": 1.5, "h24": 0.5}), abs=1e-6)
    spread = exact(series.variance("kwh", clip=(0.0, 4.0)), "variance")
    nobody = dict.fromkeys((f"h{hour}" for hour in range(25)), 2.0)  # half of the most that it can be
    lone = {"h0": 0.25**2, "h2": 0.0, "h3": 0.0, "h24": 0.0}
    assert spread == pytest.approx(hours(**nobody | lone), abs=1e-5)
    panel = night(unit=cdp.User("replace")).mean("kwh", clip=(0.0, 4.0), people=3, of="totals")
    assert exact(panel, "panel", "panel") == pytest.approx(hours(h0=2.5, h2=2 / 3, h3=0.5, h24=0.5 / 3), abs=1e-6)
    bins = exact(series.histogram("kwh", edges=EDGES, at_most=2), "bins")
    assert bins[0::3] == hours(h24=1)
    assert bins[1::3] == hours(h0=1, h3=1)
    assert bins[2::3] == hours(h0=1, h2=1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_is_the_stated_one(delta: float, ledger: cdp.Ledger) -> None:
    plan = three_days().sum("kwh", clip=(0.0, 4.0)).by(region=["north", "south"]).plan(epsilon=1.0, delta=delta)
    (noise,) = plan.design.noises
    quiet = values(made(plan, ledger, "quiet", entropy=Silent()), 2)
    loud = values(made(plan, ledger, "loud", entropy=seeded("noise")), 2)
    draw = getattr(seeded("noise"), noise.law)
    expected = draw(noise.scale / noise.step, 146).reshape(73, 2) * noise.step
    # A person's limit of periods holds all of them, so that the key of the choice does not matter.
    assert np.array_equal(loud - quiet, expected)
    assert noise.law == ("gaussian" if delta else "laplace")


def test_the_same_request_returns_the_same(ledger: cdp.Ledger) -> None:
    plan = night().count().plan(epsilon=1.0)
    first = plan.release(ledger, dataset="meters", request="october", progress=lambda _: None)
    again = night().count().plan(epsilon=1.0).release(ledger, dataset="meters", request="october", entropy=Forbidden())
    assert (again.text, again.signed) == (first.text, first.signed)
    assert ledger.status("meters").charges == 1
    other = plan.release(ledger, dataset="meters", request="october again", progress=lambda _: None)
    assert other.text != first.text
    assert ledger.status("meters").charges == 2
    assert len(ledger.chain("meters")) == 2


@pytest.mark.slow
def test_anything_else_under_a_request_is_refused(ledger: cdp.Ledger) -> None:
    query = night().count()
    made(query.plan(epsilon=1.0), ledger, "october")
    before = ledger.status("meters")
    others = {
        "data": night(readings().iloc[1:].assign(who="dee")).count().plan(epsilon=1.0),
        "one row less": night(readings().drop(index=3)).count().plan(epsilon=1.0),
        "epsilon": query.plan(epsilon=0.5),
        "delta": night().count().by(region=["north", "south"]).plan(epsilon=1.0, delta=1e-6),
        "measure": night().count(at_most=2).plan(epsilon=1.0),
        "groups": query.by(region=["north"]).plan(epsilon=1.0),
        "limit": night(max_periods=24).count().plan(epsilon=1.0),
        "dates": night(start="2026-10-24T23:00", end="2026-10-25T23:00").count().plan(epsilon=1.0),
    }
    for plan in others.values():
        with pytest.raises(RequestConflict, match="'october' was made before for another plan, source or cost"):
            made(plan, ledger, "october", entropy=Forbidden())
    assert ledger.status("meters") == before
    # Rows that no bounded total sees are no other data.
    unseen = pd.concat([readings(), readings().assign(at=pd.Timestamp("2030-01-01", tz="UTC"))])
    assert made(night(unseen).count().plan(epsilon=1.0), ledger, "october").link.request == "october"


def test_an_analysts_part_pays(ledger: cdp.Ledger) -> None:
    ledger.allot("meters", "eve", epsilon=1.0)
    made(night().count().plan(epsilon=1.0), ledger, analyst="eve")
    with pytest.raises(BudgetExhausted):
        made(night().count().plan(epsilon=1.0), ledger, "two", analyst="eve", entropy=Forbidden())
    assert ledger.status("meters", analyst="eve").charges == 1


def test_saved_loaded_and_verified(ledger: cdp.Ledger, tmp_path: Path) -> None:
    release = made(three_days().mean("kwh", clip=(0.0, 4.0), of="people").plan(epsilon=1.0, delta=1e-6), ledger)
    place = release.save(tmp_path / "release.json")
    again = cdp.Release.load(place)
    assert (again.text, again.signed, again.design) == (release.text, release.signed, release.design)
    pd.testing.assert_frame_equal(again.to_pandas(), release.to_pandas())
    link = verify(again.signed, ledger.keys.public, release=again.text)
    assert (link.dataset, link.request, link.number) == ("meters", "one", 1)
    assert link.certificate == again.certificate == release.certificate
    assert again.certificate.claim.cost == release.design.cost
    assert [entry.name for entry in tmp_path.iterdir() if "release" in entry.name] == ["release.json"]
    with pytest.raises(CertificateInvalid, match="signature does not match"):
        verify(again.signed, Keys.create().public, release=again.text)


def test_a_changed_file_is_refused(ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = night().count().plan(epsilon=1.0)
    place = made(plan, ledger).save(tmp_path / "release.json")
    other = made(plan, ledger, "two")
    document = json.loads(place.read_text(encoding="utf-8"))

    def changed(**parts: Any) -> cdp.Release:
        place.write_text(json.dumps(document | parts), encoding="utf-8")
        return cdp.Release.load(place)

    numbers = json.loads(document["release"])
    numbers["noisy"][0][0] += 1
    text = json.dumps(numbers, sort_keys=True, separators=(",", ":"))
    for release in (text, document["release"] + " ", other.text):
        with pytest.raises(CertificateInvalid, match="belongs to another release"):
            changed(release=release)
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        changed(link=other.signed.to_dict())
    # A smaller epsilon in the certificate can be read, and does not verify.
    forged = document["link"]["body"].replace('"epsilon":1.0', '"epsilon":0.1')
    assert forged != document["link"]["body"]
    loaded = changed(link={"body": forged, "signature": document["link"]["signature"]})
    with pytest.raises(CertificateInvalid, match="signature does not match"):
        verify(loaded.signed, ledger.keys.public, release=loaded.text)
    no_text = (json.dumps(document | {"release": text}) for text in (5, None, ["a"]))
    empty = ('{"release": "", "link": null}', '{"release": "", "link": {}}')
    for content in ("", "[]", "5", "no json", "{}", *empty, *no_text):
        place.write_text(content, encoding="utf-8")
        with pytest.raises(UnknownDocument, match=r"release\.json does not hold a release"):
            cdp.Release.load(place)
    with pytest.raises(InvalidArgument, match="path must be a file that can be read"):
        cdp.Release.load(tmp_path / "nowhere.json")
    with pytest.raises(InvalidArgument, match="path must be a place that can be written"):
        other.save(tmp_path / "nowhere" / "release.json")
    with pytest.raises(InvalidArgument, match="path must be"):
        other.report(tmp_path / "nowhere" / "page.html")


def test_a_release_cannot_be_given_another_ones_certificate(ledger: cdp.Ledger) -> None:
    plan = night().count().plan(epsilon=1.0)
    one, two = made(plan, ledger), made(plan, ledger, "two")
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        cdp.Release(one.text, two.signed)
    with pytest.raises(CertificateInvalid, match="not a certificate"):
        cdp.Release(one.text, SignedLink("{}", one.signed.signature))


@pytest.mark.slow
def test_a_seeded_run_says_so_everywhere(ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = night().count().plan(epsilon=1.0)
    warning = "SEEDED RUN, FOR TESTS ONLY"
    marked = made(plan, ledger)
    assert marked.certificate.seeded
    assert str(marked.certificate).startswith(warning)
    assert warning in str(marked)
    assert warning in marked.report(tmp_path / "seeded.html").read_text(encoding="utf-8")
    assert marked.running_total().certificate.seeded
    real = plan.release(ledger, dataset="meters", request="real", progress=lambda _: None)
    assert not real.certificate.seeded
    assert warning not in str(real)
    assert warning not in real.report(tmp_path / "real.html").read_text(encoding="utf-8")


def january(data: object, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"start": "2026-01-01", "end": "2026-02-01", "timezone": "UTC", "max_periods": 24}
    return night(data, **(options | changes))


def month(start: str, hours: int) -> pd.DataFrame:
    times = pd.date_range(start, periods=hours, freq="h", tz="UTC")
    return pd.DataFrame({"at": times, "who": [f"p{hour}" for hour in range(hours)], "kwh": 1.0, "region": "north"})


@pytest.mark.slow
def test_the_same_plan_for_the_next_month(ledger: cdp.Ledger) -> None:
    ledger.open("monthly", unit=cdp.User(), epsilon=1.0, renews="1mo")
    plan = january(month("2026-01-01", 744)).count().by(region=["north", "south"]).plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert (plan.design.table.horizon, later.design.table.horizon) == (744, 672)
    assert later.design.noises == plan.design.noises
    assert later.design.table.groupings == plan.design.table.groupings
    assert (later.design.epsilon, later.delta) == (plan.design.epsilon, plan.delta)
    first = made(plan, ledger, "january", dataset="monthly", entropy=Silent())
    second = made(later, ledger, "february", dataset="monthly", entropy=Silent())
    assert values(first, 2)[:, 0].tolist() == [1.0] * 744
    assert values(second, 2)[:, 0].tolist() == [1.0] * 600 + [0.0] * 72
    assert second.to_pandas()["time"].iloc[0] == pd.Timestamp("2026-02-01", tz="UTC")
    # January is spent, February was, and neither pays for the other.
    assert [ledger.status("monthly", period=period).charges for period in ("2026-01", "2026-02")] == [1, 1]
    with pytest.raises(BudgetExhausted):
        made(later, ledger, "february again", dataset="monthly", entropy=Forbidden())
    with pytest.raises(RequestConflict):
        made(later, ledger, "january", dataset="monthly", entropy=Forbidden())
    with pytest.raises(InvalidArgument, match="end must be after the start"):
        plan.on(month("2026-02-01", 600), start="2026-02-01")
    same = plan.on(month("2026-01-01", 24))
    assert same.design == plan.design


def test_everyday_of_a_month_carries_over_to_a_shorter_one() -> None:
    plan = january(month("2026-01-01", 744), every="1D", max_periods=31).count().plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert later.design.noises[0].sensitivity == 28


def test_totals_of_someone_else_with_dates(ledger: cdp.Ledger) -> None:
    totals = [120.5, 95.0, -101.25]
    days = cdp.Aggregate(
        totals, change=5.0, unit=cdp.User(), max_periods=3, every="1D", start="2026-10-24", timezone=BERLIN, name="load"
    )
    plan = days.plan(epsilon=1.0)
    release = made(plan, ledger, entropy=Silent())
    assert values(release)[:, 0] == pytest.approx(totals, abs=1e-6)
    assert release.to_pandas()["time"].astype(str).tolist() == [
        "2026-10-24 00:00:00+02:00",
        "2026-10-25 00:00:00+02:00",
        "2026-10-26 00:00:00+01:00",
    ]
    assert "load" in str(plan)
    assert values(release.running_total())[-1, 0] == pytest.approx(sum(totals), abs=1e-6)
    later = plan.on([1.0, 2.0, 3.0, 4.0], start="2026-11-01")
    assert later.design.table.calendar is not None
    assert len(later.design.table.calendar) == 4
    assert later.design.table.calendar.start.startswith("2026-11-01")
    for wrong, name in (({"every": "1D"}, "every"), ({"start": "2026-01-01"}, "every")):
        with pytest.raises(InvalidArgument) as caught:
            cdp.Aggregate(totals, change=5.0, unit=cdp.Event(), **wrong)  # type: ignore[arg-type]
        assert caught.value.name == name
    by_day = cdp.Aggregate([1.0] * 48, change=5.0, unit=cdp.UserPeriod("1D"), every="1h", start="2026-01-01")
    assert by_day.plan(epsilon=1.0).design.noises[0].sensitivity == pytest.approx(24 * 5, rel=1e-6)


def test_totals_of_someone_else_without_dates(ledger: cdp.Ledger) -> None:
    plan = cdp.Aggregate(np.arange(5), change=2, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert values(made(plan, ledger, entropy=Silent()))[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(InvalidArgument, match="end must be left out: the number of totals tells it"):
        plan.on([1.0], end="2026-01-01")
    with pytest.raises(InvalidArgument, match="plan must be about a table of records"):
        plan.diagnose()
    longer = plan.on([1.0] * 9)
    assert longer.design.table.horizon == 9
    far = cdp.Aggregate([1e300, -1e300, 0.0], change=1.0, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert np.all(np.isfinite(values(made(far, ledger, "far"))))


SECRET_NAME, SECRET_VALUE = "zaphod", 424242.125


def test_nothing_of_the_data_is_printed(ledger: cdp.Ledger) -> None:
    table = readings().assign(who=SECRET_NAME, kwh=SECRET_VALUE)
    series = night(table)
    query = series.sum("kwh", clip=(0.0, 5.0)).by(region=["north", "south"])
    plan = query.plan(epsilon=1.0, delta=1e-6)
    totals = cdp.Aggregate([SECRET_VALUE, 1.0], change=1.0, unit=cdp.User(), max_periods=1)
    made(plan, ledger)
    with pytest.raises(RequestConflict) as conflict:
        made(series.count().plan(epsilon=1.0), ledger)
    with pytest.raises(InvalidArgument) as refused:
        cdp.Aggregate([str(SECRET_VALUE), SECRET_NAME], change=1.0, unit=cdp.Event())
    for thing in (query.records, plan.origin, totals.plan(epsilon=1.0).origin, conflict.value, refused.value):
        for text in (str(thing), repr(thing)):
            assert SECRET_NAME not in text
            assert "424242" not in text
            assert "4.24242" not in text


def test_every_plan_tells_price_error_and_promise(subtests: pytest.Subtests) -> None:
    for delta, unit in itertools.product(
        [0.0, 1e-6], [cdp.Event(), cdp.Event("replace"), cdp.User("replace"), cdp.UserPeriod("1D"), cdp.Window(3)]
    ):
        with subtests.test(delta=delta, unit=unit):
            series = night(unit=unit, max_periods=4 if isinstance(unit, cdp.User) else None)
            queries = [
                series.count(),
                series.count().by(region=["north", "south"]),
                series.sum("kwh", clip=(0.0, 4.0)),
                series.mean("kwh", clip=(0.0, 4.0), of="people"),
                series.mean("kwh", clip=(0.0, 4.0), of="totals"),
                series.histogram("kwh", edges=EDGES, of="rows"),
                series.variance("kwh", clip=(0.0, 4.0)),
                series.histogram("kwh", edges=EDGES),
            ]
            if unit.relation == "replace":
                queries.append(series.mean("kwh", clip=(0.0, 4.0), people=10, of="totals"))
            for query in queries:
                plan = query.plan(epsilon=0.5, delta=delta)
                text = str(plan)
                for label in ("Releases", "Protects", "Does not protect:", "One unit", "Noise", "Error", "Price"):
                    assert f"\n{label} " in f"\n{text}"
                assert max(map(len, text.splitlines())) <= 100
                table = plan.alternatives
                assert len(table) == (2 if delta else 1)
                assert table["rmse_mean"].is_monotonic_increasing
                assert table["noise"][0] == plan.design.law
                assert plan.half_width(0.95) == pytest.approx(table["half_width"][0])
                assert plan.half_width(0.5) < plan.half_width() < plan.half_width(0.999)
                assert plan.claim.cost == plan.design.cost


def test_what_bounding_takes_away_is_for_the_owner(ledger: cdp.Ledger) -> None:
    plan = night(max_periods=1).sum("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0)
    diagnosis = plan.diagnose(bounds=True, progress=lambda _: None)
    assert str(diagnosis).startswith("FOR THE OWNER ONLY")
    assert "chosen by looking at the figures below is not private" in str(diagnosis)
    assert diagnosis.tally is not None
    assert (diagnosis.tally.people, diagnosis.tally.people_over) == (3, 2)
    assert (diagnosis.tally.cells, diagnosis.tally.cells_kept) == (5, 3)
    assert ledger.status("meters").charges == 0


def test_every_plan_is_released_by_the_one_way_that_checks_first() -> None:
    made = set(all_kinds(ReleasePlan))
    assert {Plan, FindPlan, DiscoverPlan, QuantilePlan, SpectrumPlan, PlanTogether} <= made
    for kind in made:
        assert kind.release is ReleasePlan.release, kind


def all_kinds(kind: Any) -> Iterator[type[ReleasePlan[Any, Any]]]:
    for below in kind.__subclasses__():
        yield below
        yield from all_kinds(below)


class Unread(ReleasePlan[int, None]):
    """A plan with a failure whose data nobody may read."""

    claim = Claim(cdp.User(), SequenceCost((GaussianCost(1.0, 5.0), FailureCost(1e-7))), "a page")
    identity, _purpose, _reading = "unread", "unread", "Reading"

    def read(self, *, key: str, progress: object) -> int:  # noqa: ARG002
        raise AssertionError("data were read")

    def draw(self, numbers: int, entropy: object) -> Written:
        raise NotImplementedError

    def certificate_for(self, *, seeded: bool) -> Any:
        raise NotImplementedError

    def content(self, numbers: int) -> tuple[bytes, ...]:
        raise NotImplementedError

    def _released(self, fulfilled: object) -> None:
        raise NotImplementedError


def test_a_failure_without_a_reserve_is_refused_before_data_are_read(ledger: cdp.Ledger) -> None:
    ledger.open("kept", unit=cdp.User(), epsilon=100.0, delta=1e-3, reserve=1e-7)
    ledger.open("pure", unit=cdp.User(), epsilon=100.0)
    for dataset, mend in (("meters", "open with reserve=1e-07 or more"), ("pure", "open with delta=1e-07 or more")):
        with pytest.raises(UnsupportedCost, match=mend):
            Unread().release(ledger, dataset=dataset, request="a")
    with pytest.raises(AssertionError, match="data were read"):  # so the check above is what stood in the way
        Unread().release(ledger, dataset="kept", request="a")
    assert [ledger.status(name).charges for name in ("meters", "pure", "kept")] == [0, 0, 0]


def test_what_cannot_be_paid_is_refused_before_data_are_read(
    ledger: cdp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open("small", unit=cdp.User(), epsilon=1.0)
    plan = night().count().plan(epsilon=1.0)
    first = made(plan, ledger, "first", dataset="small", entropy=Silent())
    reads: list[Plan] = []
    read = Plan.read

    def noted(self: Plan, **options: Any) -> Any:
        reads.append(self)
        return read(self, **options)

    monkeypatch.setattr(Plan, "read", noted)
    rows = night(unit=cdp.Event(), max_periods=None).count().plan(epsilon=0.1)
    for asked, dataset, error in (
        (plan, "small", BudgetExhausted), (plan, "nowhere", UnknownBudget), (rows, "small", UnitMismatch),
    ):  # fmt: skip
        with pytest.raises(error):
            made(asked, ledger, "second", dataset=dataset)
    assert reads == []
    assert (ledger.status("small").charges, ledger.status("small").unreleased) == (1, ())
    # What was paid for is found again although nothing is left, and a used id is still told apart.
    assert made(plan, ledger, "first", dataset="small", entropy=Silent()).text == first.text
    with pytest.raises(RequestConflict):
        made(night().count().plan(epsilon=0.5), ledger, "first", dataset="small")
