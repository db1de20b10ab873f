"""Whether the time a release takes tells how much was read.

Two tables with one schema, one of them empty, are asked the same questions in random order, and the times from the
submission to the visible end are compared by ranks (Mann and Whitney). With 200 calls each and false alarms in 10⁻⁹
of runs, a shift of 0.9 standard deviations is found with probability above 0.99. The same service without pacing has
to be noticed within those 200 calls: after 20 where times do not overlap, after more where the machine is busy.
Two callers ask side by side, each in a random order of its own; both waits and what they do to each other are the same
in both tests.
At stated counts the larger table is so large that reading it takes long. Otherwise it is a small one on a disk that is
slow: that takes as long, and no processor.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from scipy.stats import mannwhitneyu, norm

from chronodp.dataset import Records
from chronodp.errors import UnreadableSource
from chronodp.service.pacing import Pace, Paced, Paces, Unpaced
from chronodp.service.policy_file import read_policy
from tests.conftest import SCALE, Trials
from tests.service.town import COUNT, House, open_house, write_policy, write_rows

FALSE_ALARM = 1e-9
LARGE = SCALE >= 1
FLOOR = 0.5
SLOWLY = 0.3  # seconds that a slow disk takes for the larger table
CALLS = 200
LOOKS = 10
LOOK = 0.004 if LARGE else 0.02  # seconds between looks whether a release is there
CALLERS = 2  # as many as the service has jobs under way
LEAST = CALLS // LOOKS  # so many calls each, without overlap, have a chance below 10⁻⁹ / LOOKS


@contextmanager
def two_tables(folder: Path, pace: Paces, *, people: int) -> Iterator[House]:
    write_rows(folder / "huge.parquet", people=people if LARGE else 60)
    write_rows(folder / "empty.parquet", people=0)
    policy = write_policy(folder, source="huge.parquet", epsilon=1e4, parts={"ana": 1e4}, lease=30.0)
    text = policy.read_text(encoding="utf-8")
    begin = text.index("[datasets.meters]")
    end = text.index("[datasets.other]")
    mutant = text[begin:end].replace("meters", "empty").replace("huge", "empty")
    policy.write_text(text[:end] + mutant, encoding="utf-8")
    with open_house(policy, pace=pace) as house:
        yield house


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every row take its time, unless the larger table is large."""
    at_once = Records.numbers

    def numbers(records: Records, *given: Any, **more: Any) -> Any:
        rows = pyarrow.parquet.read_metadata(str(records.data)).num_rows
        time.sleep(SLOWLY * rows / (60 * 48))
        return at_once(records, *given, **more)

    if not LARGE:
        monkeypatch.setattr(Records, "numbers", numbers)


def duration(house: House, dataset: str, number: int, first: float) -> float:
    """Submit, and return how long it takes until the end is visible, looking first after so many seconds."""
    content = {"request": f"r{number}", "question": COUNT | {"epsilon": 0.1}, "fresh": True}
    began = time.perf_counter()
    answer = house.post("ana", f"/datasets/{dataset}/jobs", content)
    job = answer.json()["id"]
    time.sleep(first)  # an end that was visible before counts as one at this moment
    while (state := house.get("ana", f"/jobs/{job}").json()["state"]) != "done":
        assert state in ("waiting", "running"), state
        time.sleep(LOOK)
    return time.perf_counter() - began


def warm_up(house: House) -> None:
    """Load now whatever is loaded on first use."""
    for number, dataset in enumerate(("meters", "empty")):
        duration(house, dataset, 9000 + number, 0.0)


def measure(house: House, calls: int, times: dict[str, list[float]], first: float = 0.0) -> float:
    """Ask each table so many times more, and return how likely all times are if they have one law."""
    made = sum(map(len, times.values()))

    def ask(caller: int) -> None:
        order = ["meters", "empty"] * (calls // CALLERS)
        begin = made + caller * len(order)
        random.Random(begin).shuffle(order)
        time.sleep(caller * first / CALLERS)  # callers begin apart, so that they seldom read at once
        for number, dataset in enumerate(order, begin):
            times[dataset].append(duration(house, dataset, number, first))

    with ThreadPoolExecutor(CALLERS) as callers:
        list(callers.map(ask, range(CALLERS)))
    return alike(times["meters"], times["empty"])


def alike(first: list[float], second: list[float]) -> float:
    """Return the chance of ranks as different as these, if times had one law."""
    return float(mannwhitneyu(first, second, method="exact" if len(first) <= 30 else "asymptotic").pvalue)


@pytest.mark.slow
@pytest.mark.usefixtures("slow_disk")
def test_an_empty_and_a_huge_table_cannot_be_told_apart(tmp_path: Path, trials: Trials) -> None:
    with two_tables(tmp_path, Pace(FLOOR, FLOOR), people=10_000) as house:
        warm_up(house)
        times: dict[str, list[float]] = {"meters": [], "empty": []}
        chance = measure(house, trials(CALLS, least=LEAST), times, 0.96 * FLOOR)
        # Time stamps that are signed and stored tell no more.
        issued: dict[str, list[float]] = {}
        for dataset in times:
            links = [signed.link for signed in house.curator.ledger.chain(dataset)]
            jobs = {job.request: job.made for job in house.curator.jobs.newest(limit=10_000)}
            issued[dataset] = [link.issued - jobs[link.request] for link in links]
    assert min(map(min, times.values())) >= FLOOR
    assert chance > FALSE_ALARM, times
    assert alike(issued["meters"], issued["empty"]) > FALSE_ALARM, issued


@pytest.mark.slow
@pytest.mark.usefixtures("slow_disk")
def test_the_same_test_notices_a_service_that_does_not_pace(tmp_path: Path) -> None:
    times: dict[str, list[float]] = {"meters": [], "empty": []}
    with two_tables(tmp_path, Unpaced(), people=25_000) as house:
        warm_up(house)
        noticed = any(measure(house, LEAST, times) < FALSE_ALARM / LOOKS for _ in range(LOOKS))
    assert noticed, times


def test_the_power_is_as_stated() -> None:
    shift = 0.9
    alarm = norm.isf(FALSE_ALARM / 2)
    # The efficiency of ranks against means, for normal times, is 3/pi.
    assert norm.sf(alarm - shift * np.sqrt(CALLS / 2 * 3 / np.pi)) > 0.99
    assert alike(list(range(LEAST)), list(range(1000, 1000 + LEAST))) < FALSE_ALARM / LOOKS


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
