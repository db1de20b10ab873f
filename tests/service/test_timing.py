"""Whether the time a release takes tells how much was read.

Two tables with one schema, one of them empty, are asked the same questions in random order, and the times from the
submission to the visible end are compared by ranks (Mann and Whitney). With 200 calls each and false alarms in 10⁻⁹
of runs, a shift of 0.9 standard deviations is found with probability above 0.99. Few calls suffice to notice times
that do not overlap, which is what the same service without pacing shows.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from chronodp.errors import UnreadableSource
from chronodp.service.pacing import Pace, Paced, Paces, Unpaced
from chronodp.service.policy_file import read_policy
from tests.conftest import Trials
from tests.service.town import COUNT, House, open_house, write_policy, write_rows

FALSE_ALARM = 1e-9
FLOOR = 0.5
LEAST = 18  # so many calls each, without overlap, have a chance below 10⁻⁹


@contextmanager
def two_tables(folder: Path, pace: Paces, *, people: int) -> Iterator[House]:
    write_rows(folder / "huge.parquet", people=people)
    write_rows(folder / "empty.parquet", people=0)
    policy = write_policy(folder, source="huge.parquet", epsilon=1e4, parts={"ana": 1e4}, lease=30.0)
    text = policy.read_text(encoding="utf-8")
    begin = text.index("[datasets.meters]")
    end = text.index("[datasets.other]")
    twin = text[begin:end].replace("meters", "empty").replace("huge", "empty")
    policy.write_text(text[:end] + twin, encoding="utf-8")
    with open_house(policy, str(folder / "budget.db"), pace=pace) as house:
        yield house


def duration(house: House, dataset: str, number: int) -> float:
    """Submit, and return how long it takes until the end is visible."""
    content = {"request": f"r{number}", "question": COUNT | {"epsilon": 0.1}, "fresh": True}
    began = time.perf_counter()
    answer = house.post("ana", f"/datasets/{dataset}/jobs", content)
    job = answer.json()["id"]
    while (state := house.get("ana", f"/jobs/{job}").json()["state"]) != "done":
        assert state in ("waiting", "running"), state
        time.sleep(0.004)
    return time.perf_counter() - began


def compare(house: House, calls: int) -> tuple[float, dict[str, list[float]]]:
    order = ["meters", "empty"] * calls
    random.Random(3).shuffle(order)
    for number, dataset in enumerate(("meters", "empty")):
        duration(house, dataset, 9000 + number)  # whatever is loaded on first use is loaded now
    times: dict[str, list[float]] = {"meters": [], "empty": []}
    for number, dataset in enumerate(order):
        times[dataset].append(duration(house, dataset, number))
    return alike(times["meters"], times["empty"]), times


def alike(first: list[float], second: list[float]) -> float:
    """Return the chance of ranks as different as these, if times had one law."""
    return float(mannwhitneyu(first, second, method="exact" if len(first) <= 30 else "asymptotic").pvalue)


def test_an_empty_and_a_huge_table_cannot_be_told_apart(tmp_path: Path, trials: Trials) -> None:
    with two_tables(tmp_path, Pace(FLOOR, FLOOR), people=10_000) as house:
        chance, times = compare(house, trials(200, least=LEAST))
        # Time stamps that are signed and stored tell no more.
        issued: dict[str, list[float]] = {}
        for dataset in times:
            links = [signed.link for signed in house.curator.ledger.chain(dataset)]
            jobs = {job.request: job.made for job in house.curator.jobs.newest(name=None, limit=10_000)}
            issued[dataset] = [link.issued - jobs[link.request] for link in links]
    assert min(map(min, times.values())) >= FLOOR
    assert chance > FALSE_ALARM, times
    assert alike(issued["meters"], issued["empty"]) > FALSE_ALARM, issued


def test_the_same_test_notices_a_service_that_does_not_pace(tmp_path: Path, trials: Trials) -> None:
    with two_tables(tmp_path, Unpaced(), people=25_000) as house:
        chance, times = compare(house, trials(200, least=LEAST))
    assert chance < FALSE_ALARM, times


def test_the_power_is_as_stated() -> None:
    calls, shift = 200, 0.9
    alarm = norm.isf(FALSE_ALARM / 2)
    # The efficiency of ranks against means, for normal times, is 3/pi.
    assert norm.sf(alarm - shift * np.sqrt(calls / 2 * 3 / np.pi)) > 0.99
    assert alike(list(range(LEAST)), list(range(1000, 1000 + LEAST))) < FALSE_ALARM


@pytest.mark.parametrize(("read", "due"), [(0.0, 1.0), (0.9, 1.0), (1.0, 1.0), (1.01, 1.25), (2.6, 2.75)])
def test_what_was_read_is_used_at_allowed_moments_only(read: float, due: float) -> None:
    moments = [0.0]

    def sleep(seconds: float) -> None:
        moments[0] += seconds

    pace = Pace(1.0, 0.25, clock=lambda: moments[0], sleep=sleep)
    began = pace.clock()
    moments[0] += read
    pace.hold(began)
    assert moments[0] == pytest.approx(due)


def test_a_failure_is_told_at_an_allowed_moment_too(tmp_path: Path) -> None:
    moments = [0.0]

    def sleep(seconds: float) -> None:
        moments[0] += seconds

    pace = Pace(1.0, 0.25, clock=lambda: moments[0], sleep=sleep)
    dataset = read_policy(write_policy(tmp_path, source="nothing-*.parquet")).datasets["meters"]
    plan = dataset.series().count().plan(epsilon=1.0)
    paced = Paced(plan.origin, pace)
    assert "nothing" not in str(paced)
    with pytest.raises(UnreadableSource):
        paced.numbers(plan.design, key="", progress=lambda _: None)
    assert moments[0] == pytest.approx(1.0)
