"""Keys that a curator's release finds: asked, allowed, paced, resumed, refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import chronodp as cdp
from chronodp import errors
from chronodp.privacy import Calendar
from chronodp.randomness import secure
from chronodp.service.curator import Curator
from chronodp.service.pacing import Pace, PacedKeys
from chronodp.service.policy import Dataset
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest, ask
from chronodp.service.resuming import resumed
from chronodp.service.written import write_question
from tests.cases import raising
from tests.conftest import SCALE
from tests.service.runs import ANA, check_a_death, runner_of, started, submitted
from tests.service.town import House, house_of, open_house

ODD = ("a\nb", 'q"uo,te', "<b>bold</b>", "nul\x00", "nul", "📈")
FOUND: dict[str, Any] = {"measure": {"kind": "count"}, "by": {"page": {"max_keys": 3}}, "epsilon": 2.0, "delta": 1e-6}
POLICY = """
[service]
floor = 0.05
quantum = 0.05
rate = 1000000
lease = 600

[datasets.web]
source = "rows.parquet"
time = "at"
user = "who"
every = "1D"
start = "2026-01-01"
end = "2026-01-05"
unit = "{unit}"
{periods}
epsilon = 20.0
delta = 1e-5
reserve = 4e-6

[datasets.web.groups]
region = ["north", "south"]

[datasets.web.allow]
cells = 400
grids = ["1D", "4D"]
expression_columns = ["page", "region"]
expression_functions = ["concat"]
{discover}

[datasets.web.analysts.ana]
epsilon = 10.0

[datasets.web.analysts.ben]
epsilon = 10.0
reserve = 0.0

[datasets.web.analysts.zoe]
epsilon = 10.0
delta = 1e-6
"""
DISCOVER = 'discover = { columns = ["page"], longest = 32, max_keys = 5 }'


def write_views(path: Path, *, people: int = 60) -> None:
    """Write views of pages: odd ones that many people hold, and one of a single person."""
    rows = [
        (pandas.Timestamp("2026-01-01") + pandas.Timedelta(days=(who + at) % 4), f"p{at}-{who}", page, region)
        for at, page in enumerate(ODD)
        for who in range(people)
        for region in (("north", "south")[who % 2],)
    ]
    rows.append((pandas.Timestamp("2026-01-02"), "loner", "a page of one person alone", "north"))
    pandas.DataFrame(rows, columns=["at", "who", "page", "region"]).to_parquet(path)


def policy_for(folder: Path, *, discover: str = DISCOVER, unit: str = "user", people: int = 60) -> Path:
    write_views(folder / "rows.parquet", people=people)
    path = folder / "policy.toml"
    limited = "max_periods = 1" if unit == "user" else ""
    path.write_text(POLICY.format(discover=discover, unit=unit, periods=limited), encoding="utf-8")
    return path


common_house = house_of(policy_for, scope="module")
house = house_of(policy_for, scope="function")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_policy(policy_for(tmp_path)).datasets["web"]


def submit(house: House, who: str, request: str, question: object) -> dict[str, Any]:
    job = house.post(who, "/datasets/web/jobs", {"request": request, "question": question, "fresh": False})
    assert job.status_code == 202, job.text
    return house.finish(who, job.json()["id"])


def test_a_question_finds_keys_and_shows_them_with_their_bands(house: House) -> None:
    about = house.get("ana", "/datasets/web").json()
    assert about["discover"] == {"columns": ["page"], "longest": 32, "max_keys": 5}
    assert about["reserve"] == 4e-6
    planned = house.post("ana", "/datasets/web/plan", FOUND).json()
    assert planned["half_width"] > 0
    assert planned["bands"]["each_period"]
    assert planned["fits"]
    keys = next(fact["text"] for fact in planned["facts"] if fact["label"] == "Keys")
    assert "people hold it and nothing else" in keys
    assert "with probability at most" in keys
    assert planned["design"]["discover"]["longest"] == 32  # where nothing is said: what the policy allows
    assert planned["design"]["discover"]["most"] == 100
    tried = house.post("ana", "/datasets/web/try", FOUND).json()
    assert tried["table"]["columns"] == ["time", "page", "value", "lower", "upper"]
    assert {row[1] for row in tried["table"]["rows"]} <= {f"page {number}" for number in range(1, 31)}
    job = submit(house, "ana", "one", FOUND)
    assert job["state"] == "done", job
    base = f"/datasets/web/releases/{job['release']}"
    whole = house.get("ana", base).json()
    assert whole["keys"] == sorted(ODD, key=str.encode)
    assert "6 found privately" in next(fact["text"] for fact in whole["facts"] if fact["label"] == "Keys")
    table = house.get("ana", f"{base}/table").json()
    assert [row[1] for row in table["rows"][:6]] == whole["keys"]
    csv = house.get("ana", f"{base}/table?format=csv").text
    assert '"a\nb"' in csv
    assert house.get("ana", f"{base}/table?format=parquet").status_code == 200
    assert house.get("ana", f"{base}/table?view=running_total").status_code == 200
    alone = house.post("ana", "/verify", {"release": whole["release"], "link": whole["link"]}).json()
    assert alone["valid"]
    assert "one person alone" not in json.dumps([whole, table, csv])
    # What was found is public: it splits a later question, which pays for no keys.
    later = FOUND | {"by": {"page": [key for key in whole["keys"] if "\x00" not in key]}, "epsilon": 0.5}
    assert submit(house, "ana", "two", later)["state"] == "done"


@pytest.mark.slow
def test_no_key_with_enough_people_is_an_empty_table(tmp_path: Path) -> None:
    with open_house(policy_for(tmp_path, people=1)) as house:
        job = submit(house, "ana", "one", FOUND)
        assert job["state"] == "done", job
        base = f"/datasets/web/releases/{job['release']}"
        whole = house.get("ana", base).json()
        assert whole["keys"] == []
        assert "none had enough people" in next(fact["text"] for fact in whole["facts"] if fact["label"] == "Keys")
        table = house.get("ana", f"{base}/table").json()
        assert table["rows"] == []
        assert table["note"] == "No key of page had enough people: the table is empty"
        for view in ("running_total", "rolling&periods=2", "resample&every=2D"):
            assert house.get("ana", f"{base}/table?view={view}").json()["rows"] == []
        assert house.get("ana", f"{base}/table?format=csv").text.splitlines() == ["time,page,value,lower,upper,covers"]


def test_a_client_finds_as_at_home(house: House) -> None:
    with house.client("ana") as client:
        far = client.dataset("web")
        plan: Any = far.count().by(region=["north", "south"], page=cdp.Discover(max_keys=3)).plan(epsilon=2, delta=1e-6)
        home: Any = house.curator.policy.datasets["web"].series().count()
        discover = cdp.Discover(max_keys=3, longest=32, most=50)
        home = home.by(region=["north", "south"], page=discover).plan(epsilon=2, delta=1e-6)
        assert plan.design == home.design
        assert str(plan) == str(home)
        assert (plan.claim, plan.half_width()) == (home.claim, home.half_width())
        assert list(plan.rehearse().columns) == ["time", "region", "page", "value", "lower", "upper"]
        release = plan.release(request="one")
        assert set(release.keys) <= set(ODD)
        again: Any = client.release("web", 1)
        assert again.keys == release.keys
        joined = client.dataset("web", columns={"place": "concat(page, ' in ', page)"}).count()
        derived: Any = joined.by(place=cdp.Discover(max_keys=1, longest=32)).plan(epsilon=2.0, delta=1e-6)
        assert derived.rehearse().columns[1] == "place"


ONE_PERIOD: dict[str, Any] = FOUND | {"by": {"page": {"max_keys": 3, "share": 0}}, "every": "4D"}


def test_what_is_found_survives_being_written_down(dataset: Dataset) -> None:
    series, regions = dataset.series(), ["north", "south"]
    for query in (
        series.count().by(page=cdp.Discover(max_keys=3)),
        series.count().by(page=cdp.Discover(max_keys=3, delta=1e-7), region=regions, max_groups=2),
        series.count().by(region=regions, page=cdp.Discover(5, 1e-8, 0.1, 7, 20)),
        series.count().by(page=cdp.Discover(max_keys=3, share=0)),
    ):
        terms: Any = {"epsilon": 0.5, "delta": 1e-6, "tuned_for": cdp.EachPeriod(), "missing": None}
        question = QueryRequest.model_validate(write_question(query.table, discover=query.discover, **terms))
        assert QueryRequest.model_validate_json(question.model_dump_json()) == question
        again = ask(dataset.series(), question)
        assert (again.table, again.discover) == (query.table, query.discover)


def test_bad_questions_are_refused_before_anything_is_spent(common_house: House) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"by": {"page": {"max_keys": 3}, "region": {"max_keys": 3}}}, 422, "twice"),
        ({"by": {"page": {}}}, 422, "max_keys is missing"),
        ({"by": {"page": {"max_keys": 0}}}, 422, "max_keys"),
        ({"by": {"page": {"max_keys": 6}}}, 403, "at most 5"),
        ({"by": {"page": {"max_keys": 3, "longest": 33}}}, 403, "at most 32 bytes"),
        ({"by": {"page": {"max_keys": 3, "most": 101}}}, 403, "at most 400"),
        ({"by": {"page": {"max_keys": 3, "share": 0.95}}}, 422, "share"),
        ({"by": {"page": {"max_keys": 3, "share": -0.1}}}, 422, "share"),
        ({"by": {"page": {"max_keys": 3, "share": 0}}}, 422, "share must be above 0 for 4 periods"),
        ({"by": {"page": {"max_keys": 3, "share": 0}}, "every": "4D", "max_groups": 2}, 422, "must be max_keys"),
        ({"by": {"page": {"max_keys": 3, "delta": 1e-6}}}, 422, "below the plan's delta"),
        ({"by": {"page": {"max_keys": 3, "delta": 1}}}, 422, "delta"),
        ({"by": {"page": {"max_keys": 3, "keys": []}}}, 422, "keys"),
        ({"by": {"page": []}}, 422, "page"),
        ({"by": {"page": None}}, 422, "page"),
        ({"by": {"page": ["x" * 33]}}, 403, "at most 32 bytes"),
        ({"by": {"region": {"max_keys": 3}}}, 403, "keys of region"),
        ({"by": {"who": {"max_keys": 3}}}, 403, "keys of who"),
        ({"by": {"both": {"max_keys": 3}}, "columns": {"both": "concat(page, region)"}}, 403, "keys of region"),
        ({"delta": 0.0}, 422, "is missing"),
        ({"missing": {"share": 0.1}}, 422, "missing"),
    ]
    for changes, status, said in cases:
        answer = common_house.post("ana", "/datasets/web/plan", FOUND | changes)
        assert answer.status_code == status, (changes, status, said, answer.text)
        assert said in answer.text, (changes, status, said)


def test_units_in_periods_have_no_max_keys_and_the_same_limit(tmp_path: Path) -> None:
    policy = read_policy(policy_for(tmp_path, unit="user_period:1D"))
    curator, dataset = Curator(policy, str(tmp_path / "budget.db")), policy.datasets["web"]
    by = {"page": dict[str, Any]()}
    curator.plan(dataset, QueryRequest.model_validate(FOUND | {"by": by, "max_groups": 5}))
    with pytest.raises(errors.NotAllowed, match="max_groups 6"):
        curator.plan(dataset, QueryRequest.model_validate(FOUND | {"by": by, "max_groups": 6}))
    with pytest.raises(errors.InvalidArgument, match="max_keys must be left out"):
        curator.plan(dataset, QueryRequest.model_validate(FOUND))
    curator.close()


def test_a_part_without_a_reserve_is_refused_before_anything_is_read(house: House) -> None:
    for path, content in (("plan", FOUND), ("jobs", {"request": "one", "question": FOUND})):
        answer = house.post("ben", f"/datasets/web/{path}", content)
        assert answer.status_code == 422, answer.text
        assert "reserve" in answer.text
    assert house.curator.ledger.history("web") == []
    part = house.curator.policy.datasets["web"].analysts["zoe"]
    assert part.reserve == pytest.approx(4e-7)  # of their own delta the part that the whole keeps
    assert house.post("zoe", "/datasets/web/plan", FOUND | {"delta": 5e-7}).json()["fits"]


def test_a_policy_that_cannot_be_is_refused_with_its_line(tmp_path: Path) -> None:
    cases: list[tuple[tuple[str, str], str]] = [
        (("reserve = 4e-6", ""), "reserve"),
        (("reserve = 4e-6", "reserve = 0.0"), "reserve"),
        (("reserve = 4e-6", "reserve = 1e-5"), "below delta"),
        (("reserve = 4e-6", "reserve = -1"), "reserve"),
        (("cells = 400", "least_group = 10"), "least_group"),
        ((", longest = 32, max_keys = 5 }", ", longest = 0 }"), "longest"),
        ((", longest = 32, max_keys = 5 }", ", longest = 1000000 }"), "longest"),
        ((", longest = 32, max_keys = 5 }", ", max_keys = 0 }"), "max_keys"),
        ((", longest = 32, max_keys = 5 }", ", max_keys = true }"), "max_keys"),
        ((", longest = 32, max_keys = 5 }", ", length = 3 }"), "longest"),
        (('columns = ["page"]', "columns = []"), "columns"),
        (('columns = ["page"]', 'columns = ["Who"]'), "other than that of the person"),
        (('columns = ["page"], ', ""), "columns"),
        (('discover = { columns = ["page"], longest = 32, max_keys = 5 }', "discover = true"), "discover"),
    ]
    for change, said in cases:
        path = policy_for(tmp_path)
        text = path.read_text(encoding="utf-8")
        assert change[0] in text, (change, said)
        path.write_text(text.replace(*change), encoding="utf-8")
        with raising(errors.ChronodpError, match=said, case=(change, said)) as caught:
            read_policy(path)
        assert "line" in str(caught.value), (change, said)


def test_a_policy_that_says_nothing_lets_no_keys_be_found(tmp_path: Path) -> None:
    policy = read_policy(policy_for(tmp_path, discover=""))
    curator = Curator(policy, str(tmp_path / "budget.db"))
    with pytest.raises(errors.NotAllowed, match="with keys that are found"):
        curator.plan(policy.datasets["web"], QueryRequest.model_validate(FOUND))
    with pytest.raises(errors.NotAllowed, match="by page"):
        curator.plan(policy.datasets["web"], QueryRequest.model_validate(FOUND | {"by": {"page": ["a"]}}))
    curator.close()


@pytest.mark.slow
def test_every_reading_and_the_decision_end_at_allowed_moments(dataset: Dataset, tmp_path: Path) -> None:
    moments = [0.0]

    def sleep(seconds: float) -> None:
        moments[0] += seconds

    pace = Pace(1.0, 0.25, clock=lambda: moments[0], sleep=sleep)
    plan: Any = dataset.series().count().by(page=cdp.Discover(max_keys=3)).plan(epsilon=2.0, delta=1e-6)
    paced: Any = resumed(plan, pace)
    held = paced.origin.held_keys(plan.design, key="00")
    assert moments[0] == pytest.approx(1.0)
    found = paced.find(held, secure())
    assert moments[0] == pytest.approx(2.0)
    paced.origin.numbers(plan.design.release_design(found), key="00", progress=lambda _: None)
    assert moments[0] == pytest.approx(3.0)
    paced.origin.numbers(plan.design.release_design(()), key="00", progress=lambda _: None)
    assert moments[0] == pytest.approx(4.0)  # where no key is found nothing is read, which nobody sees
    grid = Calendar("4D", "2026-01-01", "2026-01-05")
    counted: Any = dataset.series(grid).count().by(page=cdp.Discover(max_keys=3, share=0))
    decides: Any = resumed(counted.plan(epsilon=2.0, delta=1e-6), pace)
    making = decides.making(held, secure(), key="00" * 32, progress=None)
    making.release(("11" * 32,))
    assert moments[0] == pytest.approx(5.0)  # counts that decide are looked at once
    moments[0] = 4.0
    (tmp_path / "rows.parquet").unlink()
    with pytest.raises(errors.UnreadableSource):
        PacedKeys(plan.origin, pace).held_keys(plan.design, key="00")
    assert moments[0] == pytest.approx(5.0)
    assert paced.content(held) == paced.content(None)


DEATHS = (
    ("debit committed", "done"),
    ("choice committed", "done"),
    ("draw claimed", "lost"),
    ("choice drawn", "lost"),
    ("noise drawn", "lost"),
    ("release committed", "done"),
)
SAME_ROWS = DEATHS if SCALE >= 1 else DEATHS[1:2]  # where rows changed, all that is asked of those that did not


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "state", "changed"), [*((*death, True) for death in DEATHS), *((*death, False) for death in SAME_ROWS)]
)
@pytest.mark.parametrize("asked", [FOUND, ONE_PERIOD], ids=["a share", "published counts"])
def test_a_job_that_died_goes_on_from_the_stored_nonce(
    tmp_path: Path, point: str, state: str, changed: bool, asked: dict[str, Any]
) -> None:
    def change() -> None:  # somebody's rows are others now, which nobody may learn from how the job ends
        write_views(tmp_path / "rows.parquet", people=60 - changed)

    check_a_death(policy_for(tmp_path), asked, point, state, meanwhile=change)


@pytest.mark.slow
def test_no_key_is_told_where_something_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    curator = started(policy_for(tmp_path))
    job = submitted(curator, FOUND)

    def fail(_: object, held: Any, __: object) -> Callable[[], None]:
        raise RuntimeError(f"cannot decide about {held.keys}")

    monkeypatch.setattr("chronodp.series.discovery.plan.find_keys", fail)
    with caplog.at_level(logging.DEBUG):
        assert runner_of(curator).run_one()
    failed = curator.job(ANA, job.id)
    assert failed.state == "failed"
    assert failed.problem is not None
    assert "same request id" in failed.problem["mend"]
    for text in (json.dumps(failed.problem), caplog.text):
        assert "page of one person" not in text
        assert "bold" not in text
    monkeypatch.undo()
    submitted(curator, FOUND)
    assert runner_of(curator).run_one()
    assert curator.job(ANA, job.id).state == "done"
    curator.close()
