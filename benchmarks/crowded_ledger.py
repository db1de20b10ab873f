"""A curator's database as it stands after years: many datasets, jobs and releases, written straight into its tables.

Every release has its charges, its request and a signed link that follows the one before it: what a reader checks
holds. The text is that of one real release, since what is measured is how it is found.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas

from chronodp import TimeSeries, User
from chronodp.ledger import BEGINNING, Keys, Ledger, Link, SignedLink, Store, Transaction, digest, open_store
from chronodp.ledger.claims import count_claim
from chronodp.ledger.filters import CAP
from chronodp.privacy import Certificate, dump
from chronodp.service.tables import open_tables

__all__ = ["LARGE", "MINE", "Size", "fill_ledger", "name_of", "write_policy"]

LARGE = "d0000"
"""The dataset with half of all releases, which are not shared."""

MINE = 8
"""How many of them are ana's: the oldest."""

_ANALYSTS = ("ana", "ben", "cem", "dea", "eli")
_TRANSACTION = 2_000  # releases
_BLANKS: tuple[str, int, str, str, int] = ("(dataset)", 8_888_888_881, "(previous)", "(request)", 8_888_888_882)
_STATES = ("done",) * 7 + ("refused", "failed", "lost")
_PROBLEM = json.dumps({"kind": "budget_exhausted", "message": "the budget cannot pay it", "mend": "ask for less"})

_POLICY = """
[datasets.{name}]
source = "{name}.csv"
time = "read_at"
user = "meter"
every = "1h"
start = "2026-01-01"
end = "2026-01-03"
unit = "user"
max_periods = 48
people = 60
epsilon = 1e6
delta = 1e-6
share = {share}

[datasets.{name}.columns.kwh]
clip = [0.0, 5.0]

[datasets.{name}.allow]
grids = ["1h", "1D"]
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is."""

    datasets: int = 1_000
    jobs: int = 10_000
    releases: int = 100_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """One release: of which dataset, whose, by which number of its chain and of its analyst's charges."""

    dataset: str
    who: str
    number: int
    charge: int
    made: int

    @property
    def request(self) -> str:
        return f"{self.who}/r{self.number}"


def name_of(number: int) -> str:
    """Return the name of a dataset."""
    return f"d{number:04d}"


def write_policy(folder: Path, size: Size) -> Path:
    """Write a policy with all datasets, and a row for each."""
    parts = ["[service]\nrate = 1e6\n"]
    for name in map(name_of, range(size.datasets)):
        parts.append(_POLICY.format(name=name, share=str(name != LARGE).lower()))
        parts += [f"[datasets.{name}.analysts.{who}]\nepsilon = 1e6\ndelta = 1e-6\n" for who in _ANALYSTS]
        (folder / f"{name}.csv").write_text("read_at,meter,kwh\n2026-01-01T00:00:00,m1,1.0\n", encoding="utf-8")
    path = folder / "policy.toml"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def fill_ledger(address: str, keys: Path, size: Size) -> None:
    """Write releases and jobs into a ledger whose budgets are open and have paid nothing."""
    with Ledger(address, keys=keys) as ledger:
        template, asked = _Template.make(), list(_asked(size))
        store = open_store(address, timeout=10.0)
        ends = dict.fromkeys((one.dataset for one in asked), BEGINNING)
        for first in range(0, len(asked), _TRANSACTION):
            with store.transaction() as transaction:
                for one in asked[first : first + _TRANSACTION]:
                    ends[one.dataset] = template.write(transaction, ledger.keys, one, ends[one.dataset])
        with store.transaction() as transaction:
            template.settle(transaction, asked, ends)
        store.close()
    _write_jobs(address, asked[-size.jobs :], template.design)


def _asked(size: Size) -> Iterator[_Asked]:
    """Yield the releases, oldest first: one of the large dataset, and one of the others, in turn; some have many."""
    counts: Counter[tuple[str, str]] = Counter()
    chance = np.random.default_rng(7).random(size.releases) ** 3
    for place in range(size.releases):
        name = LARGE if place % 2 else name_of(1 + int(chance[place] * (size.datasets - 1)))
        number = counts[name, ""] = counts[name, ""] + 1
        mine = name == LARGE and number <= MINE
        who = "ana" if mine else _ANALYSTS[1 + place // 2 % (len(_ANALYSTS) - 1)]
        charge = counts[name, who] = counts[name, who] + 1
        yield _Asked(name, who, number, charge, 1_700_000_000_000_000 + place * 60_000_000)


@dataclass(frozen=True, slots=True)
class _Template:
    """One real release, of which all others are copies."""

    text: str
    link: str
    certificate: Certificate
    charge: tuple[str, str, str]
    amounts: tuple[int, ...]
    design: str

    @classmethod
    def make(cls) -> _Template:
        times = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.arange(48), unit="h")
        rows = pandas.DataFrame({"read_at": times, "meter": "m1", "kwh": 1.0})
        series = TimeSeries(
            rows,
            time="read_at",
            user="meter",
            every="1h",
            start="2026-01-01",
            end="2026-01-03",
            unit=User(),
            max_periods=48,
        )
        plan = series.sum("kwh", clip=(0.0, 3.0)).plan(epsilon=0.5, delta=1e-7)
        with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
            ledger.open("one", unit=User(), epsilon=1e6, delta=1e-6)
            plan.release(ledger, dataset="one", request="one")
            (stored,) = ledger.stored.releases("one")
            store = open_store(str(Path(folder) / "budget.db"), timeout=10.0)
            with store.snapshot() as transaction:
                ((cost, unit, amounts),) = transaction.run("SELECT cost, unit, amounts FROM charges")
            store.close()
        link, quanta = stored.signed.link, tuple(json.loads(amounts))
        blank = dump(Link(*_BLANKS, link.release, "never", link.certificate))
        return cls(stored.text, blank, link.certificate, (cost, unit, amounts), quanta, dump(plan.design))

    def write(self, transaction: Transaction, keys: Keys, one: _Asked, previous: str) -> str:
        """Write a release with its charges to the whole and to a part; return the digest of its link."""
        for analyst, number in (("", one.number), (one.who, one.charge)):
            transaction.run(
                "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
                "VALUES (?, ?, '', ?, ?, ?, ?, ?, ?)",
                (one.dataset, analyst, number, *self.charge, one.request, one.made),
            )
        body = self.link
        for blank, value in zip(_BLANKS, (one.dataset, one.number, previous, one.request, one.made), strict=True):
            body = body.replace(json.dumps(blank), json.dumps(value))
        signed = SignedLink(body, keys.sign(body.encode()))
        transaction.run(
            "INSERT INTO links (dataset, number, body, signature, digest) VALUES (?, ?, ?, ?, ?)",
            (one.dataset, one.number, signed.body, signed.signature, signed.digest),
        )
        transaction.run(
            "INSERT INTO requests (dataset, request, fingerprint, made, link, release, kind) "
            "VALUES (?, ?, 'made', ?, ?, ?, 'release')",
            (one.dataset, one.request, one.made, one.number, self.text),
        )
        count_claim(transaction, one.dataset, one.request, self.certificate)
        return signed.digest

    def settle(self, transaction: Transaction, asked: list[_Asked], ends: dict[str, str]) -> None:
        """Write what accounts and chains come to."""
        counts = Counter((one.dataset, who) for one in asked for who in ("", one.who))
        for (dataset, analyst), count in counts.items():
            sums = [min(CAP, count * amount) for amount in self.amounts]
            columns = ", ".join(f"spent_{place} = ?" for place in range(len(sums) - 1))
            transaction.run(
                f"UPDATE accounts SET {columns}, reserved = ?, charges = ? WHERE dataset = ? AND analyst = ?",
                (*sums, count, dataset, analyst),
            )
        for dataset, end in ends.items():
            transaction.run(
                "INSERT INTO chains (dataset, number, digest) VALUES (?, ?, ?)", (dataset, counts[dataset, ""], end)
            )


def _write_jobs(address: str, asked: list[_Asked], design: str) -> None:
    store: Store = open_tables(address)
    question = json.dumps({"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}, "epsilon": 0.5})
    with store.transaction() as transaction:
        for place, one in enumerate(asked):
            state = _STATES[place % len(_STATES)]
            transaction.run(
                "INSERT INTO service_jobs (id, dataset, request, analyst, source, question, design, state, worker, "
                "lease, made, ended, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?, ?)",
                (
                    digest(f"{one.dataset} {one.request}")[:24],
                    *(one.dataset, one.request, one.who, one.request, question, design, state),
                    *(one.made, one.made + 1_000_000, None if state == "done" else _PROBLEM),
                ),
            )
    store.close()
