"""A policy says what is wrong with it, on which line, and how to mend it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from chronodp.cli.curated_town import POLICY
from chronodp.errors import BudgetConflict, InvalidArgument
from chronodp.ledger import Ledger
from chronodp.privacy import PureCost, Unit, User, UserPeriod, Window
from chronodp.service.curator import Curator
from chronodp.service.policy_file import parse_policy, read_policy
from chronodp.service.policy_words import policy_words
from tests.cases import raising
from tests.cli.conftest import run
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
        path = write_policy(tmp_path, changes={old: new})
        with raising(InvalidArgument, case=(old, new, words)) as refused:
            read_policy(path)
        said = str(refused.value)
        assert all(word in said for word in words), (old, new, words, said)
        if new:
            line = int(said.partition("line ")[2].partition(":")[0].partition(",")[0])
            assert new.splitlines()[-1] in path.read_text("utf-8").splitlines()[line - 1], (old, new, words)


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


def test_terms_that_conflict_open_nothing_beside_them(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("d3", unit=User(), epsilon=7.0)
    curator = Curator(read_policy(_many(tmp_path, 5)), str(tmp_path / "budget.db"))
    with pytest.raises(BudgetConflict, match="'d3' is open with other terms"):
        curator.open_budgets()
    assert [name for name, _, _ in curator.ledger.budgets()] == ["d3"]
    curator.close()


def test_a_worker_gets_the_policy_as_it_was_read(tmp_path: Path) -> None:
    path = write_policy(tmp_path)
    policy = read_policy(path)
    assert pickle.loads(pickle.dumps(policy)) == policy == parse_policy(path.read_text("utf-8"), folder=tmp_path)
    with pytest.raises(InvalidArgument, match="a file that can be read"):
        read_policy(tmp_path / "nothing.toml")


def _many(folder: Path, datasets: int) -> Path:
    whole = write_policy(folder).read_text(encoding="utf-8")
    other = whole[whole.index("[datasets.other]") :].replace("analysts.ben", "analysts.ana").replace("1.0", "0.5")
    named = (other.replace("datasets.other", f"datasets.d{number}") for number in range(datasets))
    (folder / "many.toml").write_text("\n".join(named), encoding="utf-8")
    return folder / "many.toml"


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
    hourly = f'every = "1h"\ntimezone = "{zone}"'
    unit_of = {'unit = "user"': f'unit = "{text}"\nrenews = "1mo"', "max_periods = 48": "", 'every = "1h"': hourly}
    path = write_policy(tmp_path, changes=unit_of)
    for _ in range(2):  # the same again is no other budget
        curator = Curator(read_policy(path), str(tmp_path / "budget.db"))
        curator.open_budgets()
        budget = curator.ledger.status("meters").budget
        assert (budget.unit, budget.zone) == (unit, zone)
        curator.ledger.close_connection()


def test_a_budget_that_is_open_keeps_its_meaning(tmp_path: Path) -> None:
    policy = read_policy(
        write_policy(tmp_path, changes={'unit = "user"': 'unit = "window:24"', "max_periods = 48": ""})
    )
    meters = policy.datasets["meters"]
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=Window(24), epsilon=meters.epsilon, delta=meters.delta)
        ledger.spend("meters", PureCost(0.01), unit=Window(24))
    curator = Curator(policy, str(tmp_path / "budget.db"))
    curator.open_budgets()
    assert curator.ledger.status("meters").budget.unit == Window(24)
    curator.ledger.close_connection()


def test_a_unit_that_the_grid_contradicts_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_policy(tmp_path, changes={'unit = "user"': 'unit = "window:24@15min"', "max_periods = 48": ""})
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


TOWN = POLICY.format(start="2026-01-01", end="2026-02-01", people=5000, north=2000, south=3000)


def test_a_policy_says_what_may_be_asked_and_what_it_costs(tmp_path: Path) -> None:
    words = policy_words(parse_policy(TOWN, folder=tmp_path).datasets["meters"])
    assert all(sentence.endswith(".") for sentence in words), words
    for sentence in (
        "All answers together cost at most epsilon 8 with delta 1e-06, for ever.",
        "ana may spend at most epsilon 4 with delta 1e-06 of it.",
        "One release may cost at most epsilon 2, counted at the dataset's delta of 1e-06, whatever delta it states.",
        "No release states a delta above 1e-06.",
        "Of each person kwh counts within 0 to 5 in 1h, 0 to 150 in 1D and 0 to 1000 in 1W at most.",
        "At most 744 hours, 31 days or 4 weeks of each person count, unless a question says otherwise.",
        "Those of 1D and 1W are as many as 744 periods of 1h on end can touch.",
        "One person usually has 0.6 in 1h, 15 in 1D and 95 in 1W of kwh: a clip that cuts this off is refused.",
        "Groups of fewer than 100 people are refused, by declared sizes and never by data.",
        "Filters and computed columns are not allowed here.",
        "Bounds are given, and not found by a private step.",
        "Keys are those declared, and not found by a private step.",
        "The private figure of what the limits removed may be asked, within the same price.",
    ):
        assert sentence in words
    assert "town.parquet" not in " ".join(words)


def test_words_follow_what_a_policy_names(tmp_path: Path) -> None:
    text = TOWN.replace("delta = 1e-6", "delta = 1e-6\nreserve = 4e-7\nother_people = true\nusual_periods = 700")
    text = text.replace("epsilon = 2.0 ", "# ").replace(
        "clip = { 1h = [0.0, 5.0], 1D = [0.0, 150.0], ", "clip = { 1h = [0, 5], "
    )
    text = text.replace(
        "least_group = 100",
        (
            'find = ["clip"]\nmissing = false\nplaces = false\nmax_groups = 2\ndelta = 1e-7\n'
            'expression_columns = ["kwh"]\ndiscover = { columns = ["page"], longest = 64, max_keys = 5 }'
        ),
    ).replace("{ 1h = 0.6, 1D = 15.0, 1W = 95.0 }", "0.6")
    policy = parse_policy(text, folder=tmp_path)
    words = policy_words(policy.datasets["meters"])
    for sentence in (
        "The owner says that it is about other people than any dataset that reads the same files.",
        "Of that delta 4e-07 is kept for failures, which finding keys needs.",
        "One release may cost all that is left.",
        "No release states a delta above 1e-07.",
        "Totals of kwh in periods of 1D are refused: no clip is declared of these.",
        "One person usually has 700 of 1h: fewer periods are refused.",
        "A public tree of places may not be asked with all of its levels.",
        "One person may count in at most 2 groups of a period.",
        "Rows may be chosen, and columns made, by expressions over kwh, which may call nothing.",
        "A private step may find clip, as a part of the price; a clip within the widest.",
        "A private step may find and publish keys of page that enough people hold, of at most 64 bytes; of one person "
        "5 count at most.",
        "The private figure of what the limits removed may not be asked.",
    ):
        assert sentence in words, words
    assert len(policy.warnings) == 1


def test_a_policy_is_checked_in_words_with_warnings(tmp_path: Path) -> None:
    path = write_policy(tmp_path, changes={CLIPS: "clip = [0.0, 5.0]"})
    told = json.loads(run("curator", "check", str(path), "--json"))
    assert told["words"]["meters"] == policy_words(read_policy(path).datasets["meters"])
    assert told["warnings"][0].startswith("policy.toml, line 25: datasets.meters.columns.kwh.clip is of periods of 1h")
    assert f"Warning: {told['warnings'][0][:40]}" in run("curator", "check", str(path))
