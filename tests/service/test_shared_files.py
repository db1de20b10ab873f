"""Two datasets on one file would be two budgets for the same people: refused unless the owner says otherwise."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.service.policy import Policy
from chronodp.service.policy_file import read_policy
from chronodp.service.shared_files import _candidates, _Files, _fixed, _one_file, by_name
from tests.cases import raising

DATASET = """
[datasets.{name}]
source = "{source}"
{more}
time = "at"
user = "who"
every = "1D"
start = "2026-01-01"
end = "2026-01-03"
unit = "user"
max_periods = 2
epsilon = 1.0
"""


def read(folder: Path, first: str, second: str, *, more: str = "") -> Policy:
    text = DATASET.format(name="first", source=first, more="") + DATASET.format(name="second", source=second, more=more)
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return read_policy(folder / "policy.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("rows.csv", "2025/jan.csv", "2025/feb.csv", "2026/jan.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("at,who\n", encoding="utf-8")
    (tmp_path / "linked.csv").symlink_to("rows.csv")
    os.link(tmp_path / "rows.csv", tmp_path / "hard.csv")
    (tmp_path / "archive").symlink_to("2025")
    return tmp_path


def pairs(*both: str) -> list[tuple[str, str]]:
    return [(first, second) for first, second in map(str.split, both)]


def test_one_file_for_two_datasets_is_refused(folder: Path) -> None:
    cases = pairs(
        *("rows.csv rows.csv", "rows.csv ./2025/../rows.csv", "rows.csv linked.csv", "rows.csv hard.csv"),
        *("rows.csv r*.csv", "2025/*.csv 2025/jan.csv", "2025/*.csv archive/f*.csv", "2025/j*.csv 2025/*n.csv"),
        *("**/*.csv 2026/jan.csv", "**/jan.csv 2026/**", "later/*.csv later/*.csv", "later/20*.csv later/*26.csv"),
        *("later/[ab]*.csv later/b.csv", "later/a?.csv later/*b.csv"),
        "2025/*.csv archive/later.csv",  # it is not there yet
        "later.csv LATER.csv",  # one file where letters are not told apart
    )
    for first, second in cases:
        words = "policy.toml, line 15: datasets.second.source must be of files that no other dataset reads: first reads"
        for one, other in ((first, second), (second, first)):
            with raising(InvalidArgument, match=words, case=(first, second)) as refused:
                read(folder, one, other)
            assert "other_people = true" in str(refused.value), (first, second)
            assert "csv" not in str(refused.value), (first, second)


def test_other_files_are_another_dataset(folder: Path) -> None:
    cases = pairs(
        *("rows.csv 2025/jan.csv", "2025/*.csv 2026/*.csv", "2025/j*.csv 2025/f*.csv", "*.csv 2025/*.csv"),
        *("later/*_north.csv later/*_south.csv", "later/a?.csv later/a.csv", "**/jan.csv 2025/feb.csv"),
        "later/*.csv later/*.parquet",
    )
    for first, second in cases:
        assert not read(folder, first, second).datasets["second"].other_people, (first, second)


def test_names_that_differ_in_letters_are_told_apart_where_the_disk_does(folder: Path) -> None:
    (folder / "Rows.csv").write_text("at,who\n", encoding="utf-8")
    if (folder / "Rows.csv").samefile(folder / "rows.csv"):
        with pytest.raises(InvalidArgument, match="no other dataset reads"):
            read(folder, "rows.csv", "Rows.csv")
    else:
        assert len(read(folder, "rows.csv", "Rows.csv").datasets) == 2


def test_an_owner_may_say_that_they_are_other_people(folder: Path) -> None:
    policy = read(folder, "rows.csv", "rows.csv", more="other_people = true")
    assert policy.datasets["second"].other_people


PARTS = st.sampled_from(["a", "A", "b", "ab", "*", "a*", "*b", "?", "[ab]", "[a", "**"])


@st.composite
def files(draw: st.DrawFn) -> _Files:
    """Return what a disk may say of a path or pattern."""
    path = ("/", *draw(st.lists(PARTS, min_size=1, max_size=4)))
    there = draw(st.integers(0, len(_fixed(path))))
    known = frozenset((1, number) for number in draw(st.lists(st.integers(0, 3), max_size=2)))
    root = (2, draw(st.integers(0, 1))) if there else None
    return _Files(known, path, root, tuple(part.casefold() for part in path[there:]), len(_fixed(path)))


@given(listed=st.lists(files(), min_size=2, max_size=6))
def test_no_two_that_could_be_one_are_told_apart_by_how_they_begin(listed: list[_Files]) -> None:
    found = _candidates(listed)
    for first, second in itertools.combinations(range(len(listed)), 2):
        one, other = listed[first], listed[second]
        if one.known & other.known or _one_file(one, other):
            assert (first, second) in found


@given(names=st.lists(st.lists(PARTS, min_size=1, max_size=4), min_size=2, max_size=6))
def test_nor_are_names_that_nobody_looked_up(names: list[list[str]]) -> None:
    listed = [by_name("/".join(["/data", *name])) for name in names]
    found = _candidates(listed)
    for first, second in itertools.combinations(range(len(listed)), 2):
        if _one_file(listed[first], listed[second]):
            assert (first, second) in found


@pytest.mark.slow
def test_of_ten_thousand_files_hardly_two_are_compared() -> None:
    listed = [by_name(f"/data/d{number:05d}/*.parquet") for number in range(5000)]
    listed += [by_name(f"/data/one/d{number:05d}-*.parquet") for number in range(5000)]
    assert not _candidates(listed)
