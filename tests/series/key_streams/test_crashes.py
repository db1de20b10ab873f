"""Kill -9 in every gap of a step, on both stores: the same keys at the same steps, to the last digit."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest
from tests import forkserver
from tests.conftest import Trials
from tests.ledger.conftest import fresh_database
from tests.series.key_streams.victim import HORIZON, LOOKS, as_line, pairs_of

from chronodp import Ledger, User
from chronodp.randomness import seeded
from chronodp.series.key_streams import KeyStream

pytestmark = pytest.mark.kill

POINTS = ("step written", "step committed", "step marked")


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return fresh_database(request.getfixturevalue("postgres"))


def opened(ledger: Ledger) -> KeyStream:
    """Two streams with one seed are one stream twice: what the second tells shows whether the first was broken."""
    ledger.open("web", unit=User(), epsilon=4.0, delta=1e-3, reserve=5e-4)
    return KeyStream(
        unit=User(), horizon=HORIZON, looks=LOOKS, max_keys=3, epsilon=2.0, delta=1e-3, ledger=ledger, dataset="web",
        name="pages", entropy=seeded(5),
    )  # fmt: skip


def test_a_killed_stream_tells_the_same_keys_at_the_same_steps(address: str, tmp_path: Path, trials: Trials) -> None:
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        opened(ledger)
    chance = random.Random(2)
    for number in range(trials(30, least=len(POINTS) + 1)):
        died = forkserver.run(
            *("-m", "tests.series.key_streams.victim", address, str(tmp_path)),
            *(POINTS[number % len(POINTS)], str(chance.randint(1, 3))),
        )
        assert died.returncode in (-signal.SIGKILL, 0), died.stderr
        if not died.returncode:
            break
    last = forkserver.run("-m", "tests.series.key_streams.victim", address, str(tmp_path), "", "0")
    assert last.returncode == 0, last.stderr
    with Ledger(tmp_path / "unbroken.db") as whole:
        live = opened(whole)
        lines = [as_line(live.step(pairs_of(step))) for step in range(HORIZON)]
        assert len(live.keys) >= 3
    announced = (tmp_path / "told.txt").read_text(encoding="utf-8").splitlines()
    by_step = {json.loads(line)[0]: line for line in announced}
    assert len(by_step) == len(announced)  # no step was announced twice
    assert by_step.items() <= dict(enumerate(lines)).items()  # who died after the commit told nobody
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        resumed = KeyStream.resume(ledger, "pages")
        assert resumed.finished
        stored = {answer.period: as_line(answer) for answer in resumed.released()}
        assert ledger.status("web").charges == 1
    assert stored == {step: line for step, line in enumerate(lines) if json.loads(line)[1] is not None}
