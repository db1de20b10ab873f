"""A policy says what is wrong with it, on which line, and how to mend it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from chronodp.cli.curated_town import POLICY
from chronodp.errors import BudgetConflict, InvalidArgument
from chronodp.ledger import Ledger
from chronodp.privacy import PureCost, Unit, User, UserPeriod, Window
from chronodp.service import opening, read_policy
from chronodp.service.curator import Curator
from chronodp.service.policy_file import parse_policy
from tests.cases import raising
from tests.service.town import ROOT, write_policy

DATASET = 'source = "a"\ntime = "b"\nevery = "1D"\nstart = 1\nend = 2\nunit = "user"\nepsilon = 1'
CLIPS = "clip = { 1h = [0.0, 5.0], 1D = [0.0, 5.0] }"


def test_a_mistake_is_told_with_its_line_and_the_mend(tmp_path: Path) -> None:
    cases: list[tuple[str, str, tuple[str, str]]] = [
        ('every = "1h"', 'every = "1x"', ("meters.every", "a period")),
        ('end = "2026-01-03"', 'end = "2025-01-03"', ("meters.end", "after the start")),
        ('end = "2026-01-03"', "", ("meters.end", "")),
        ('unit = "user"', 'unit = "person"', ("meters.unit", "user, event")),
        ("max_periods = 48", "max_periods = 0", ("meters.max_periods", "1 to 48")),
        ("max_periods = 48", "", ("meters", "how many periods")),
        (CLIPS, "clip = [5.0, 0.0]", ("columns.kwh.clip", "two numbers")),
        (CLIPS, 'clip = "wide"', ("columns.kwh.clip", "two numbers")),
        (CLIPS, "clip = {}", ("columns.kwh.clip", "for each length")),
        (CLIPS, "clip = { 1h = [0, 5], 1D = 5 }", ("columns.kwh.clip.1D", "two numbers")),
        (CLIPS, "clip = { 1h = [0, 5], 24h = [0, 9] }", ("columns.kwh.clip.24h", "offered: 1h, 1D")),
        (CLIPS, "clip = { 1D = [0, 5] }", ("columns.kwh.clip", "given for 1h too")),
        (CLIPS, "clip = [0, 5]\nusual = 7", ("columns.kwh.usual", "within the widest clip")),
        (CLIPS, "clip = [0, 5]\nusual = { 1D = true }", ("columns.kwh.usual.1D", "a number")),
        ("max_periods = 48", "max_periods = { 1h = 48, 1D = 0 }", ("max_periods.1D", "at least 1")),
        ("max_periods = 48", "max_periods = { 1D = 2 }", ("meters.max_periods", "given for 1h too")),
        ("max_periods = 48", "max_periods = 24\nusual_periods = 25", ("meters.usual_periods", "24 of 1h")),
        ("epsilon = 10.0", "delta = 1e-5", ("allow.delta", "at most that of the dataset")),
        ("epsilon = 10.0", 'find = ["clips"]', ("allow.find", "true, false")),
        ("epsilon = 10.0", "max_groups = 0", ("allow.max_groups", "at least 1")),
        ("north = 40, south = 20", "north = 40, south = -1", ("groups.region", "public keys")),
        ("{ north = 40, south = 20 }", '["north", "south"]', ("groups.region", "how many people")),
        ("people = 60", "", ("meters.people", "declared")),
        ('grids = ["1h", "1D"]', "grids = 1", ("allow.grids", "list of texts")),
        ("epsilon = 8.0", "epsilon = -8.0", ("meters.epsilon", "at least 0")),
        ("epsilon = 8.0", 'epsilon = "8"', ("meters.epsilon", "a number")),
        ("epsilon = 8.0", f"epsilon = 1{400 * '0'}", ("meters.epsilon", "a number")),
        ("epsilon = 8.0", "epsilon = inf", ("meters.epsilon", "a number")),
        ("share = true", 'share = "yes"', ("meters.share", "true or false")),
        ("share = true", "shared = true", ("meters.shared", "(perhaps share)")),
        ("floor = 0.05", "floor = 0", ("service.floor", "0.01")),
        ("[datasets.meters.analysts.ana]", '[datasets.meters.analysts."a/b"]', ("a/b", "letters, digits")),
        ('title = "Test"', "title = ", ("TOML", "line 3")),
    ]
    for old, new, words in cases:
        path = write_policy(tmp_path)
        text = path.read_text(encoding="utf-8")
        assert old in text, (old, new, words)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with raising(InvalidArgument, case=(old, new, words)) as refused:
            read_policy(path)
        said = str(refused.value)
        assert all(word in said for word in words), (old, new, words, said)
        if new:
            line = int(said.partition("line ")[2].partition(":")[0].partition(",")[0])
            assert new.splitlines()[-1] in text.replace(old, new, 1).splitlines()[line - 1], (old, new, words)


def test_terms_never_change_under_the_same_name(tmp_path: Path) -> None:
    ledger = str(tmp_path / "budget.db")
    first = Curator(read_policy(write_policy(tmp_path)), ledger)
    first.open_budgets()
    first.open_budgets()
    first.close()
    second = Curator(read_policy(write_policy(tmp_path, epsilon=9.0)), ledger)
    with pytest.raises(BudgetConflict, match="other terms"):
        second.open_budgets()
    second.close()


def test_many_budgets_are_opened_in_few_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    curator = Curator(read_policy(_many(tmp_path, 30)), str(tmp_path / "budget.db"))
    transaction = curator.ledger._store.transaction

    def counted() -> Any:
        begun.append(1)
        return transaction()

    monkeypatch.setattr(curator.ledger._store, "transaction", counted)
    monkeypatch.setattr(opening, "_TOGETHER", 10)
    curator.open_budgets()
    assert len(begun) == 3
    opened = {(name, analyst): budget for name, analyst, budget in curator.ledger.budgets()}
    assert len(opened) == 60
    with Ledger(tmp_path / "other.db") as ledger:  # one by one, as anybody would
        meters = curator.policy.datasets["d7"]
        ledger.open("d7", unit=meters.unit.on(meters.calendar), epsilon=meters.epsilon, delta=meters.delta)
        ledger.allot("d7", "ana", epsilon=0.5, delta=meters.delta)
        assert {(name, analyst): budget for name, analyst, budget in ledger.budgets()} == {
            key: opened[key] for key in (("d7", ""), ("d7", "ana"))
        }
    curator.close()


def test_terms_that_conflict_open_nothing_beside_them(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("d3", unit=User(), epsilon=7.0)
    curator = Curator(read_policy(_many(tmp_path, 5)), str(tmp_path / "budget.db"))
    with pytest.raises(BudgetConflict, match="'d3' is open with other terms"):
        curator.open_budgets()
    assert [name for name, _, _ in curator.ledger.budgets()] == ["d3"]
    curator.close()


def test_a_worker_gets_the_policy_as_it_was_read(tmp_path: Path) -> None:
    policy = read_policy(write_policy(tmp_path))
    assert pickle.loads(pickle.dumps(policy)) == policy


def _many(folder: Path, datasets: int) -> Path:
    whole = write_policy(folder).read_text(encoding="utf-8")
    other = whole[whole.index("[datasets.other]") :].replace("analysts.ben", "analysts.ana").replace("1.0", "0.5")
    named = (other.replace("datasets.other", f"datasets.d{number}") for number in range(datasets))
    (folder / "many.toml").write_text("\n".join(named), encoding="utf-8")
    return folder / "many.toml"


def test_the_policy_for_newcomers_reads(tmp_path: Path) -> None:
    text = POLICY.format(start="2026-01-01", end="2026-02-01", people=100, north=40, south=60)
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    assert read_policy(tmp_path / "policy.toml").analysts == ("ana", "ben")
    with pytest.raises(InvalidArgument, match="a file that can be read"):
        read_policy(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("text", "zone", "unit"),
    [
        ("window:24", "Europe/Berlin", Window(24, every="1h")),
        ("window:24@1h", "UTC", Window(24, every="1h")),
        ("user_period:1D", "Asia/Tokyo", UserPeriod("1D", timezone="Asia/Tokyo")),
        ("user_period:1D@Asia/Tokyo", "UTC", UserPeriod("1D", timezone="Asia/Tokyo")),
    ],
)
def test_a_new_budget_means_the_policys_own_grid(tmp_path: Path, text: str, zone: str, unit: Unit) -> None:
    path = write_policy(tmp_path)
    policy = path.read_text(encoding="utf-8").replace('unit = "user"', f'unit = "{text}"\nrenews = "1mo"', 1)
    path.write_text(
        policy.replace('every = "1h"', f'every = "1h"\ntimezone = "{zone}"').replace("max_periods = 48", "")
    )
    for _ in range(2):  # the same again is no other budget
        curator = Curator(read_policy(path), str(tmp_path / "budget.db"))
        curator.open_budgets()
        budget = curator.ledger.status("meters").budget
        assert (budget.unit, budget.zone) == (unit, zone)
        curator.ledger.close_connection()


def test_a_budget_that_is_open_keeps_its_meaning(tmp_path: Path) -> None:
    path = write_policy(tmp_path)
    text = (
        path.read_text(encoding="utf-8")
        .replace('unit = "user"', 'unit = "window:24"', 1)
        .replace("max_periods = 48", "")
    )
    path.write_text(text)
    policy = read_policy(path)
    meters = policy.datasets["meters"]
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=Window(24), epsilon=meters.epsilon, delta=meters.delta)
        ledger.spend("meters", PureCost(0.01), unit=Window(24))
    curator = Curator(policy, str(tmp_path / "budget.db"))
    curator.open_budgets()
    assert curator.ledger.status("meters").budget.unit == Window(24)
    curator.ledger.close_connection()


def test_a_unit_that_the_grid_contradicts_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_policy(tmp_path)
    text = path.read_text(encoding="utf-8").replace('unit = "user"', 'unit = "window:24@15min"')
    path.write_text(text.replace("max_periods = 48", ""))
    with pytest.raises(InvalidArgument, match=r"meters.unit.*of periods of this grid"):
        read_policy(path)


def test_every_key_is_in_the_reference(tmp_path: Path) -> None:
    cases: list[tuple[str, str]] = [
        ("service", ""),
        ("service.edge", ""),
        ("datasets.b", DATASET),
        ("datasets.a.columns.b", "clip = [0, 1]"),
        ("datasets.a.allow", ""),
        ("datasets.a.allow.discover", 'columns = ["b"]'),
        ("datasets.a.analysts.b", "epsilon = 1"),
        ("datasets.a.reading", ""),
    ]
    for table, needed in cases:
        text = f"[datasets.a]\n{DATASET}\n[{table}]\n{needed}\nqqqqqq = 1\n"
        with raising(InvalidArgument, match="must be one of", case=(table, needed)) as refused:
            parse_policy(text, folder=tmp_path)
        keys = str(refused.value).partition("must be one of ")[2].partition(";")[0].split(", ")
        page = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
        assert [
            key for key in keys if f"`{key}`" not in page and f"{key}," not in page and f"{key} }}" not in page
        ] == [], (table, needed)


def test_one_clip_is_that_of_the_datasets_own_periods(tmp_path: Path) -> None:
    path = write_policy(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(CLIPS, "clip = [0.0, 5.0]"), encoding="utf-8")
    policy = read_policy(path)
    assert policy.datasets["meters"].columns["kwh"].clips == {"1h": (0.0, 5.0)}
    assert policy.datasets["meters"].allowed.delta == 1e-6
    assert policy == parse_policy(path.read_text(encoding="utf-8"), folder=tmp_path)


def many(wrong: str = "") -> str:
    """Return a policy of three datasets that are alike, the last with something else."""
    one = (
        '[datasets.{name}]\nsource = "{name}.parquet"\ntime = "at"\nuser = "who"\nevery = "1h"\nstart = "2026-01-01"\n'
        'end = "2026-01-03"\nunit = "user"\nmax_periods = 48\nepsilon = 8.0\ndelta = 1e-6\nanalysts.ana.epsilon = 4.0\n'
    )
    texts = [one.format(name=name) for name in ("north", "south", "west")]
    old, _, new = wrong.partition(" -> ")
    assert old in texts[-1]
    return "".join(texts[:-1]) + texts[-1].replace(old, new or old)


def test_what_datasets_have_in_common_is_made_once(tmp_path: Path) -> None:
    north, south, west = parse_policy(many(), folder=tmp_path).datasets.values()
    assert north.calendar is south.calendar is west.calendar
    assert north.series().calendar is north.calendar


def test_one_wrong_dataset_among_many_is_refused_by_its_own_line(tmp_path: Path) -> None:
    cases: list[tuple[str, str]] = [
        ("max_periods = 48 -> max_periods = 49", "west.max_periods"),
        ('user = "who" -> people = 3', "column with the person"),
        ('time = "at" -> time = ""', "west.time"),
        ('end = "2026-01-03" -> end = "2026-01-03T00:30"', "west.end"),
        ("delta = 1e-6 -> delta = 1e-6\nreserve = 1e-6", "west.reserve"),
        ("ana.epsilon = 4.0 -> ana.epsilon = 0.0", "west.analysts.ana.epsilon"),
    ]
    for wrong, words in cases:
        with raising(InvalidArgument, case=(wrong, words)) as refused:
            parse_policy(many(wrong), folder=tmp_path)
        assert words in str(refused.value), (wrong, words)
