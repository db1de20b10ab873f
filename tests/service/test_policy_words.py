"""A policy in plain sentences, and what its owner may not have meant."""

from __future__ import annotations

import json
from pathlib import Path

from chronodp.cli.curated_town import POLICY
from chronodp.service.policy_file import parse_policy, read_policy
from chronodp.service.policy_words import policy_words
from tests.cli.conftest import run
from tests.service.town import write_policy

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
    path = write_policy(tmp_path)
    told = json.loads(run("curator", "check", str(path), "--json"))
    assert told["datasets"] == ["meters", "other"]
    assert told["warnings"] == []
    assert told["words"]["meters"] == policy_words(read_policy(path).datasets["meters"])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("clip = { 1h = [0.0, 5.0], 1D = [0.0, 5.0] }", "clip = [0.0, 5.0]"), encoding="utf-8")
    said = run("curator", "check", str(path))
    assert "One release may cost at most epsilon 10, counted at the dataset's delta of 1e-06" in said
    assert "Warning: policy.toml, line 25: datasets.meters.columns.kwh.clip is of periods of 1h" in said
