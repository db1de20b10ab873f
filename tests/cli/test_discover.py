"""Keys that are found, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from chronodp.series import Release
from tests.cli.conftest import run

FLAGS = (
    *("views.parquet", "--time", "at", "--user", "who"),
    *("--every", "1D", "--start", "2026-01-01", "--end", "2026-01-05"),
    *("--max-periods", "1", "--count", "--epsilon", "2", "--delta", "1e-6"),
)
DISCOVER = ("--discover", "page", "--max-keys", "3")
ODD = ("a\nb", "\x1b[31mred", "nul\x00", "nul", "<b>bold</b>", "📈", 'q"uo,te')
FILE = """
data = "views.parquet"
time = "at"
user = "who"
every = "1D"
start = 2026-01-01
end = 2026-01-05
max_periods = 1
count = true
epsilon = 2.0
delta = 1e-6
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with views of odd pages, a page that one person alone has, and an open budget."""
    monkeypatch.chdir(tmp_path)
    rows = [
        (f"p{at}-{who}", f"2026-01-0{1 + (who + at) % 4}", page) for at, page in enumerate(ODD) for who in range(60)
    ]
    rows.append(("loner", "2026-01-01", "lone page"))
    frame = pd.DataFrame(rows, columns=["who", "at", "page"]).assign(rare=lambda table: table["who"])
    frame.assign(region="north").to_parquet("views.parquet")
    run("budget", "open", "web", "--epsilon", "20", "--delta", "1e-5", "--reserve", "4e-6")
    return tmp_path


def test_flags_and_file_find_the_same_keys(shop: Path) -> None:
    (shop / "find.toml").write_text(
        f'{FILE}discover = "page"\nmax_keys = 3\ndiscover_share = 0.1\ndiscover_delta = 1e-7\nmost_keys = 50\n'
        "longest_key = 30\n",
        encoding="utf-8",
    )
    options = ("--discover-share", "0.1", "--discover-delta", "1e-7", "--most-keys", "50", "--longest-key", "30")
    said = json.loads(run("plan", *FLAGS, *DISCOVER, *options, "--json"))
    assert said == json.loads(run("plan", "-c", "find.toml", "--json"))
    discover = {"kind": "discover", "max_keys": 3, "delta": 1e-7, "share": 0.1, "most": 50, "longest": 30}
    assert said["design"]["discover"] == discover
    assert said["half_width"] > 0
    text = " ".join(run("plan", *FLAGS, *DISCOVER).split())
    assert "people hold it and nothing else" in text
    assert "one held by a single person, with probability at most 4e-07" in text
    assert "Missing()" not in text  # beside keys that are found there is none


@pytest.mark.slow
def test_a_release_shows_the_keys_it_found(shop: Path) -> None:
    command = ("release", *FLAGS, *DISCOVER, "--dataset", "web", "--request", "one")
    text = run(*command, "--out", "one.csv", "--out", "one.json", "--out", "one.parquet", "--page", "one.html")
    assert "7 found privately" in text
    assert "\x1b[31m" not in text
    assert r"\x1b[31mred" in text
    assert r"a\nb" in text
    assert r"nul\x00" in text
    made = json.loads(run(*command, "--json"))
    assert made["keys"] == sorted(ODD, key=str.encode)
    assert {row["page"] for row in made["series"]} == set(ODD)
    assert set(pd.read_parquet("one.parquet")["page"]) == set(ODD)
    assert set(Release.load("one.json").to_pandas()["page"]) == set(ODD)
    page = (shop / "one.html").read_text(encoding="utf-8")
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "lone page" not in text + page + json.dumps(made)
    key = run("key", "--ledger", "budget.db").split()[-1]
    assert "Valid" in run("verify", "one.json", "--public-key", key)


def test_published_counts_of_one_period_decide(shop: Path, refuse: Callable[..., str]) -> None:
    flags = [{"1D": "1W", "2026-01-05": "2026-01-08"}.get(flag, flag) for flag in FLAGS]
    asked = (*flags, "--discover", "page", "--max-keys", "3")
    hint = " ".join(run("plan", *asked, "--max-groups", "3").split())
    assert "With share=0 the counts themselves decide" in hint
    text = " ".join(run("plan", *asked, "--discover-share", "0").split())
    assert "the published counts find keys of page themselves" in text
    made = json.loads(
        run("release", *asked, "--discover-share", "0", "--dataset", "web", "--request", "week", "--json")
    )
    assert made["keys"] == sorted(ODD, key=str.encode)
    assert "discover_share must be above 0 for 4 periods" in refuse("plan", *FLAGS, *DISCOVER, "--discover-share", "0")
    (shop / "week.toml").write_text(
        FILE.replace("1D", "1W").replace("2026-01-05", "2026-01-08")
        + 'discover = "page"\nmax_keys = 3\ndiscover_share = 0\n',
        encoding="utf-8",
    )
    said = json.loads(run("plan", "-c", "week.toml", "--json"))
    assert said == json.loads(run("plan", *asked, "--discover-share", "0", "--json"))


def test_what_cannot_be_found_is_refused(refuse: Callable[..., str]) -> None:
    for options, said in [
        (("--discover", "page"), "max_keys is missing"),
        (("--discover", "page", "--max-keys", "0"), "max_keys must be"),
        (("--max-keys", "3"), "discover must be given"),
        (("--most-keys", "3"), "discover must be given"),
        ((*DISCOVER, "--by", "page=a,b"), "keys are given or found"),
        ((*DISCOVER, "--discover-share", "0.95"), "discover_share must be"),
        ((*DISCOVER, "--discover-delta", "1e-6"), "discover_delta must be below the plan's delta"),
        ((*DISCOVER, "--discover-delta", "2"), "discover_delta must be"),
        ((*DISCOVER, "--discover-delta", "1e-7", "--delta", "2"), "delta must be"),
        ((*DISCOVER, "--delta", "0"), "discover_delta is missing"),
        ((*DISCOVER, "--most-keys", "0"), "most_keys must be"),
        ((*DISCOVER, "--longest-key", "0"), "longest_key must be"),
        ((*DISCOVER, "--find", "max_groups"), "find keys first"),
        ((*DISCOVER, "--missing", "0.05"), "missing must be left out"),
        ((*DISCOVER, "--max-groups", "0"), "max_groups"),
    ]:
        assert said in refuse("plan", *FLAGS, *options), options
    assert json.loads(run("diagnose", *FLAGS, *DISCOVER, "--json"))
    assert "keys that are found" in refuse("diagnose", *FLAGS, *DISCOVER, "--bounds")
    flags = [flag for flag in FLAGS if flag not in ("--max-periods", "1")]
    assert "max_keys must be left out" in refuse("plan", *flags, "--unit", "event", *DISCOVER)
    assert "people hold it" in " ".join(run("plan", *flags, "--unit", "event", "--discover", "page").split())


def test_several_queries_refuse_what_is_found_by_one(shop: Path, refuse: Callable[..., str]) -> None:
    shared = FILE.replace("count = true\n", "")
    (shop / "w.toml").write_text(
        f'{shared}discover = "page"\nmax_keys = 3\n[queries.days]\ncount = true\n', encoding="utf-8"
    )
    assert "find them by a plan of its own" in refuse("plan", "w.toml")
    (shop / "bad.toml").write_text(f'{FILE}discover = ["page", "rare"]\nmax_keys = 3\n', encoding="utf-8")
    assert "one column" in refuse("plan", "-c", "bad.toml")
