"""What runs the checks: marks that cannot be forgotten, parts that go on after one failed, peers that stop nothing."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from benchmarks import peers
from checks import parts, stamps
from checks.parts import Part
from checks.running import Outcome, run, summary
from tests import rings

FINE = Part("fine", ((sys.executable, "-c", "print('all', 'well')"),))
BROKEN = Part("broken", ((sys.executable, "-c", "raise SystemExit('no')"), (sys.executable, "-c", "print('later')")))
ALONE = Part("alone", ((sys.executable, "-c", "pass"),), alone=True)


def item(*marks: str) -> Any:
    return types.SimpleNamespace(nodeid="a test", get_closest_marker=lambda name: name in marks or None)


def test_a_process_without_its_mark_is_refused() -> None:
    with rings.watched(item("long")), pytest.raises(AssertionError, match="a test starts a process"):
        subprocess.Popen([sys.executable, "-c", "pass"])
    with rings.watched(item("long")), pytest.raises(AssertionError, match="a test starts a process"):
        os.fork()


class Asked:
    """A test that asks for fixtures, as pytest collects it."""

    def __init__(self, *fixtures: str) -> None:
        self.fixturenames, self.marks = fixtures, set[str]()

    def add_marker(self, mark: Any) -> None:
        self.marks.add(getattr(mark, "name", mark))

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


def test_what_is_started_once_is_marked_and_closed_last() -> None:
    page, plain, server = Asked("browser"), Asked(), Asked("postgres")
    collected: Any = [page, plain, server]
    rings.arrange(collected)
    assert collected == [server, plain, page]
    assert page.marks == {"processes", "browser"}


@pytest.mark.processes  # git tells what changed
def test_a_look_at_all_rooms_takes_some_of_many_cases_and_one_at_a_room_takes_all() -> None:
    names = [f"test_a[{number}]" for number in range(8)] + [f"test_b[{number}]" for number in range(3)] + ["test_c"]
    items: Any = [types.SimpleNamespace(nodeid=name) for name in names]
    left = [one.nodeid for one in rings.thin(items, 3)]
    assert left == ["test_a[1]", "test_a[2]", "test_a[4]", "test_a[5]", "test_a[7]"]
    assert [one.nodeid for one in items] == [name for name in names if name not in left]
    assert "CHRONODP_CASES" in parts.quick()[0].environment
    assert "CHRONODP_CASES" not in parts.quick("alerts")[0].environment
    assert all("CHRONODP_CASES" not in part.environment for part in [*parts.test(), *parts.verify()])


@pytest.mark.processes
def test_files_that_the_quick_ring_leaves_out_are_marked_as_a_whole() -> None:
    left = [word.removeprefix("--ignore=") for word in parts.quick()[0].commands[0] if word.startswith("--ignore=")]
    assert "tests/docs/test_looks.py" in left
    assert "tests/contracts/test_rings.py" not in left  # single tests of it are
    marks = [importlib.import_module(path.removesuffix(".py").replace("/", ".")).pytestmark for path in left[:5]]
    named = [{mark.name for mark in (those if isinstance(those, list) else [those])} for those in marks]
    assert all(names & {"processes", "long"} for names in named)
    assert not any(word.startswith("--ignore=") for word in parts.quick("alerts")[0].commands[0])


@pytest.mark.processes
def test_every_part_is_run_and_told_whatever_fails() -> None:
    told: list[Outcome] = []
    outcomes = run([BROKEN, ALONE, FINE], told.append)
    assert {outcome.part.name: outcome.held for outcome in outcomes} == {"broken": False, "alone": True, "fine": True}
    assert told[-1].part is ALONE
    assert next(outcome for outcome in told if outcome.part is BROKEN).output == "no\n"  # and no later command
    text = summary(outcomes)
    assert "all well" in text
    assert text.endswith("Did not hold: broken.")
    assert summary([Outcome(FINE, True, 0.0)]).endswith("before, with the same files\nEverything held.")


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("....\n76 passed, 4 skipped in 384.21s (0:06:24)\nnanobind: leaked 3 types!\n", "76 passed, 4 skipped in"),
        ("== 1 failed, 2 passed in 0.5s ==\n", "1 failed, 2 passed in 0.5s"),
        ("first\nthe last\n\n", "the last"),
        ("", ""),
    ],
)
def test_the_line_that_counts_tests_is_told_whatever_libraries_print_after_it(printed: str, told: str) -> None:
    line = Outcome(FINE, True, 1.0, printed).last_line
    assert line.startswith(told)
    assert told or not line


@pytest.mark.long
def test_what_held_is_left_out_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stamps.Stamps(tmp_path)
    kept.keep(FINE, held=True, output="well")
    kept.keep(BROKEN, held=False, output="no")
    assert (tmp_path / "broken.log").read_text(encoding="utf-8") == "no"
    again = stamps.Stamps(tmp_path)
    assert (again.held(FINE), again.held(BROKEN)) == (True, False)
    kept.keep(ALONE, held=True, output="")
    kept.keep(ALONE, held=False, output="")  # afresh
    assert not again.held(ALONE)
    monkeypatch.setattr(stamps, "fingerprint", lambda _folders: "of other files")
    assert not stamps.Stamps(tmp_path).held(FINE)


@pytest.mark.long
def test_what_reads_a_few_folders_holds_on_while_others_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    for name in ("README.md", "constraints.txt", "src/a.py", "tests/test_a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before", encoding="utf-8")

    def changed_by(name: str) -> list[bool]:
        before = [stamps.fingerprint(folders) for folders in ((), ("src",))]
        (tmp_path / name).write_text(f"{name} changed", encoding="utf-8")
        return [stamps.fingerprint(folders) != then for folders, then in zip(((), ("src",)), before, strict=True)]

    assert changed_by("README.md") == changed_by("tests/test_a.py") == [True, False]
    assert changed_by("constraints.txt") == changed_by("src/a.py") == [True, True]


def test_a_room_reads_what_its_tests_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    texts = {
        "conftest.py": "import pytest",
        "fuzz/test_a.py": "from tests.ledger.victim import die",
        "ledger/victim.py": 'PAGE = ROOT / "docs"',
        "local/test_b.py": '"""Whatever it checks, examples come from nowhere."""',
        "schemas/test_c.py": 'ROOT / "README.md"',
        "docs/test_d.py": "",
    }
    for name, text in texts.items():
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).write_text(text, encoding="utf-8")
    shared = ("src", "tests/golden")
    assert parts.read_by("fuzz") == (*shared, "docs", "tests/conftest.py", "tests/fuzz", "tests/ledger")
    assert parts.read_by("local") == (*shared, "tests/conftest.py", "tests/local")
    assert parts.read_by("schemas") == parts.read_by("docs") == ()


def test_every_file_of_tests_is_in_one_part_of_verify_and_no_name_twice() -> None:
    every = parts.verify()
    assert len(every) == len({part.name for part in every})
    files = {path.relative_to(parts.ROOT).as_posix() for path in (parts.ROOT / "tests").glob("*/**/test_*.py")}
    taken: list[str] = []
    for part in every:
        if part.name.startswith("tests of "):
            given = [word for word in part.commands[0] if word.startswith(("tests/", "--ignore=tests/"))]
            left = {word.removeprefix("--ignore=") for word in given[1:]}
            assert left <= files
            taken += [name for name in files - left if f"{name}/".startswith(f"{given[0]}/")]
    assert sorted(taken) == sorted(files)


@pytest.mark.long
def test_each_topic_is_measured_in_a_part_of_its_own_that_tables_do_not_begin_again() -> None:
    every = importlib.import_module("benchmarks.__main__").NAMES
    assert sorted([*parts.benchmarks(), "hostile"]) == sorted({name.partition(".")[0] for name in every})
    measured = [part for part in parts.verify() if part.name.startswith("benchmark of ")]
    assert len(measured) == len(parts.benchmarks())
    assert all(part.alone and part.reads and "benchmarks" not in part.reads for part in measured)
    assert "benchmarks/noise.py" in measured[0].reads


def test_every_kind_of_odd_texts_is_a_part_and_gets_its_share_of_all() -> None:
    kinds = importlib.import_module("tests.fuzz.targets").KINDS
    assert parts.odd_texts() == sorted(kinds)
    wanted = {f"odd texts, of {kind}": ("make", "verify-fuzz", f"KIND={kind}") for kind in kinds}
    made = {part.name: (part.commands[0][0], *part.commands[0][-2:]) for part in parts.verify() if part.name in wanted}
    assert made == wanted
    share = importlib.import_module("tests.fuzz.__main__").shares
    assert 10**6 <= sum(sum(share(10**6, [kind]).values()) for kind in kinds) < 10**6 + 100
    assert share(10**6, ["table"]).items() <= share(10**6, ["records"]).items() <= share(10**6, []).items()


def test_a_peer_that_cannot_be_had_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command[-1])
        lost = command[-1].startswith(("python-dp", "pipeline-dp"))
        return subprocess.CompletedProcess(command, int(lost), "", "ERROR: No matching distribution" if lost else "")

    monkeypatch.setattr(subprocess, "run", pip)
    assert sorted(peers.install()) == ["pipeline-dp", "python-dp"]
    assert asked == list(peers.names().values())
    assert "python-dp cannot be had here" in capsys.readouterr().err
    assert {"opendp", "jax-privacy", "opacus"} <= set(peers.names())
