"""The front door from afar is the front door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp import errors
from chronodp.dataset import Query
from chronodp.series import Workload
from chronodp.service.question import QueryRequest, ask
from chronodp.service.written import write_question
from tests.service.town import House, open_house, said_of_a_question, write_policy


def queries(series: Any) -> list[Query[Any]]:
    load = series.sum("kwh", clip=(0.0, 3.0))
    return [
        series.count(),
        series.count(at_most=3).by(region=["north", "south"], max_groups=2),
        load,
        load.by(region=["north"]),
        load.peak(every="1D"),
        load.by(region=["north", "south"]).total(every="1D"),
        series.count().trough(every="1D"),
        series.mean("kwh", clip=(0.0, 3.0), of="people"),
        series.mean("kwh", clip=(0.0, 3.0), at_most=4, of="rows"),
        series.mean("kwh", clip=(0.0, 3.0), of="totals"),
        series.histogram("kwh", edges=[0.0, 1.0, 2.0, 5.0], of="rows", at_most=2),
        series.variance("kwh", clip=(0.0, 3.0)),
        series.histogram("kwh", edges=[0.0, 1.0, 2.0, 5.0]),
    ]


WORKLOADS: list[Workload] = [
    cdp.EachPeriod(),
    cdp.RunningTotal(),
    cdp.Rolling(7),
    cdp.Ewm(0.5),
    cdp.Filter((0.5, 0.5)),
    cdp.Hierarchy((24,)),
]


def test_every_query_survives_being_written_down(tmp_path: Path) -> None:
    from chronodp.service import read_policy

    series = read_policy(write_policy(tmp_path)).datasets["meters"].series()
    for query in queries(series):
        for workload in WORKLOADS:
            written = write_question(query.table, epsilon=0.5, delta=1e-7, tuned_for=workload, missing=None)
            question = QueryRequest.model_validate(written)
            assert ask(series, question).table == query.table
            assert question.workload == workload


def test_every_query_plans_as_it_would_at_home_and_releases(house: House) -> None:
    series = house.curator.policy.datasets["meters"].series()
    with house.client("ana") as client:
        far = client.dataset("meters")
        for number, (query, there) in enumerate(zip(queries(series), queries(far), strict=True)):
            plan = there.plan(epsilon=0.2, delta=1e-7)
            home = query.plan(epsilon=0.2, delta=1e-7)
            assert plan.design == home.design
            assert plan.half_width() == home.half_width()
            assert str(plan) == said_of_a_question(home)
            assert plan.alternatives["shape"].tolist() == home.alternatives["shape"].tolist()
            assert plan.claim == home.claim
            if number in (0, 4, 7):
                release = plan.release(request=f"r{number}")
                assert release.design == home.design
                assert release.link.request == f"ana/r{number}"
        assert client.releases("meters")["request"].tolist() == ["ana/r7", "ana/r4", "ana/r0"]
        assert client.history("meters")["who"].tolist() == ["ana"] * 3
        assert client.budget("meters")["mine"]["charges"] == 3
        assert client.datasets()["name"].tolist() == ["meters"]
        short = client.dataset("meters", every="1D", end="2026-01-02", max_periods=1)
        assert len(short.calendar) == 1
        tuned = far.count().plan(epsilon=0.2, delta=1e-7, tuned_for=cdp.RunningTotal())
        assert len(tuned.rehearse()) == 48


def test_refusals_arrive_as_the_errors_they_are(house: House) -> None:
    with house.client("ana") as client:
        meters = client.dataset("meters")
        with pytest.raises(errors.NotAllowed, match="clip"):
            meters.sum("kwh", clip=(0.0, 9.0)).plan(epsilon=1.0)
        with pytest.raises(errors.NotFound):
            client.dataset("other")
        dear = meters.count().plan(epsilon=6.0, delta=1e-7)
        assert not dear.fits
        with pytest.raises(errors.BudgetExhausted) as refused:
            dear.release(request="dear")
        assert refused.value.asked is not None
        assert refused.value.left is not None
        assert refused.value.asked > refused.value.left
        first = meters.count().plan(epsilon=0.5, delta=1e-7)
        first.release(request="same")
        with pytest.raises(errors.RequestConflict):
            meters.count().plan(epsilon=0.6, delta=1e-7).release(request="same")
        with pytest.raises(errors.InvalidArgument):
            cdp.plan_together([meters.count()], epsilon=1.0)  # type: ignore[list-item]
    with house.client("eve") as auditor, pytest.raises(errors.NotAllowed, match="auditor"):
        auditor.dataset("meters").count().plan(epsilon=1.0)
    with cdp.Client(str(house.http.base_url), token="cdp_x_y") as stranger, pytest.raises(errors.NotSignedIn):
        stranger.datasets()
    with cdp.Client("http://127.0.0.1:9", token="t") as nowhere, pytest.raises(errors.ServiceError, match="reached"):
        nowhere.datasets()
    with pytest.raises(errors.InvalidArgument, match="https://"):
        cdp.Client("curator.example", token="t")


def test_a_release_that_was_tampered_with_is_noticed(house: House) -> None:
    with house.client("ana") as client:
        client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7).release(request="r")
        with house.curator.store.transaction() as transaction:
            transaction.run("UPDATE requests SET release = replace(release, '1', '2')")
        with pytest.raises(errors.CertificateInvalid):
            client.release("meters", 1)


@pytest.mark.slow
def test_a_dataset_whose_cells_are_declared_can_be_asked_from_afar(tmp_path: Path) -> None:
    declared = '[datasets.meters.reading]\ntime_format = "%Y-%m-%d %H:%M:%S"\n\n[datasets.other]'
    policy = write_policy(tmp_path, changes={"[datasets.other]": declared})
    with open_house(policy) as house, house.client("ana") as client:
        plan = client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7)
        assert plan.design.table.reading == cdp.Reading(time_format="%Y-%m-%d %H:%M:%S")
        assert len(plan.rehearse()) == 48
        assert plan.release(request="r").design.table.reading == plan.design.table.reading
        assert client.describe("meters")["reading"]["time_format"] == "%Y-%m-%d %H:%M:%S"
