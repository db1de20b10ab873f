"""What may be asked of a curator, also from afar, is what is asked at home: measures, people, places, expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp import errors
from chronodp.dataset import Query
from chronodp.errors import ChronodpError, InvalidArgument, MissingBound
from chronodp.series import QuantileRelease, Workload
from chronodp.service import read_policy
from chronodp.service.question import QueryRequest, ask
from chronodp.service.written import write_question
from tests.service.town import House, house_of, open_house, said_of_a_question, write_policy

ACTIVE: dict[str, Any] = {
    "measure": {"kind": "active", "window": "6h", "max_stays": 2},
    "every": "1h",
    "epsilon": 1.0,
    "delta": 1e-7,
}


def test_active_people_are_released_and_counted_from_when_data_begin(house: House) -> None:
    whole = house.curator.policy.datasets["meters"].calendar
    asked = ACTIVE | {"start": whole.starts()[6].isoformat()}
    planned = house.post("ana", "/datasets/meters/plan", asked)
    assert planned.status_code == 200, planned.text
    assert {row["cap"] for row in planned.json()["alternatives"]} == {"2 stays", "nobody cut"}
    job = house.ended("ana", "active", asked)
    assert job["state"] == "done", job
    with house.client("ana") as client:
        release = client.release("meters", 1)
    assert isinstance(release, cdp.Release)
    told = house.get("ana", "/datasets/meters/releases/1/table?baseline=2026-01-02&baseline=2026-01-02").json()
    change = release.change(baseline=("2026-01-02", "2026-01-02")).to_pandas()
    at = told["columns"].index("value")
    assert [row[at] for row in told["rows"]] == pytest.approx(change["value"].tolist())
    early = house.post("ana", "/datasets/meters/plan", {**asked, "start": whole.start})
    assert early.status_code == 403
    assert "where data begin" in early.text


def test_a_client_asks_for_active_people_as_at_home(house: House) -> None:
    whole = house.curator.policy.datasets["meters"].calendar
    start = whole.starts()[6].isoformat()
    with house.client("ana") as client:
        far = client.dataset("meters", start=start)
        limits: dict[str, int]
        for limits in ({}, {"max_stays": 2}, {"max_stays": 2, "max_periods": 3}):
            plan: Any = far.active("6h", **limits).plan(epsilon=1.0, delta=1e-7)
            home: Any = (
                house.curator.policy.datasets["meters"]
                .series(far.calendar)
                .active("6h", **limits)
                .plan(epsilon=1.0, delta=1e-7)
            )
            assert plan.design == home.design
            assert str(plan) == said_of_a_question(home)


TREE: dict[str, Any] = {"column": "region", "names": ["town", "region"], "keys": [["all of it"]], "children": [[2]]}
PLACES: dict[str, Any] = {
    "measure": {"kind": "count"},
    "every": "1D",
    "by": {"region": ["north", "south"]},
    "places": TREE,
    "epsilon": 2.0,
    "delta": 1e-7,
}


def test_places_are_planned_and_released(house: House) -> None:
    planned = house.post("ana", "/datasets/meters/plan", PLACES).json()
    assert "design" in planned, planned
    assert planned["design"]["table"]["levels"]["names"] == ["town", "region"]
    assert "Places" in {fact["label"] for fact in planned["facts"]}
    tried = house.post("ana", "/datasets/meters/try", PLACES).json()
    assert tried["table"]["columns"][:3] == ["time", "level", "place"]
    job = house.ended("ana", "one", PLACES)
    assert job["state"] == "done", job
    table = house.get("ana", f"/datasets/meters/releases/{job['release']}/table").json()
    sums: dict[tuple[str, str], float] = {}
    for time, level, _, value, *_ in table["rows"]:
        sums[time, level] = sums.get((time, level), 0.0) + value
    days = {time for time, _ in sums}
    assert all(sums[day, "town"] == sums[day, "region"] for day in days)


def test_places_that_the_policy_does_not_allow_are_refused(house: House) -> None:
    changes: list[tuple[dict[str, Any], int]] = [
        ({"places": {**TREE, "children": [[3]]}}, 422),
        ({"places": {**TREE, "column": "street"}}, 422),
        ({"places": {**TREE, "weights": [0.0, 1.0]}}, 422),
        ({"by": {"region": ["north", "east"]}}, 403),
        ({"by": {}}, 422),
    ]
    for changed, status in changes:
        answer = house.post("ana", "/datasets/meters/plan", PLACES | changed)
        assert answer.status_code == status, answer.text


def test_a_question_of_places_is_written_and_read_as_it_was(house: House) -> None:
    series = house.curator.policy.datasets["meters"].series()
    places = cdp.Places([("all of it", "north"), ("all of it", "south")], "town", "region")
    table = series.count().by(places, focus={"town": 3.0}).table
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-7, "tuned_for": cdp.EachPeriod(), "missing": None}
    question = QueryRequest.model_validate(write_question(table, **terms))
    assert ask(series, question).table == table
    with pytest.raises(InvalidArgument, match="known bounds"):
        series.count(at_most=cdp.Find()).by(region=["north", "south"]).with_levels(table.levels)  # type: ignore[arg-type]


QUANTILES: dict[str, Any] = {
    "measure": {
        "kind": "quantiles",
        "column": "kwh",
        "fractions": [0.25, 0.5],
        "edges": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0],
    },
    "every": "1D",
    "epsilon": 0.5,
    "delta": 1e-7,
}


def test_quantiles_are_planned_rehearsed_and_released(house: House) -> None:
    planned = house.post("ana", "/datasets/meters/plan", QUANTILES).json()
    assert planned["half_width"] is None, planned
    assert planned["alternatives"][0]["rank_error"] > 0
    assert {fact["label"] for fact in planned["facts"]} >= {"Way", "Error", "Price"}
    tried = house.post("ana", "/datasets/meters/try", QUANTILES).json()
    assert "quantile" in tried["table"]["columns"]
    job = house.ended("ana", "one", QUANTILES)
    assert job["state"] == "done", job
    base = f"/datasets/meters/releases/{job['release']}"
    whole = house.get("ana", base).json()
    assert whole["kind"] == "quantiles"
    assert "each_period" in whole["readings"]
    table = house.get("ana", f"{base}/table").json()
    assert [row[1] for row in table["rows"]] == [0.25, 0.5] * 2
    assert house.get("ana", f"{base}/table?view=rolling").status_code in (400, 422)
    refused = {**QUANTILES, "measure": {**QUANTILES["measure"], "fractions": [0.5, 1.0]}}
    assert house.post("ana", "/datasets/meters/plan", refused).status_code in (400, 422)


def test_a_client_asks_for_quantiles_as_at_home(house: House, tmp_path: Path) -> None:
    edges = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0]
    with house.client("ana") as client:
        far = client.dataset("meters", every="1D")
        asked: Any = far.quantiles("kwh", [0.25, 0.5], edges=edges)
        plan = asked.plan(epsilon=0.5, delta=1e-7)
        at_home = house.curator.policy.datasets["meters"].series(far.calendar)
        home: Any = at_home.quantiles("kwh", [0.25, 0.5], edges=edges).plan(epsilon=0.5, delta=1e-7)
        assert plan.design == home.design
        assert plan.claim == home.claim
        assert plan.rank_error == home.rank_error
        assert str(plan) == str(home)
        assert plan.fits
        assert plan.alternatives["way"].tolist() == home.alternatives["way"].tolist()
        assert plan.rehearse()["quantile"].tolist() == [0.25, 0.5] * 2
        made = plan.release(request="far")
        assert isinstance(made, QuantileRelease)
        assert plan.release(request="far").text == made.text
        stored = house.curator.ledger.stored.release("meters", 1)
        assert stored is not None
        assert (made.text, made.signed) == (stored.text, stored.signed)
        assert made.to_pandas()["value"].between(0.0, 3.0).all()
        assert str(QuantileRelease.load(made.save(tmp_path / "far.json"))) == str(made)
        by_key: Any = asked.by(region=["north", "south"]).plan(epsilon=0.5, delta=1e-7)
        assert by_key.design.table.groups == 2
        with pytest.raises(ChronodpError, match="EachPeriod"):
            asked.plan(epsilon=0.5, delta=1e-7, tuned_for=cdp.RunningTotal())


ALLOWED = """expression_columns = ["kwh", "region"]
expression_functions = ["case", "floor"]"""
BOTH_WAYS = "kwh > 1 AND kwh = 'a'"


def rewritten(folder: Path, rules: str) -> Path:
    return write_policy(folder, changes={"least_group = 15": rules})


open_minded = house_of(lambda folder: rewritten(folder, ALLOWED), scope="function")


def test_by_default_no_column_may_stand_in_expressions(house: House) -> None:
    with house.client("ana") as client:
        with pytest.raises(errors.NotAllowed, match="does not allow where with column kwh"):
            client.dataset("meters").count().where("kwh > 1").plan(epsilon=0.5)
        far = client.dataset("meters", columns={"much": "kwh > 1"})
        with pytest.raises(errors.NotAllowed, match="does not allow columns with column kwh"):
            far.sum("much", clip=(0.0, 1.0)).plan(epsilon=0.5)
        assert far.count().plan(epsilon=0.5).design.table.columns is None  # what is not asked for is not sent


def test_what_the_policy_does_not_name_is_not_typed(house: House) -> None:
    """Whatever else is wrong in a filter, the policy refuses it first: nobody has to type it."""
    asks: list[dict[str, Any]] = [{"where": BOTH_WAYS}, {"columns": {"much": BOTH_WAYS}}]
    for asked in asks:
        question = {"measure": {"kind": "count"}, "epsilon": 0.5, **asked}
        answer = house.http.post("/api/v1/datasets/meters/plan", json=question, headers=house.headers("ana"))
        assert f"does not allow {next(iter(asked))} with column kwh" in answer.json()["error"]["message"], asked


@pytest.mark.slow
def test_what_the_policy_names_may(open_minded: House) -> None:
    home = open_minded.curator.policy.datasets["meters"]
    columns = {"step": "FLOOR(kwh)", "cold": "CASE WHEN region = 'north' THEN 'yes' ELSE 'no' END"}
    with open_minded.client("ana") as client:
        about = client.describe("meters")
        assert (about["expression_columns"], about["expression_functions"]) == (["kwh", "region"], ["case", "floor"])
        far = client.dataset("meters", where="KWH > 0.1", columns=columns)
        plan = far.sum("step", clip=(0.0, 3.0)).by(cold=["yes", "no"]).where("region <> 'x'").plan(epsilon=0.5)
        series = home.series(where="KWH > 0.1", columns=columns)
        asked = series.sum("step", clip=(0.0, 3.0)).by(cold=["yes", "no"]).where("region <> 'x'").plan(epsilon=0.5)
        assert plan.design == asked.design
        assert str(plan) == said_of_a_question(asked)
        assert len(plan.rehearse()) == 96
        release = plan.release(request="r")
        assert "rows where KWH > 0.1 AND region <> 'x'" in release.link.certificate.mechanism
        with pytest.raises(errors.NotAllowed, match="with column meter"):
            far.count().where("meter = 'm7'").plan(epsilon=0.5)
        with pytest.raises(errors.NotAllowed, match="where with ABS"):
            far.count().where("ABS(kwh) > 1").plan(epsilon=0.5)
        with pytest.raises(InvalidArgument, match="an expression over the columns of one row"):
            far.count().where("kwh > (SELECT 1)").plan(epsilon=0.5)


@pytest.mark.slow
def test_sizes_that_nobody_declared_are_refused(tmp_path: Path) -> None:
    path = rewritten(tmp_path, f"least_group = 15\n{ALLOWED}")
    with open_house(path) as house, house.client("ana") as client:
        with pytest.raises(errors.NotAllowed, match="where beside least_group"):
            client.dataset("meters").count().where("kwh > 1").plan(epsilon=0.5)
        far = client.dataset("meters", columns={"step": "FLOOR(kwh)"})
        with pytest.raises(errors.NotAllowed, match="by step"):
            far.count().by(step=[0, 1]).plan(epsilon=0.5)
        assert far.sum("step", clip=(0.0, 3.0)).plan(epsilon=0.5).fits


def test_a_policy_names_functions_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"allow.expression_functions must be a list made of case, coalesce"):
        read_policy(rewritten(tmp_path, 'expression_functions = ["random"]'))


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


DATES: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-03"}


def readings() -> pandas.DataFrame:
    """Two days of 60 meters, of which some are read every hour and others once: rows, people and totals differ."""
    chance = np.random.default_rng(3)
    rows = [
        {"read_at": day + pandas.Timedelta(hours=hour), "meter": f"m{meter}", "region": "north", "kwh": value}
        for meter in range(60)
        for day in pandas.date_range("2026-01-01", periods=2)
        for hour in range(1 if meter % 3 else 24)
        for value in [round(float(chance.uniform(0.05, 0.2)) * (3 if meter % 3 else 1), 3)]
    ]
    return pandas.DataFrame(rows)


def test_a_mean_that_does_not_say_whose_is_refused_everywhere() -> None:
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=cdp.User(), max_periods=2, **DATES)
    with pytest.raises(MissingBound, match="'people', each with the mean of their rows"):
        series.mean("kwh", clip=(0.0, 5.0))
    with pytest.raises(ValueError, match="of"):
        QueryRequest.model_validate({"measure": {"kind": "mean", "column": "kwh", "clip": [0, 5]}, "epsilon": 1.0})


def test_the_unit_names_who_a_number_is_of_in_tables_and_on_pages(tmp_path: Path) -> None:
    called = cdp.User(called="customer")
    months: dict[str, Any] = {"every": "1mo", "start": "2026-01-01", "end": "2026-02-01"}
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=called, max_periods=1, **months)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("d", unit=called, epsilon=1e8, delta=1e-3)
        for name, query, per in (
            ("totals", series.mean("kwh", clip=(0.0, 9.0), of="totals"), "customer and month"),
            ("people", series.mean("kwh", clip=(0.0, 9.0), of="people"), "customer"),
            ("rows", series.mean("kwh", clip=(0.0, 9.0), of="rows", at_most=3), "row"),
            ("median", series.quantiles("kwh", [0.5], edges=[0, 1, 9]), "customer"),
        ):
            made: Any = query.plan(epsilon=1e6).release(ledger, dataset="d", request=name, progress=lambda _: None)
            assert set(made.to_pandas()["per"]) == {per}
            page = made.report(tmp_path / f"{name}.html").read_text(encoding="utf-8")
            assert f"<td>{per}</td>" in page
        counted = series.count().plan(epsilon=1e6).release(ledger, dataset="d", request="n", progress=lambda _: None)
        assert "per" not in counted.to_pandas()
