"""The parts of each ring: what is run, and in which environment."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ROOT", "WORKERS", "Part", "quick", "test", "verify"]

ROOT = Path(__file__).parents[1]
_BIN = Path(sys.executable).parent
_PYTEST = (sys.executable, "-m", "pytest", "--quiet")
# Those that this process may use: of a large machine it may have been given two.
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# Tests with processes wait for them, and for clocks, for a third of their time.
WORKERS = _CORES + 1
# Where there is a process a core, threads of linear algebra wait for each other, and burn time of the processor.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_QUICK = ("-m", "not processes and not long", "--durations", "5", "--durations-min", "1")


@dataclass(frozen=True, slots=True)
class Part:
    """Some commands that are run one after another, until one fails.

    Attributes:
        name: what is looked at.
        commands: as lists of words.
        environment: variables beside those of this process.
        reads: the folders and files that it reads, where those are not all, beside what is installed.
        alone: whether nothing may run beside it.
        live: whether its output is shown as it comes; that of others comes when they end.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    environment: dict[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    alone: bool = False
    live: bool = False


def quick(room: str = "") -> list[Part]:
    """Return style, the types of what changed, and the tests that start no process, of one room or of all."""
    where = (f"tests/{room}", f"src/chronodp/{room}") if room else ("tests", "src")
    tests = (*_PYTEST, *_QUICK, *(() if room else (*_spread(_CORES), *_marked_as_a_whole())), *where)
    # Of tests with many cases a fifth, unless one room is looked at.
    counts = {"CHRONODP_TRIALS": "0.01"} | ({} if room else {"CHRONODP_CASES": "5"})
    parts = [Part("tests", (tests,), _ONE_THREAD | counts, live=True), _style()]
    changed = changed_files(room)
    if changed:
        parts.append(Part("types of what changed", ((str(_BIN / "mypy"), *changed),)))
    return parts


def _marked_as_a_whole() -> list[str]:
    """Return options that leave out files of tests without a quick one: to import them takes each process seconds."""
    marked = re.compile(r"^pytestmark = .*\b(processes|long)\b", re.MULTILINE)
    files = sorted((ROOT / "tests").glob("**/test_*.py"))
    return [f"--ignore={path.relative_to(ROOT)}" for path in files if marked.search(path.read_text(encoding="utf-8"))]


def test() -> list[Part]:
    """Return every check, with small trial counts."""
    return [Part("tests", ((*_PYTEST, *_spread(WORKERS)),), _ONE_THREAD, live=True), *_without_data(_CHECKED)]


def verify() -> list[Part]:
    """Return every check at its stated count: a part a room, so that a run that was cut short goes on where it was."""
    whole = {"CHRONODP_TRIALS": "1", "CHRONODP_SEED": ""}
    hostile = (sys.executable, "-m", "benchmarks.hostile", "--check")
    measured = ("src", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "benchmarks").glob("*.py"))))
    return [
        *_without_data(_WHOLE),
        *(Part(name, ((*_PYTEST, *words),), whole, read_by(room)) for name, room, words in _tested()),
        Part("examples in docstrings and pages", ((*_PYTEST, "src", "README.md", "docs"),), whole),
        _made("Flower", "verify-flower", _TESTED),
        _made("the oldest Spark", "verify-spark35", _TESTED),
        *(_made(f"odd texts, of {kind}", f"verify-fuzz KIND={kind}", _TESTED, alone=True) for kind in odd_texts()),
        Part("hostile strangers", (hostile,), reads=measured, alone=True),
        *(_made(f"benchmark of {name}", f"verify-bench TOPIC={name}", measured, alone=True) for name in benchmarks()),
    ]


_TESTED = ("src", "tests")


def _tested() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name, the room and the words for pytest of files that take longest, and of rooms without those."""
    for room, file in _LONGEST:
        yield f"tests of {room}, {file.replace('_', ' ')}", room, [f"tests/{room}/test_{file}.py"]
    rooms = sorted(path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py")))
    for room in (*_SLOWEST, *(room for room in rooms if room not in _SLOWEST)):
        left = [f"--ignore=tests/{room}/test_{file}.py" for longest, file in _LONGEST if longest == room]
        yield f"tests of {room}", room, [f"tests/{room}", *left]


def odd_texts() -> list[str]:
    """Return the kinds of parsers that get a million odd texts together: a part each, for the same reason."""
    return sorted(path.stem for path in (ROOT / "tests" / "fuzz" / "targets").glob("[a-z]*.py"))


def benchmarks() -> list[str]:
    """Return the files of all topics, in their order: a part each, since an hour is long to begin again.

    That of hostile strangers is a part already, which asks for its figures as well.
    """
    text = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    return [name for name in dict.fromkeys(re.findall(r"^    (\w+)\.measure", text, re.MULTILINE)) if name != "hostile"]


# Begun first, so that none is left alone at the end. A file that takes as long as a room is a part as well, so that a
# run that is cut short loses less.
_LONGEST = (
    ("engines", "spark_equality"),
    ("engines", "equality"),
    ("engines", "neighbours"),
    ("docs", "looks"),
    ("service", "schema"),
    ("fuzz", "parsers"),
    ("correlated", "bounds"),
    ("live", "spark_crashes"),
)
_SLOWEST = ("audit", "engines", "ledger", "live", "service", "statistical", "federated", "temporal", "local")


def read_by(room: str) -> tuple[str, ...]:
    """Return what the tests of a room read: the library, helpers, rooms and folders that they name; nothing means all.

    A change elsewhere does not make them run again, so that hours are not lost to one mended test or page.
    """
    tests = ROOT / "tests"
    every = {path.name for path in tests.iterdir() if path.is_dir()}
    helpers = sorted(tests.glob("*.py"))
    named = [_named(path) for path in helpers]
    read, new = set[str](), {room}
    while new:
        read |= new
        named += [_named(tests / one) for one in new]
        new = ({one for names in named for one in names.rooms} & every) - read
    if room in _READ_ALL or any(names.all for names in named):
        return ()
    folders = [one for one in _FOLDERS if any(one in names.folders for names in named)]
    files = [path.relative_to(ROOT).as_posix() for path in helpers]
    return ("src", "tests/golden", *folders, *files, *sorted(f"tests/{one}" for one in read))


@dataclass(frozen=True, slots=True)
class _Names:
    """What the text of some tests names: rooms of tests, folders, and whether a file that stands for all."""

    rooms: frozenset[str]
    folders: frozenset[str]
    all: bool


@functools.cache
def _named(place: Path) -> _Names:
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return _Names(
        frozenset(re.findall(r"\btests[./](\w+)", text)),
        frozenset(re.findall(rf"(?:[\"'/]|from |import )({'|'.join(_FOLDERS)})\b", text)),
        re.search(r"\b(ARCHITECTURE|CHANGELOG|CONTRIBUTING|README|SECURITY|pyproject)\b", text) is not None,
    )


_READ_ALL = ("contracts", "docs", "examples", "packaging")
_FOLDERS = ("benchmarks", "checks", "docs", "examples", "experiments")


def changed_files(room: str = "") -> list[str]:
    """Return the Python files that differ from the last commit, of one room or of all."""
    told = subprocess.run(
        ["git", "ls-files", "--modified", "--others", "--exclude-standard", "--deduplicate", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [
        name
        for name in told.stdout.splitlines()
        if (ROOT / name).is_file() and (not room or name.startswith((f"src/chronodp/{room}/", f"tests/{room}/")))
    ]


def _spread(processes: int) -> tuple[str, ...]:
    return "-p", "tests.workers", "--workers", str(processes)


def _style() -> Part:
    ruff = str(_BIN / "ruff")
    return Part("style", ((ruff, "format", "--check", "--quiet", "."), (ruff, "check", "--quiet", ".")))


_WHOLE = ("docs", "docs/_build")
_CHECKED = ("--tag", "checked", "docs", "docs/_build/checked")  # every page, and nothing around it


def _without_data(pages: Sequence[str]) -> list[Part]:
    sphinx: Sequence[str] = ("--quiet", "--fail-on-warning", "--keep-going", "--jobs", "auto", *pages)
    return [
        Part("types", ((str(_BIN / "mypy"), "--no-error-summary"),)),
        Part("documentation", ((str(_BIN / "sphinx-build"), *sphinx),)),
        _style(),
        Part("direction of imports", ((str(_BIN / "lint-imports"),),)),
    ]


def _made(name: str, target: str, reads: tuple[str, ...], *, alone: bool = False) -> Part:
    """Return what needs an environment of its own: make builds it, and a failure of that is one of this part."""
    return Part(name, (("make", "--no-print-directory", *target.split()),), reads=reads, alone=alone)
