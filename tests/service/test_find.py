"""Bounds that a curator's release finds, and the figure of what they took away: asked, paced, resumed, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp import errors
from chronodp.ledger import Ledger
from chronodp.service.curator import Curator
from chronodp.service.pacing import Pace, PacedFinding
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest, ask
from chronodp.service.written import write_question
from tests.cases import raising
from tests.conftest import SCALE
from tests.service.runs import ANA, check_a_death, choices, debits, runner_of, started, submitted
from tests.service.town import House, house_of, said_of_a_question, write_policy, write_rows

PEOPLE = 300 if SCALE >= 1 else 60
FOUND: dict[str, Any] = {
    "measure": {"kind": "sum", "column": "kwh"},
    "every": "1D",
    "find": {"bounds": ["clip", "max_periods"], "from_zero": True, "between": [0.5, 5.0]},
    "missing": {"share": 0.1},
    "epsilon": 2.0,
    "delta": 1e-7,
}


def policy_for(folder: Path, *, find: bool = True, people: int = PEOPLE, **terms: Any) -> Path:
    """Write a policy that lets bounds be found."""
    write_rows(folder / "rows.parquet", people=people)
    policy = write_policy(folder, **terms)
    text = policy.read_text(encoding="utf-8")
    if find:
        text = text.replace("[datasets.meters.allow]", "[datasets.meters.allow]\nfind = true")
    policy.write_text(text, encoding="utf-8")
    return policy


common_house = house_of(policy_for, scope="module")
house = house_of(policy_for, scope="function")


def test_a_question_finds_bounds_and_tells_what_is_missing(house: House) -> None:
    planned = house.post("ana", "/datasets/meters/plan", FOUND).json()
    assert planned["half_width"] is None
    assert planned["bands"] == {}
    assert {fact["label"] for fact in planned["facts"]} >= {"Finds", "Needs", "Missing"}
    assert planned["alternatives"][-1]["max_periods"] == 2
    tried = house.post("ana", "/datasets/meters/try", FOUND).json()
    assert "value_all" in tried["table"]["columns"]
    job = house.ended("ana", "one", FOUND)
    assert job["state"] == "done", job
    base = f"/datasets/meters/releases/{job['release']}"
    whole = house.get("ana", base).json()
    facts = [fact["label"] for fact in whole["facts"]]
    assert "Found" in facts
    assert "Missing" in facts
    assert json.loads(whole["release"])["design"]["found"]["max_periods"] in (1, 2)
    table = house.get("ana", f"{base}/table").json()
    assert table["columns"][-3:] == ["value_all", "lower_all", "upper_all"]
    assert "value_all" in house.get("ana", f"{base}/table?format=csv").text.splitlines()[0]
    alone = house.post("ana", "/verify", {"release": whole["release"], "link": whole["link"]}).json()
    assert alone["valid"]
    again = house.submit("ben", "other", FOUND)
    assert again.json()["repeated"]


def test_a_client_finds_as_at_home(house: House) -> None:
    with house.client("ana") as client:
        far = client.dataset("meters", every="1D", max_periods=cdp.Find())
        query = far.sum("kwh", clip=(0, cdp.Find(between=(0.5, 5.0))))
        plan: Any = query.plan(epsilon=2.0, delta=1e-7, missing=cdp.Missing())
        home: Any = (
            house.curator.policy.datasets["meters"]
            .series(far.calendar, max_periods=cdp.Find())
            .sum("kwh", clip=(0, cdp.Find(between=(0.5, 5.0))))
            .plan(epsilon=2.0, delta=1e-7, missing=cdp.Missing())
        )
        assert plan.design == home.design
        assert str(plan) == str(home)
        assert plan.claim == home.claim
        assert "value_all" in plan.rehearse().columns
        release = plan.release(request="one")
        assert release.found is not None
        assert release.missing is not None
        # Without ends the curator keeps the search within the widest clip.
        assert far.sum("kwh", clip=(0, cdp.Find())).plan(epsilon=2.0).design.between == (5.0 / 2**20, 5.0)  # type: ignore[attr-defined]
        given = client.dataset("meters", every="1D").count().plan(epsilon=0.5, delta=1e-7, missing=cdp.Missing())
        assert given.claim.argument.endswith("release.md")  # both days count: there is nothing to pay for
        told = given.release(request="two")
        assert str(told.missing) == "The limits can remove nothing"
        shown = told.to_pandas()
        assert list(shown["lower_all"]) == list(shown["lower"])


def test_a_curator_finds_edges_within_the_widest_clip(house: House) -> None:
    with house.client("ana") as client:
        far = client.dataset("meters", every="1D")
        plan: Any = far.histogram("kwh", edges=(0, cdp.Find()), of="rows").plan(epsilon=2.0, delta=1e-7)
        assert plan.design.finds == ("edges",)
        assert plan.design.between == (5.0 / 2**20, 5.0)
        assert "picks a typical size of a value" in " ".join(str(plan).split())
        release = plan.release(request="edges")
        assert len(release.found.edges) == 25
        assert release.found.edges[0] == 0.0
        assert release.found.edges[-1] <= 5.0
        assert 0 < release.quantile(0.5).to_pandas().value.iloc[0] < 5
        with pytest.raises(errors.ChronodpError, match="found from 0 on"):
            far.histogram("kwh", edges=cdp.Find()).plan(epsilon=2.0, delta=1e-7)


def test_what_is_found_survives_being_written_down(tmp_path: Path) -> None:
    dataset = read_policy(policy_for(tmp_path)).datasets["meters"]
    series = dataset.series(max_periods=cdp.Find())
    keys = {"region": ["north", "south"]}
    for query in (
        series.count(),
        series.count(at_most=cdp.Find()),
        series.sum("kwh", clip=cdp.Find(0.1)),
        series.sum("kwh", bound=cdp.Norm(cdp.Find(0.1), signed=False)),
        series.mean("kwh", clip=(0, cdp.Find(0.1)), of="people"),
        series.mean("kwh", clip=(0, cdp.Find(0.1)), of="totals"),
        series.histogram("kwh", edges=cdp.Find(0.1)),
        series.histogram("kwh", edges=(0, cdp.Find(0.1)), of="rows"),
        series.sum("kwh", clip=(0, cdp.Find(between=(1, 2)))).by(max_groups=cdp.Find(), focus=None, **keys),
    ):
        terms: Any = {"epsilon": 0.5, "delta": 1e-7, "tuned_for": cdp.EachPeriod(), "missing": cdp.Missing(0.1, None)}
        question = QueryRequest.model_validate(write_question(query.table, dict(query.finds), **terms))
        assert QueryRequest.model_validate_json(question.model_dump_json()) == question
        again = dataset.series(max_periods=question.finding.instead_of("max_periods", question.max_periods))
        assert ask(again, question).table == query.table
        assert question.figure == cdp.Missing(0.1, None)
        assert max(find.share for _, find in ask(again, question).finds) == max(find.share for _, find in query.finds)


def test_bad_questions_are_refused_before_anything_is_spent(common_house: House) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"measure": {"kind": "sum", "column": "kwh", "clip": [0, 3]}}, 422, "given or found"),
        ({"max_periods": 1}, 422, "given or found"),
        ({"measure": {"kind": "count"}, "max_groups": 1, "find": {"bounds": ["max_groups"]}}, 422, "given or found"),
        ({"measure": {"kind": "count"}, "find": {"bounds": ["max_groups"]}}, 422, "nothing splits"),
        ({"find": {"bounds": []}}, 422, "find"),
        ({"find": {"bounds": ["width"]}}, 422, "find"),
        ({"find": {"bounds": ["clip", "clip"], "from_zero": True}}, 422, "each once"),
        ({"find": {"bounds": ["clip"], "share": 0.9}}, 422, "share"),
        ({"find": {"bounds": ["clip"], "between": [3, 1]}}, 422, "between"),
        ({"find": {"bounds": ["max_periods"], "between": [1, 3]}}, 422, "between"),
        ({"find": {"bounds": ["max_periods"], "from_zero": True}}, 422, "from_zero"),
        ({"find": None}, 422, "clip"),
        ({"find": {"bounds": ["clip"], "from_zero": True, "between": [1, 6]}}, 403, "between"),
        ({"find": {"bounds": ["clip"]}}, 403, "clip"),
        ({"find": {"bounds": ["clip"], "from_zero": True}, "measure": {"kind": "sum", "column": "no"}}, 403, "column"),
        (
            {"measure": {"kind": "histogram", "column": "kwh", "edges": [0, 1]}, "find": {"bounds": ["at_most"]}},
            422,
            "it cannot be found for histogram",
        ),
        ({"missing": {"share": 2}}, 422, "share"),
        ({"missing": {"assume": "hope"}}, 422, "assume"),
        ({"measure": {"kind": "histogram", "column": "kwh", "edges": [0, 1]}, "find": None}, 422, "missing"),
    ]
    for changes, status, said in cases:
        answer = common_house.post("ana", "/datasets/meters/plan", FOUND | changes)
        assert answer.status_code == status, (changes, status, said, answer.text)
        assert said in answer.text, (changes, status, said)


def test_a_policy_that_says_nothing_lets_no_bounds_be_found(tmp_path: Path) -> None:
    with pytest.raises(errors.NotAllowed, match="find"):
        planned(policy_for(tmp_path, find=False), FOUND)


@pytest.mark.slow
def test_every_reading_ends_at_an_allowed_moment(tmp_path: Path) -> None:
    moments = [0.0]

    def sleep(seconds: float) -> None:
        moments[0] += seconds

    dataset = read_policy(policy_for(tmp_path, people=5)).datasets["meters"]
    plan: Any = dataset.series(max_periods=cdp.Find()).count().plan(epsilon=1.0, missing=cdp.Missing())
    paced = PacedFinding(plan.origin, Pace(1.0, 0.25, clock=lambda: moments[0], sleep=sleep))
    design = plan.design
    release_design = design.release_design(design.found(design.typical, 0))
    readings: tuple[Callable[[], object], ...] = (
        lambda: paced.sizes(design.scale),
        lambda: paced.losses(design.typical),
        lambda: paced.numbers(release_design, key="", progress=lambda _: None),
        lambda: paced.missing(release_design, key=""),
    )
    for number, read in enumerate(readings, 1):
        read()
        assert moments[0] == pytest.approx(number)
    gone = PacedFinding(
        read_policy(write_policy(tmp_path, source="gone-*.csv")).datasets["meters"].series()._records,  # type: ignore[arg-type]
        paced.pace,
    )
    for fails in (lambda: gone.sizes(design.scale), lambda: gone.losses(design.typical)):
        before = moments[0]
        with pytest.raises(errors.UnreadableSource):
            fails()
        assert moments[0] == pytest.approx(before + 1.0)


DEATHS = (
    ("debit committed", 1, "done"),
    ("choice committed", 1, "done"),
    ("choice committed", 2, "done"),
    ("draw claimed", 1, "lost"),
    ("choice drawn", 2, "lost"),
    ("noise drawn", 1, "lost"),
    ("release committed", 1, "done"),
)
SAME_ROWS = DEATHS if SCALE >= 1 else DEATHS[2:3]  # where rows changed, all that is asked of those that did not


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "times", "state", "changed"),
    [*((*death, True) for death in DEATHS), *((*death, False) for death in SAME_ROWS)],
)
def test_a_job_that_died_between_choices_goes_on_with_those_it_has(
    tmp_path: Path, point: str, times: int, state: str, changed: bool
) -> None:
    def change() -> None:  # somebody's rows are others now, which nobody may learn from how the job ends
        write_rows(tmp_path / "rows.parquet", people=PEOPLE - changed)

    check_a_death(policy_for(tmp_path, lease=600.0), FOUND, point, state, times=times, meanwhile=change)


@pytest.mark.slow
def test_a_table_that_is_away_for_a_while_costs_nothing_twice(tmp_path: Path) -> None:
    curator, away = started(policy_for(tmp_path, lease=600.0)), tmp_path / "away.parquet"

    def cut(reached: str) -> None:
        if reached == "choice committed" and not away.exists():
            (tmp_path / "rows.parquet").rename(away)

    whole, curator.ledger = curator.ledger, Ledger(tmp_path / "budget.db", reached=cut)
    job, runner = submitted(curator, FOUND), runner_of(curator)
    assert runner.run_one()
    failed = curator.job(ANA, job.id)
    assert failed.state == "failed"
    assert failed.problem is not None
    assert "debited" in failed.problem["message"]
    assert "same request id" in failed.problem["mend"]
    kept = choices(curator)
    assert len(kept) == 1
    away.rename(tmp_path / "rows.parquet")
    curator.ledger = whole
    again = submitted(curator, FOUND)
    assert (again.id, again.state) == (job.id, "waiting")
    assert runner.run_one()
    assert curator.job(ANA, job.id).state == "done"
    assert choices(curator)[0] == kept[0]
    assert debits(curator) == 1
    curator.close()


def with_norm(folder: Path, *, norm: float | None = None, clip: str = "[0.0, 5.0]") -> Path:
    path = policy_for(folder)
    clips = f"clip = {{ 1h = {clip}, 1D = {clip} }}" + ("" if norm is None else f"\nnorm = {{ 1D = {norm} }}")
    text = path.read_text(encoding="utf-8").replace("clip = { 1h = [0.0, 5.0], 1D = [0.0, 5.0] }", clips)
    path.write_text(text, encoding="utf-8")
    return path


def planned(path: Path, question: object) -> Any:
    """Return the design of a question about meters, by a policy of which nothing is opened."""
    policy = read_policy(path)
    curator = Curator(policy, str(path.with_name("budget.db")))
    try:
        return curator.plan(policy.datasets["meters"], QueryRequest.model_validate(question)).design
    finally:
        curator.close()


SCALED: dict[str, Any] = {
    "measure": {"kind": "sum", "column": "kwh", "norm": 4.0, "signed": False},
    "every": "1D",
    "epsilon": 2.0,
    "delta": 1e-7,
}


def test_a_client_bounds_whole_series_as_at_home(house: House) -> None:
    with house.client("ana") as client:
        far = client.dataset("meters", every="1D")
        home = house.curator.policy.datasets["meters"].series(far.calendar)
        keys: Any = {"region": ["north", "south"]}
        plan: Any = None
        for bound in (cdp.Norm(4.0, signed=False), cdp.Norm(cdp.Find(between=(0.5, 7.0)), signed=False)):
            for split in (False, True):
                asked, own = far.sum("kwh", bound=bound), home.sum("kwh", bound=bound)
                asked, own = (asked.by(**keys), own.by(**keys)) if split else (asked, own)
                plan = asked.plan(epsilon=2.0, delta=1e-7)
                same: Any = own.plan(epsilon=2.0, delta=1e-7)
                assert plan.design == same.design
                assert str(plan) == said_of_a_question(same)
        release = plan.release(request="norm")
        assert release.found is not None
        assert release.found.norm is not None
        assert 0.5 <= release.found.norm <= 7.0
        open_ended: Any = far.sum("kwh", bound=cdp.Norm(cdp.Find(), signed=False)).plan(epsilon=2.0, delta=1e-7)
        assert open_ended.design.between == pytest.approx((5 * 2**0.5 / 2**20, 5 * 2**0.5))  # two days at the widest


def test_a_norm_stays_within_the_policy(tmp_path: Path) -> None:
    cases: list[tuple[float | None, str, dict[str, Any], str | None]] = [
        (None, "[0.0, 5.0]", {}, None),
        (None, "[0.0, 5.0]", {"norm": 7.2}, "at most 7.07107"),
        (3.0, "[0.0, 5.0]", {}, "at most 3"),
        (3.0, "[0.0, 5.0]", {"norm": 3.0}, None),
        (None, "[0.0, 5.0]", {"signed": True}, "signed"),
        (None, "[0.0, 5.0]", {"signed": None}, "signed"),
        (None, "[-2.0, 5.0]", {"signed": True}, None),
        (None, "[-2.0, -1.0]", {}, "counts from 0 upwards"),
        (None, "[0.0, 5.0]", {"column": "gas"}, "column"),
    ]
    for norm, clip, changes, said in cases:
        path, question = with_norm(tmp_path, norm=norm, clip=clip), SCALED | {"measure": SCALED["measure"] | changes}
        if said is None:
            assert planned(path, question).table.measure.norm, (norm, clip, changes)
        else:
            with raising(errors.NotAllowed, case=(norm, clip, changes, said)) as refused:
                planned(path, question)
            assert said in f"{refused.value} {refused.value.mend}", (norm, clip, changes, said)


def test_a_search_for_a_norm_stays_within_the_policy(tmp_path: Path) -> None:
    path = with_norm(tmp_path, norm=3.3)
    asked = SCALED | {"measure": {"kind": "sum", "column": "kwh", "signed": False}, "find": {"bounds": ["norm"]}}
    design = planned(path, asked)
    joint = design.joint(design.scale.first[-1], design.scale.first[-1] + 20)
    assert max(design.found(joint, place).norm for place in range(len(joint.candidates))) <= 3.3
    with pytest.raises(errors.NotAllowed, match="between"):
        planned(path, asked | {"find": {"bounds": ["norm"], "between": [1, 4]}})


def test_no_candidate_passes_the_widest_by_a_part_of_a_step(tmp_path: Path) -> None:
    open_ended = FOUND | {"find": {"bounds": ["clip", "max_periods"], "from_zero": True}, "missing": None}
    for most in [4.7, 0.1, 3.3333, 1e9 + 0.3]:
        design = planned(with_norm(tmp_path, clip=f"[0.0, {most}]"), open_ended)
        first, last = design.scale.first[0], design.scale.first[-1]
        sizes: list[tuple[float, float]] = []
        for median, upper in ((first, first - 2), (first, first), (last, last - 2), (last, last), (last, last + 20)):
            joint = design.joint(median, upper)
            sizes = [design.bounded(design.found(joint, place)).measure.clip for place in range(len(joint.candidates))]
            assert max(high for _, high in sizes) <= most, most
            assert {low for low, _ in sizes} == {0.0}, most
        assert max(sizes)[1] == pytest.approx(most, rel=1e-5), most  # and the widest itself can be found, to a step


def test_a_clip_for_each_key_is_asked_planned_and_released(house: House) -> None:
    clips = {"north": [0.0, 0.5], "south": [0.0, 2.0]}
    asked = {
        "measure": {"kind": "sum", "column": "kwh", "clip": clips},
        "by": {"region": ["north", "south"]},
        "every": "1D",
        "epsilon": 2.0,
        "delta": 1e-7,
    }
    planned = house.post("ana", "/datasets/meters/plan", asked).json()
    assert "0 … 0.5 (north), 0 … 2 (south)" in str(planned), planned
    assert house.post("ana", "/datasets/meters/try", asked).status_code == 200
    with house.client("ana") as client:
        query = client.dataset("meters", every="1D").sum("kwh", clip={"north": (0, 0.5), "south": (0, 2)})
        plan = query.by(region=["north", "south"]).plan(epsilon=2.0, delta=1e-7)
    job = house.ended("ana", "by key", asked)
    assert job["state"] == "done", job
    release = house.get("ana", f"/datasets/meters/releases/{job['release']}").json()
    assert json.loads(release["release"])["design"]["table"]["measure"]["clips"]["keys"] == ["north", "south"]
    assert plan is not None
    wide = {**asked, "measure": {"kind": "sum", "column": "kwh", "clip": {**clips, "south": [0.0, 5000.0]}}}
    refused = house.post("ana", "/datasets/meters/plan", wide)
    assert refused.status_code == 403
    assert refused.json()["error"]["argument"] == "clip", refused.json()
