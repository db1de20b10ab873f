"""Kill -9 in every gap: one debit a round, one update a round, none told that was not paid for."""

from __future__ import annotations

import hashlib
import signal
from pathlib import Path

import pytest

import chronodp as cdp
from tests import forkserver
from tests.conftest import Trials
from tests.federated.people import make_plan, make_trainer

pytestmark = pytest.mark.kill


@pytest.mark.parametrize("point", ["stream written", "stream committed", "step written", "step committed"])
def test_each_round_is_paid_once_and_told_with_one_value(point: str, tmp_path: Path, trials: Trials) -> None:
    rounds, told = make_plan().rounds, dict[str, set[str]]()
    for number in range(trials(20, least=1)):
        victim = forkserver.start("-m", "tests.federated.victim", str(tmp_path), point, str(1 + number % 2))
        died = victim.wait(120.0)
        victim.close()
        with cdp.Ledger(tmp_path / "budget.db") as ledger:
            charges = len(ledger.history("north"))
        file = tmp_path / "told.txt"
        told.clear()
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            round_number, digest = line.split()
            told.setdefault(round_number, set()).add(digest)
        assert all(len(values) == 1 for values in told.values())
        assert len(told) <= charges <= rounds
        if died == 0:
            break
        assert died == -signal.SIGKILL
    plan = make_plan()
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("north", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
        holder = make_trainer(plan, ledger)
        for number in range(1, rounds + 1):
            found = hashlib.sha256(holder.update(number, plan.model.first_parameters()).tobytes()).hexdigest()
            assert told.get(str(number), {found}) == {found}
        assert len(ledger.history("north")) == rounds
