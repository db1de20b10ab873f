"""Databases in trouble: locked, read-only, full, disconnected, of another format."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path

import psycopg
import pytest

from chronodp import User
from chronodp.errors import BudgetConflict, LedgerUnavailable
from chronodp.ledger import Budget, Ledger
from chronodp.ledger.tables import FORMAT
from chronodp.privacy import PureCost, dump


def test_a_locked_file_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger(path, timeout=0.3) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            LedgerUnavailable, match=r"budget\.db was locked by another writer for 0.3 s; nothing was spent"
        ):
            ledger.spend("meters", PureCost(0.1), unit=User())
        other.execute("ROLLBACK")
        other.close()
        assert ledger.spend("meters", PureCost(0.1), unit=User()).number == 1


def test_a_locked_row_is_waited_for_and_then_named(postgres: str) -> None:
    with Ledger(postgres, timeout=0.3) as ledger:
        ledger.open("locked", unit=User(), epsilon=1.0)
        with psycopg.connect(postgres) as other:
            other.execute("SELECT * FROM accounts WHERE dataset = 'locked' FOR UPDATE")
            with pytest.raises(LedgerUnavailable, match=r"locked for 0\.3 s; nothing was spent"):
                ledger.spend("locked", PureCost(0.1), unit=User())
        assert ledger.spend("locked", PureCost(0.1), unit=User()).number == 1


def test_a_file_that_cannot_be_written_or_grow(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        connection = ledger._store._connections.get()  # type: ignore[attr-defined]
        connection.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerUnavailable, match="read-only; nothing was spent"):
            ledger.spend("meters", PureCost(0.1), unit=User())
        connection.execute("PRAGMA query_only = OFF")
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        granted = 0
        refusal = ""
        while granted < 1000 and not refusal:
            try:
                ledger.spend("meters", PureCost(0.0001), unit=User(), purpose="x" * 150)
                granted += 1
            except LedgerUnavailable as error:
                refusal = str(error)
        assert "disk is full; nothing was spent" in refusal
        connection.execute("PRAGMA max_page_count = 1000000")
        assert ledger.status("meters").charges == granted
        assert ledger.spend("meters", PureCost(0.1), unit=User()).number == granted + 1


def test_a_connection_lost_in_the_middle_spends_nothing_and_heals(postgres: str) -> None:
    fired: list[str] = []

    def cut(point: str) -> None:
        if point == "debit written" and not fired:
            fired.append(point)
            process = ledger._store._connections.get().info.backend_pid  # type: ignore[attr-defined]
            with psycopg.connect(postgres, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s)", (process,))

    with Ledger(postgres, reached=cut) as ledger:
        ledger.open("lost", unit=User(), epsilon=1.0)
        with pytest.raises(LedgerUnavailable, match="failed or was lost"):
            ledger.spend("lost", PureCost(0.1), unit=User())
        assert fired
        assert ledger.status("lost").charges == 0
        assert ledger.spend("lost", PureCost(0.1), unit=User()).number == 1


def test_a_connection_lost_while_idle_is_made_anew_without_a_word(postgres: str) -> None:
    with Ledger(postgres) as ledger:
        ledger.open("idle", unit=User(), epsilon=1.0)
        process = ledger._store._connections.get().info.backend_pid  # type: ignore[attr-defined]
        with psycopg.connect(postgres, autocommit=True) as admin:
            assert admin.execute("SELECT pg_terminate_backend(%s, 60000)", (process,)).fetchone() == (True,)
        assert ledger.spend("idle", PureCost(0.1), unit=User()).number == 1


def test_a_ledger_of_another_format_is_left_alone(address: str) -> None:
    with Ledger(address) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        store = ledger._store
    for form in (1, FORMAT - 1, FORMAT + 1):
        with store.transaction() as transaction:
            transaction.run("UPDATE ledger_version SET version = ?", (form,))
        with pytest.raises(
            LedgerUnavailable,
            match=f"the tables of this ledger have format {form}, and this chronodp reads format {FORMAT} alone",
        ):
            Ledger(address)
    store.close()


def test_terms_that_were_exchanged_behind_our_back_decide_nothing(address: str) -> None:
    with Ledger(address) as ledger:
        ledger.open("meters", unit=User(), epsilon=9.0)
        spend_once(ledger)
        with ledger._store.transaction() as transaction:
            transaction.run("UPDATE budgets SET terms = ?", (dump(Budget(User(), 1.0)),))
        with pytest.raises(BudgetConflict, match="was replaced"):
            spend_once(ledger)


def spend_once(ledger: Ledger) -> None:
    ledger.spend("meters", PureCost(0.01), unit=User())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is the point of the test
@pytest.mark.slow
def test_a_forked_child_makes_a_connection_of_its_own(address: str) -> None:
    with Ledger(address) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        spend_once(ledger)
        children = [multiprocessing.get_context("fork").Process(target=spend_once, args=(ledger,)) for _ in range(4)]
        for child in children:
            child.start()
        spend_once(ledger)
        for child in children:
            child.join()
        assert [child.exitcode for child in children] == [0] * 4
        spend_once(ledger)
        assert ledger.status("meters").charges == 7


@pytest.mark.kill
def test_many_open_a_new_ledger_at_once(address: str, tmp_path: Path) -> None:
    errors: list[BaseException] = []
    found: set[str] = set()

    def begin() -> None:
        try:
            with Ledger(address, keys=tmp_path / "keys") as ledger:
                found.add(ledger.public_key)
                ledger.open("meters", unit=User(), epsilon=1.0)
                ledger.spend("meters", PureCost(0.01), unit=User())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 1
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        assert ledger.status("meters").charges == 8


def test_what_another_thread_collects_goes_without_a_word(tmp_path: Path) -> None:
    """Python 3.13 warns of connections that nobody closed, and only the thread that opened one may close it."""
    made, collected = threading.Event(), threading.Event()

    def work() -> None:
        ledger = Ledger(tmp_path / "budget.db")
        ledger.open("meters", unit=User(), epsilon=1.0)
        circle: list[object] = [ledger]
        circle.append(circle)
        del ledger, circle
        made.set()
        collected.wait(30.0)

    gc.disable()
    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert made.wait(30.0)
        gc.collect()
    finally:
        gc.enable()
        collected.set()
        thread.join()
