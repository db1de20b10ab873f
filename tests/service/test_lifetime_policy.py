"""Lifetime series in a policy: what is wrong is told with its line, and what was opened keeps its terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronodp.errors import InvalidArgument, NotAllowed
from chronodp.service.issue_rules import IssueAsked
from chronodp.service.policy_file import read_policy
from tests.service.lives import LIFETIMES, charges, month, started, write_life_policy


def test_a_wider_grid_of_data_later_is_the_same_series(tmp_path: Path) -> None:
    path = write_life_policy(tmp_path)
    started(path).close()
    text = path.read_text(encoding="utf-8").replace('start = "2020-01-01"', 'start = "2020-03-01"')
    path.write_text(text.replace("max_periods = 24", "max_periods = 22"), encoding="utf-8")
    later = started(path)
    assert charges(later) == ["load"]
    later.close()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("max_periods = 12", "max_periods = 24", "with other max_periods"),
        ("epsilon = 1.0", "epsilon = 2.0", "with other epsilon"),
        ("clip = [0.0, 3.0]", "clip = [0.0, 2.0]", "with other measure"),
        ('["north", "south"]', '["north"]', "with other groups"),
        ('every = "1mo"', 'every = "2mo"', "with other every"),
        ('tally = "load.tally"', 'tally = "load.tally"\npays = "share"', "with other pays"),
    ],
)
def test_a_policy_with_other_terms_than_were_opened_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    started(write_life_policy(tmp_path)).close()
    assert LIFETIMES.count(old) == 1
    with pytest.raises(InvalidArgument, match=words):
        started(write_life_policy(tmp_path, lifetimes=LIFETIMES.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("clip = [0.0, 3.0]", "", ("load", "clip")),
        ('measure = "sum"', 'measure = "total"', ("load.measure", "count, sum")),
        ('every = "1mo"', 'every = "1month"', ("load.every",)),
        ("max_periods = 12", "max_periods = 0", ("load.max_periods",)),
        ('tally = "load.tally"', "", ("load.tally", "given")),
        ('analysts = ["ana"]', 'analysts = ["zoe"]', ("load.analysts", "ana, ben")),
        ('analysts = ["ana"]', "times = 0", ("load.times", "at least 1")),
        ('analysts = ["ana"]', "widest = [0.0, 2.0]", ("load.widest", "at least as wide")),
        ('analysts = ["ana"]', 'pays = "none"', ("load.pays", "own, share")),
        ('measure = "sum"', 'measure = "quantiles"', ("quantiles",)),
        ("[datasets.meters.lifetimes.load]", '[datasets.meters.lifetimes."a/b"]', ("a/b", "letters, digits")),
    ],
)
def test_a_mistake_in_a_policy_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read_policy(write_life_policy(tmp_path, lifetimes=LIFETIMES.replace(old, new)))
    said = str(refused.value)
    assert all(word in said for word in words), said


def test_a_budget_that_renews_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"meters\.renews must be left out beside lifetimes"):
        read_policy(write_life_policy(tmp_path, more='renews = "1mo"'))


def test_a_unit_that_is_not_a_person_is_refused(tmp_path: Path) -> None:
    path = write_life_policy(tmp_path)
    text = path.read_text(encoding="utf-8").replace('"user"', '"user_period:1mo"').replace("max_periods = 24\n", "")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"meters\.unit must be User"):
        read_policy(path)


@pytest.mark.parametrize(
    ("lifetimes", "words"),
    [
        (
            LIFETIMES.replace("epsilon = 1.0", "epsilon = 5.0"),
            r"line 42: datasets\.meters\.lifetimes\.load\.epsilon.*4 at",
        ),
        (
            LIFETIMES.replace("delta = 1e-6", "delta = 1e-4"),
            r"lifetimes\.load\.delta must be at most that of the dataset",
        ),
        # Each alone is within the budget, and both are not.
        (
            LIFETIMES.replace("epsilon = 1.0", "epsilon = 3.8")
            + LIFETIMES.replace("epsilon = 1.0", "epsilon = 3.8").replace("load", "last"),
            r"lifetimes\.last\.epsilon must be small enough",
        ),
    ],
)
def test_series_that_the_budget_cannot_pay_whole_are_told_with_their_line(
    tmp_path: Path, lifetimes: str, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        read_policy(write_life_policy(tmp_path, lifetimes=lifetimes))


@pytest.mark.parametrize("folder", ["load.tally", "load.tally/inner", "LOAD.tally", "linked"])
def test_two_series_have_folders_of_their_own(tmp_path: Path, folder: str) -> None:
    (tmp_path / "load.tally").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "load.tally")
    second = LIFETIMES.replace("load.tally", folder).replace("lifetimes.load", "lifetimes.last")
    second = second.replace("epsilon = 1.0", "epsilon = 0.5")
    with pytest.raises(InvalidArgument, match=r"lifetimes\.last\.tally must be a folder of its own: that of load"):
        read_policy(write_life_policy(tmp_path, lifetimes=LIFETIMES + second))


def test_a_life_that_cuts_off_what_is_usual_is_warned_of(tmp_path: Path) -> None:
    path = write_life_policy(tmp_path)
    assert read_policy(path).warnings == ()
    text = path.read_text(encoding="utf-8").replace("clip = [0.0, 5.0]", "clip = [0.0, 5.0]\nusual = 4.0")
    path.write_text(text, encoding="utf-8")
    (warning,) = read_policy(path).warnings
    assert warning.startswith("policy.toml, line 40: datasets.meters.lifetimes.load.clip cuts off 4, which one person")


def test_an_issue_that_cuts_off_what_is_usual_is_refused(tmp_path: Path) -> None:
    path = write_life_policy(tmp_path)
    text = path.read_text(encoding="utf-8").replace("clip = [0.0, 5.0]", "clip = [0.0, 5.0]\nusual = 2.0")
    path.write_text(text, encoding="utf-8")
    curator = started(path)
    meters = curator.policy.datasets["meters"]
    wide, narrow = (IssueAsked(lifetime="load", **month(0), clip=(0.0, most)) for most in (2.5, 1.5))
    curator.issue_design(meters, wide)
    with pytest.raises(NotAllowed, match=r"does not allow clip 0 to 1\.5"):
        curator.issue_design(meters, narrow)
    curator.close()
