"""Eight processes on one budget."""

from __future__ import annotations

import time

import pytest

from chronodp import User
from chronodp.ledger import Ledger
from tests import forkserver
from tests.conftest import SCALE, Trials

pytestmark = pytest.mark.kill

_ENOUGH = 200  # debits, of which each process should have some
_PATIENCE = 40.0  # seconds


def crowd(address: str, seconds: float, sigma: float) -> list[tuple[int, float, int]]:
    begin = str(time.time() + 0.5)
    words = ("-m", "tests.ledger.spender", address, begin, str(seconds), str(sigma))
    programs = [forkserver.start(*words) for _ in range(8)]
    lines = [program.communicate(timeout=seconds + 60)[0].split() for program in programs]
    return [(int(granted), float(longest), int(refused)) for granted, longest, refused in lines]


def check_totals(address: str, granted: int) -> None:
    with Ledger(address) as ledger:
        status = ledger.status("crowd")
        with ledger._store.transaction() as transaction:
            rows = transaction.run("SELECT number, amounts FROM charges WHERE dataset = 'crowd' ORDER BY number")
            ((spent,),) = transaction.run("SELECT spent_0 FROM accounts WHERE dataset = 'crowd'")
    assert status.charges == len(rows) == granted
    assert [int(row[0]) for row in rows] == list(range(1, granted + 1))
    assert int(spent) == sum(int(row[1].strip("[]").split(",")[0]) for row in rows)
    assert int(spent) <= status.budget.filter.ceilings[0]


def test_every_granted_debit_is_counted_once_and_everyone_gets_a_share(address: str, trials: Trials) -> None:
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=4.0, delta=1e-6)
    seconds, before = trials(10), 0
    while True:
        results = crowd(address, seconds=seconds, sigma=1e5)
        total = sum(granted for granted, _, _ in results)
        check_totals(address, before + total)
        assert max(longest for _, longest, _ in results) < 10.0  # else the time-out would have spoken
        if total >= _ENOUGH or seconds > _PATIENCE:
            break
        seconds, before = 4 * seconds, before + total  # too few to speak of shares: the machine is busy
    if "://" in address:
        assert min(granted for granted, _, _ in results) >= total / 8 / 10


def test_a_race_for_the_last_of_a_budget_stops_exactly_there(address: str) -> None:
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=1.0, delta=1e-6)
        limit = ledger.status("crowd").budget.filter.ceilings[0]
    results = crowd(address, seconds=300.0, sigma=50.0)  # each ends when it is refused, however slow the machine
    with Ledger(address) as ledger:
        from chronodp.privacy import GaussianCost

        each = ledger.status("crowd").budget.filter.amounts(GaussianCost(1.0, 50.0))[0]
    total = sum(granted for granted, _, _ in results)
    assert total == limit // each
    assert all(refused == 1 for _, _, refused in results)
    check_totals(address, total)


def test_threads_of_one_ledger_share_it(address: str) -> None:
    import threading

    from chronodp.privacy import GaussianCost

    granted, seconds = [], 1.0 if SCALE >= 1 else 0.3
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=4.0, delta=1e-6)

        def work() -> None:
            stop, mine = time.time() + seconds, 0
            while time.time() < stop:
                ledger.spend("crowd", GaussianCost(1.0, 1e5), unit=User())
                mine += 1
            granted.append(mine)
            ledger.close_connection()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check_totals(address, sum(granted))
