"""A dataset whose budget is a life: bought once, issued by jobs, and never telling who is used up."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.errors import NotAllowed, NotFound, TallyMismatch
from chronodp.ledger import Ledger
from chronodp.service.curator import Caller, Curator
from chronodp.service.issue_rules import IssueAsked
from chronodp.service.job import Job
from chronodp.service.pacing import Pace, Unpaced
from chronodp.service.runner import Runner
from tests.service.lives import LIFETIMES, charges, month, started, write_life_policy, write_months

pytestmark = pytest.mark.slow

ANA, BEN, OLGA = Caller("ana", "analyst", ""), Caller("ben", "analyst", ""), Caller("olga", "owner", "")


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    opened = started(write_life_policy(tmp_path))
    yield opened
    opened.close()


def submitted(curator: Curator, number: int, *, who: Caller = ANA, **more: Any) -> tuple[Job, bool]:
    """Ask for the issue of a month, or of several."""
    ends = month(number) | {"end": month(number + more.pop("months", 1) - 1)["end"]}
    asked = IssueAsked(lifetime="load", clip=more.pop("clip", None), **(ends | more.pop("ends", {})))
    terms: dict[str, Any] = {"request": f"month {number}", "fresh": False} | more
    return curator.submit_issue(who, curator.policy.datasets["meters"], asked, **terms)


def made(curator: Curator, number: int, **more: Any) -> Job:
    """Ask for an issue, and let it be made."""
    job, _ = submitted(curator, number, **more)
    Runner(curator, pace=Unpaced()).run_one()
    found = curator.jobs.find(job.id)
    assert found is not None
    return found


def test_it_is_bought_once_when_the_service_starts(curator: Curator, tmp_path: Path) -> None:
    assert charges(curator) == ["load"]
    again = started(tmp_path / "policy.toml")
    assert charges(again) == ["load"]
    again.close()


def test_an_issue_is_a_release_that_nobody_pays(curator: Curator) -> None:
    job = made(curator, 0)
    assert (job.state, job.problem) == ("done", None)
    stored = curator.ledger.stored.release_of("meters", "ana/month 0")
    assert stored is not None
    release = cdp.Release(stored.text, stored.signed)
    assert len(release.each_period().to_pandas()) == 2
    assert "issue 1 of 'load'" in str(release.certificate)
    assert charges(curator) == ["load"]
    assert curator.ledger.status("meters", analyst="ana").share == 0
    (issue,) = curator.issues.of(curator.ledger, "load")
    assert (issue.request, issue.life.issue, len(issue.calendar)) == ("ana/month 0", 1, 1)


def test_a_used_up_population_gives_noise_and_never_a_refusal(tmp_path: Path) -> None:
    write_months(tmp_path, size=3.0)  # at the clip, so that two months are a life
    curator = started(write_life_policy(tmp_path, lifetimes=LIFETIMES.replace("= 12", "= 2").replace("1.0\n", "3.5\n")))
    values, releases = [], []
    for number in range(5):
        assert made(curator, number).state == "done"
        stored = curator.ledger.stored.release_of("meters", f"ana/month {number}")
        assert stored is not None
        releases.append(cdp.Release(stored.text, stored.signed))
        values.append(releases[-1].each_period().to_pandas()["value"].sum())
    deviation = releases[0].design.noises[0].scale * 2**0.5  # of the sum of two regions
    assert values[:2] == pytest.approx([150, 150], abs=6.5 * deviation)  # false alarms below 1e-9
    assert values[2:] == pytest.approx([0, 0, 0], abs=6.5 * deviation)
    assert 6.5 * deviation < 150 / 1.2  # so that none of them could be taken for another
    curator.close()


def test_only_those_whom_the_policy_lets_in_may_ask(curator: Curator) -> None:
    with pytest.raises(NotAllowed, match="does not let ben ask"):
        submitted(curator, 0, who=BEN)
    assert made(curator, 0, who=OLGA).state == "done"
    with pytest.raises(NotFound, match="no lifetime series"):
        curator.lifetime(curator.policy.datasets["meters"], "other")


def test_a_period_is_issued_once_unless_the_owner_lets_it_be_issued_again(curator: Curator, tmp_path: Path) -> None:
    made(curator, 3)
    job, new = submitted(curator, 3, request="the same again")
    assert (new, job.state, job.source) == (True, "done", "ana/month 3")  # answered by what is stored
    for more in ({"fresh": True}, {"clip": (0.0, 2.0)}, {"who": OLGA, "fresh": True}):
        with pytest.raises(NotAllowed, match=r"2020-04-01.* issued already.*once"):
            submitted(curator, 3, request="another", **more)
    with pytest.raises(NotAllowed, match="issued already"):
        submitted(curator, 2, months=3, request="around it")
    submitted(curator, 4)  # it waits, and holds its period all the same
    with pytest.raises(NotAllowed, match="2020-05-01"):
        submitted(curator, 4, request="another", clip=(0.0, 1.0))
    twice = started(write_life_policy(tmp_path, lifetimes=f"{LIFETIMES}times = 2\n"))
    submitted(twice, 3, request="again", fresh=True)
    with pytest.raises(NotAllowed, match="2 times"):
        submitted(twice, 3, request="and again", fresh=True)
    twice.close()


def test_an_issue_of_the_owners_own_hand_counts_too(curator: Curator, tmp_path: Path) -> None:
    load = cdp.Lifetime.resume(curator.ledger, "load", tally=tmp_path / "load.tally")
    start, end = month(0).values()
    load.issue(str(tmp_path / "months.csv"), start=start, end=end, request="by hand", progress=lambda _: None)
    with pytest.raises(NotAllowed, match="issued already"):
        submitted(curator, 0)
    job, _ = submitted(curator, 1)
    start, end = month(1).values()
    load.issue(str(tmp_path / "months.csv"), start=start, end=end, request="as well", progress=lambda _: None)
    Runner(curator, pace=Unpaced()).run_one()
    assert curator.job(ANA, job.id).state == "refused"
    assert [issue.request for issue in curator.issues.of(curator.ledger, "load")] == ["by hand", "as well"]


def test_a_policy_that_has_changed_since_is_asked_again(curator: Curator, tmp_path: Path) -> None:
    job, _ = submitted(curator, 0)
    later = started(write_life_policy(tmp_path, lifetimes=LIFETIMES.replace('["ana"]', '["ben"]')))
    Runner(later, pace=Unpaced()).run_one()
    found = later.job(ANA, job.id)
    assert (found.state, found.problem and found.problem["kind"]) == ("refused", "not_allowed")
    later.close()


def test_analysts_ask_for_so_many_issues_a_month(tmp_path: Path) -> None:
    curator = started(write_life_policy(tmp_path, lifetimes=f"{LIFETIMES}most_a_month = 2\n"))
    submitted(curator, 0)
    submitted(curator, 1)
    with pytest.raises(NotAllowed, match="2 issues of 'load' a month"):
        submitted(curator, 2)
    submitted(curator, 2, who=OLGA)
    curator.close()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ends": {"start": "2019-12-01"}}, "does not allow start 2019-12-01"),
        ({"ends": {"end": "2022-02-01"}}, "does not allow end 2022-02-01"),
        ({"ends": {"start": "2020-01-15"}}, "does not allow start 2020-01-15"),
        ({"clip": (0.0, 4.0)}, "does not allow clip 0 to 4"),
        ({"clip": (-1.0, 3.0)}, "does not allow clip -1 to 3"),
    ],
)
def test_what_the_policy_does_not_allow_is_not_asked(curator: Curator, more: dict[str, Any], words: str) -> None:
    with pytest.raises(NotAllowed, match=words):
        submitted(curator, 0, **more)


def test_a_period_is_issued_when_it_is_over(tmp_path: Path) -> None:
    path = write_life_policy(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("2022-01-01", "2120-01-01"), encoding="utf-8")
    curator = started(path)
    with pytest.raises(NotAllowed, match="does not allow end 2119-02-01"):
        submitted(curator, 0, ends={"start": "2119-01-01", "end": "2119-02-01"})
    assert made(curator, 0).state == "done"  # and a grid that has grown is the same series
    curator.close()


def test_another_clip_within_the_widest_takes_other_shares(tmp_path: Path) -> None:
    curator = started(write_life_policy(tmp_path, lifetimes=f"{LIFETIMES}widest = [0.0, 5.0]\n"))
    assert made(curator, 0, clip=(0.0, 5.0)).state == "done"
    (issue,) = curator.issues.of(curator.ledger, "load")
    assert "2.78 of 12 shares" in issue.life.price("1mo")
    curator.close()


def test_a_tally_that_is_not_the_ledgers_is_told_at_the_start(curator: Curator, tmp_path: Path) -> None:
    made(curator, 0)
    for segment in (tmp_path / "load.tally").glob("*.segment"):
        segment.unlink()
    with pytest.raises(TallyMismatch):
        started(tmp_path / "policy.toml")
    job = made(curator, 1)
    assert job.state == "failed"
    assert job.problem is not None
    assert "the owner's log" in job.problem["message"]
    assert "tally" not in json.dumps(job.problem)


def test_a_failed_issue_took_nothing_and_may_be_asked_again(curator: Curator, tmp_path: Path) -> None:
    (tmp_path / "months.csv").rename(tmp_path / "away.csv")
    assert made(curator, 0).state == "failed"
    (tmp_path / "away.csv").rename(tmp_path / "months.csv")
    submitted(curator, 1)
    Runner(curator, pace=Unpaced()).run_one()
    job = made(curator, 0)
    assert (job.state, job.request) == ("done", "ana/month 0")
    assert [issue.request for issue in curator.issues.of(curator.ledger, "load")] == ["ana/month 1", "ana/month 0"]


def test_everything_that_hangs_on_people_lies_before_an_allowed_moment(curator: Curator, tmp_path: Path) -> None:
    """The tally is read, the table booked and the segment written before the job waits; noise comes after."""
    seen: list[str] = []
    moments = iter(range(1000))

    def wait(seconds: float) -> None:
        segments = len(list((tmp_path / "load.tally").glob("*.segment")))
        seen.append(f"waits for {seconds:g} s with {segments} segments")
        for _ in range(int(seconds)):
            next(moments)

    pace = Pace(100.0, 50.0, clock=lambda: float(next(moments)), sleep=wait)
    curator.ledger = Ledger(tmp_path / "budget.db", reached=seen.append)
    submitted(curator, 0)
    Runner(curator, pace=pace).run_one()
    assert [word for word in seen if word.startswith(("waits", "noise", "issue"))] == [
        "waits for 98 s with 1 segments",  # the clock ticks once whenever it is looked at
        "noise drawn",
        "issue written",
        "issue committed",
        "issue marked",
    ]


def test_a_failure_is_told_at_an_allowed_moment_too(curator: Curator, tmp_path: Path) -> None:
    waited: list[float] = []
    pace = Pace(100.0, 50.0, clock=lambda: 100.0 * len(waited), sleep=waited.append)
    (tmp_path / "months.csv").unlink()
    job, _ = submitted(curator, 0)
    Runner(curator, pace=pace).run_one()
    found = curator.jobs.find(job.id)
    assert found is not None
    assert (found.state, waited) == ("failed", [100.0])


def test_public_answers_do_not_hang_on_the_people(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two towns, one of them empty: whatever is told of their series and jobs is the same but for times and noise."""
    told = []
    for people in (0, 50):
        folder = tmp_path / str(people)
        folder.mkdir()
        write_months(folder, people=people, size=3.0)
        curator = started(write_life_policy(folder, lifetimes=LIFETIMES.replace("= 12", "= 2")))
        with caplog.at_level(logging.DEBUG):
            jobs = [made(curator, number) for number in range(3)]
        issues = curator.issues.of(curator.ledger, "load")
        told.append(
            (
                [(job.state, job.problem, job.request, job.design) for job in jobs],
                [(one.number, one.request, one.calendar, one.life) for one in issues],
            )
        )
        curator.close()
    assert told[0] == told[1]
    assert not caplog.records
