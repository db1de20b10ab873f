"""Every block of code in the pages runs, or is read by the program that it is written for.

Blocks with prompts run as doctests wherever they stand. Of all others each is named here, with the test that runs it; a
block that is named by no test fails.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import pandas as pd
import pytest

from chronodp.cli.live_settings import read_settings
from chronodp.cli.town import write_town
from chronodp.federated.training.plan_file import read_plan
from chronodp.live import KeyLimits
from chronodp.service.question import QueryRequest
from chronodp.service.table_asked import TableAsked
from tests.cli.conftest import run
from tests.docs.pages import ROOT, SHELLS, blocks, pages
from tests.service.town import open_house

HOW_TO = ROOT / "docs/how-to"
RUN = {
    ("README.md", "python"): "tests/packaging/test_first_hour.py",
    ("release-from-spark.md", "python"): "tests/live/test_spark.py",
    ("run-a-curator.md", "toml"): "test_the_curators_policy_and_its_client",
    ("run-a-curator.md", "python"): "test_the_curators_policy_and_its_client",
    ("put-a-curator-online.md", "toml"): "tests/service/test_proxies.py",
    ("put-a-curator-online.md", "nginx"): "tests/service/test_proxies.py",
    ("put-a-curator-online.md", "text"): "tests/service/test_proxies.py",
    ("plan-several-queries.md", "toml"): "test_a_workload",
    ("release-a-series.md", "toml"): "tests/docs/test_walk.py",
    ("run-every-month.md", "toml"): "tests/docs/test_walk.py",
    ("run-every-month.md", "text"): "tests/cli/test_run.py",
    ("give-a-dossier.md", "toml"): "tests/docs/test_walk.py",
    ("keys-in-streams.md", "toml"): "test_the_settings_of_a_stream_of_keys",
    ("run-a-live-stream.md", "toml"): "test_the_settings_of_a_live_stream",
    ("train-a-private-forecaster.md", "toml"): "test_a_training_plan",
    ("train-across-holders.md", "python"): "tests/federated/test_flower.py",
    ("service-api.md", "json"): "test_questions",
    ("service-api.md", "text"): "test_a_table",
}


def plain(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page that no doctest runs, with their languages; commands are typed by a test of their own."""
    found = [
        block for block in blocks(page) if block.language not in {"{include}", "{literalinclude}", "{toctree}", *SHELLS}
    ]
    return [(block.language, block.text) for block in found if not (block.language == "python" and ">>>" in block.text)]


def only(name: str, language: str) -> list[str]:
    return [text for found, text in plain(HOW_TO / name) if found == language]


def test_every_block_has_a_test_that_runs_it() -> None:
    for page in pages():
        for language, _ in plain(page):
            test = RUN[page.name, language]
            assert test in globals() or (ROOT / test).is_file(), page


def test_a_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = only("plan-several-queries.md", "toml")
    monkeypatch.chdir(tmp_path)
    hours = pd.date_range("2026-06-01", periods=72, freq="h", tz="UTC")
    pd.DataFrame({"at": hours, "who": "ann", "kwh": 1.5}).to_parquet("june.parquet")
    Path("month.toml").write_text(text, encoding="utf-8")
    assert "peak" in run("plan", "month.toml")
    run("budget", "open", "meters", "--epsilon", "4", "--delta", "1e-6")
    assert "peak" in run("release", "month.toml", "--dataset", "meters", "--request", "june")


@pytest.mark.slow
def test_the_curators_policy_and_its_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,), (desk, code) = only("run-a-curator.md", "toml"), only("run-a-curator.md", "python")
    monkeypatch.chdir(tmp_path)
    Path("readings").mkdir()
    write_town(Path("readings/january.parquet"), households=20, progress=lambda _: None)
    policy = Path("policy.toml")
    policy.write_text(text, encoding="utf-8")
    assert "meters" in run("curator", "check", "policy.toml")
    policy.write_text(text.replace(" = 2.0 ", " = 0.1 "), encoding="utf-8")
    with open_house(policy, "budget.db") as house:
        url = str(house.http.base_url)
        names: dict[str, object] = {}
        exec(desk.replace("https://curator.example:8321", url).replace("cdp_...", house.tokens["olga"]), names)
        assert str(names["kim"]).startswith("cdp_")
        names["client"].__exit__(None, None, None)  # type: ignore[attr-defined]
        code = code.replace("https://curator.example:8321", url)
        exec(code.replace("cdp_...", house.tokens["ana"]), names)
        with names["client"]:  # type: ignore[attr-defined]
            pass  # its connections end here
    assert len(names["release"].to_pandas()) == 31 * 24 * 2  # type: ignore[attr-defined]


def test_the_settings_of_a_live_stream(tmp_path: Path) -> None:
    (text,) = only("run-a-live-stream.md", "toml")
    file = tmp_path / "visits.toml"
    file.write_text(text, encoding="utf-8")
    read_settings(file)
    file.write_text(text.replace("\n# ", "\n"), encoding="utf-8")  # what is there to be taken up is right as well
    read_settings(file)


def test_the_settings_of_a_stream_of_keys(tmp_path: Path) -> None:
    (text,) = only("keys-in-streams.md", "toml")
    file = tmp_path / "pages.toml"
    file.write_text(text, encoding="utf-8")
    limits = read_settings(file).limits("2026-01-01")
    assert isinstance(limits, KeyLimits)
    assert limits.design(epsilon=1.0, delta=1e-6).look_steps[:3] == (29, 59, 89)


@pytest.mark.slow
def test_a_training_plan(tmp_path: Path) -> None:
    (text,) = only("train-a-private-forecaster.md", "toml")
    file = tmp_path / "plan.toml"
    file.write_text(text, encoding="utf-8")
    assert read_plan(file).plan.epsilon <= 4.0


def test_questions() -> None:
    found = plain(ROOT / "docs/reference/service-api.md")
    asked = [QueryRequest.model_validate(json.loads(text)) for language, text in found if language == "json"]
    assert [question.epsilon for question in asked] == [0.5, 1.0, 1.0, 1.0]


def test_a_table() -> None:
    page = ROOT / "docs/reference/service-api.md"
    (text,) = (text for language, text in plain(page) if language == "text")
    said = parse_qs(text.strip().partition("?")[2])
    asked = TableAsked.model_validate({name: of if name == "baseline" else of[0] for name, of in said.items()})
    assert asked.reading.change == ("2026-01-05", "2026-02-01")
    told = page.read_text(encoding="utf-8").partition("**A table**")[2]
    for name, described in TableAsked.model_fields.items():
        assert f"`{described.alias or name}=" in told or f"&{name}=" in told, name
