"""The layer of claims: verdicts are derived, a nudge turns them, broken twins reach every reading."""

from __future__ import annotations

import ast
import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiments.claims import (
    Claim,
    Given,
    Heights,
    Pair,
    Tolerance,
    about_ratio,
    about_share,
    computation,
    datasets,
    printed,
)
from experiments.claims.attribution import missing_tokens
from experiments.claims.computations import broken, computations, used
from experiments.claims.coverage import coverage_page, killed_by
from experiments.claims.page import as_dict, row
from experiments.claims.rules import Rule

import experiments
from experiments import claims as layer

HERE = Path(experiments.__file__).parent

AGREEING: list[tuple[Rule, Any, Any, Tolerance]] = [
    (layer.number, [0.71, 0.69], 0.7, about_share(0.7)),
    (layer.number, [1.4907, 0.8944], [1.49, 0.89], printed("1.49", "0.89")),
    (layer.below, [0.01, 0.04], 0.05, Tolerance()),
    (layer.above, 3.0, 2.0, Tolerance()),
    (layer.bound, [Pair(0.5, 1.0), Pair(1.0, 1.0)], "a bound", Tolerance()),
    (layer.equal, [Pair(1.0, 1.0), Pair(2.0, 2.0 + 1e-12)], "the sum", Tolerance(absolute=1e-9)),
    (layer.argmin_at, Heights([0, 0.5, 1], [3, 1, 2]), 0.5, Tolerance()),
    (layer.falling, [3.0, 2.0, 1.0], None, Tolerance()),
    (layer.rising, [1.0, 2.0], None, Tolerance()),
    (layer.order, [Pair(1.0, 2.0)], "first is less", Tolerance()),
    (layer.most, [Pair(1.0, 2.0), Pair(1.0, 2.0), Pair(3.0, 2.0)], "in most", Tolerance()),
    (layer.orders, 120.0, 2, Tolerance(absolute=0.5)),
    (layer.optimum, [Pair(1.0, 1.0)], "the least", Tolerance()),
    (layer.existence, [False, True], "one", Tolerance()),
    (layer.always, [True, True], "all", Tolerance()),
    (layer.limit, [1.0, 0.1, 0.001], 0.0, Tolerance(absolute=0.01)),
    (layer.every(layer.rising, layer.below), ([1.0, 2.0], 0.1), (None, 0.5), Tolerance()),
]
OTHERWISE: list[tuple[Rule, Any, Any, Tolerance]] = [
    (layer.number, [0.97], 0.7, about_share(0.7)),
    (layer.number, [1.0, 2.0], [1.0, 2.0, 3.0], Tolerance()),
    (layer.below, [0.06], 0.05, Tolerance()),
    (layer.above, 1.0, 2.0, Tolerance()),
    (layer.bound, [Pair(0.5, 1.0), Pair(1.2, 1.0, "λ = 1")], "a bound", Tolerance()),
    (layer.equal, [Pair(1.0, 2.0)], "the sum", Tolerance(absolute=1e-9)),
    (layer.argmin_at, Heights([0, 0.5, 1], [1, 3, 2]), 0.5, Tolerance()),
    (layer.argmin_at, Heights([0, 0.25, 0.5, 0.75, 1], [3, 3, 1, 2, 4]), 0.5, Tolerance()),
    (layer.falling, [3.0, 3.0, 1.0], None, Tolerance()),
    (layer.rising, [2.0, 1.0], None, Tolerance()),
    (layer.order, [Pair(1.0, 2.0), Pair(2.0, 2.0)], "first is less", Tolerance()),
    (layer.most, [Pair(1.0, 2.0), Pair(3.0, 2.0)], "in most", Tolerance()),
    (layer.orders, 9_000.0, 2, Tolerance(absolute=0.5)),
    (layer.optimum, [Pair(1.0, 1.0), Pair(2.0, 1.0)], "the least", Tolerance()),
    (layer.existence, [False, False], "one", Tolerance()),
    (layer.existence, [], "one", Tolerance()),
    (layer.always, [True, False], "all", Tolerance()),
    (layer.always, [], "all", Tolerance()),
    (layer.limit, [1.0, 0.1, 0.5], 0.0, Tolerance(absolute=0.01)),
    (layer.every(layer.rising, layer.below), ([1.0, 2.0], 0.7), (None, 0.5), Tolerance()),
]


def claim(rule: Rule, stated: Any, tolerance: Tolerance, **readings: Any) -> Claim:
    given = {name: (lambda value=value: value) for name, value in readings.items()}
    return Claim(
        id="X1",
        source="correlated",
        place="II",
        says="so",
        rule=rule,
        stated=stated,
        tolerance=tolerance,
        readings=given,
    )


def reading(computed: Callable[[], float], rule: Rule, stated: float, *, name: str = "X") -> Claim:
    given = {"it": computed}
    return Claim(id=name, source="temporal", place="II", says="so", rule=rule, stated=stated, readings=given)


def test_rules_judge_and_a_nudge_turns_every_verdict() -> None:
    for case, agrees in [*((c, True) for c in AGREEING), *((c, False) for c in OTHERWISE)]:
        rule, value, stated, tolerance = case
        assert rule.judge(value, stated, tolerance).agrees is agrees, case
        finding = claim(rule, stated, tolerance, printed=value).find()
        assert finding.word == ("holds" if agrees else "false"), case
        assert finding.nudged().word != finding.word, case
        assert rule.judge(rule.nudged(value, stated, tolerance), stated, tolerance).agrees is not agrees, case
        assert finding.shown or not value, case


def test_a_bound_that_nothing_attains_is_not_tight() -> None:
    assert claim(layer.bound, "x", Tolerance(), printed=[Pair(0.5, 1.0)]).find().word == "holds, not tight"


def test_the_order_of_readings_decides() -> None:
    of = claim(layer.number, 2.0, Tolerance(), printed=3.0, exact=2.0, third=2.0)
    assert of.find().word == "holds only: exact"
    assert of.find().shown == "printed: 3; exact: 2; third: 2"
    assert claim(layer.number, 3.0, Tolerance(), printed=3.0, exact=2.0).find().word == "holds"


WHOLE: dict[str, Any] = {
    "id": "X",
    "source": "temporal",
    "place": "II",
    "says": "so",
    "rule": layer.number,
    "stated": 2,
    "readings": {"printed": lambda: 2},
}
SAID: list[tuple[dict[str, Any], str]] = [
    ({}, "holds"),
    ({"parameters": "ours: T = 7"}, "reproduced at our parameters: holds"),
    ({"parameters": "not stated: ε = 1 was taken"}, "holds"),
    ({"data": "made-up: a walk"}, "needs real data; on a walk (made-up): holds"),
    ({"data": "stand-in: IBM"}, "needs real data; on IBM (stand-in): holds"),
    ({"data": "source: by length"}, "holds"),
    ({"origin": "ours"}, "not a source claim: as expected"),
    ({"origin": "ours", "stated": 5}, "not a source claim: not as expected"),
]
UNSOUND: list[dict[str, Any]] = [
    {"readings": {}},
    {"reason": "nothing to compute"},
    {"rule": None},
    {"place": ""},
    {"parameters": "mine"},
    {"data": "stand-in:"},
]


def test_whose_parameters_and_data_it_rests_on_is_said() -> None:
    for changed, verdict in SAID:
        finding = Claim(**WHOLE | changed).find()
        assert finding.verdict == verdict
        assert verdict in row(finding)
        assert as_dict(finding)["verdict"] == verdict


def test_a_claim_that_is_not_whole_is_refused() -> None:
    for changed in UNSOUND:
        with pytest.raises(ValueError, match=r"^X: "):
            Claim(**WHOLE | changed)


def test_what_cannot_be_computed_says_why() -> None:
    finding = Claim(id="X", source="temporal", place="II", says="so", reason="prose").find()
    assert (finding.verdict, finding.shown) == ("not checkable", "prose")
    with pytest.raises(ValueError, match="nothing was computed"):
        finding.nudged()


def test_tolerances_follow_from_how_a_number_is_said() -> None:
    assert printed("1.49").absolute == pytest.approx(0.005)
    assert printed("14,058").absolute == 0.5
    assert printed("9.0e-5").absolute == pytest.approx(5e-7)
    assert about_share(0.95).absolute == pytest.approx(0.02)
    assert about_share(0.5).absolute == 0.05
    assert about_ratio().relative == 0.1


@computation()
def _inner(number: float) -> float:
    return number + 1


@computation(late=lambda function: lambda number: function(number) + 100)
def _outer(number: float) -> float:
    return _inner(number) * 2


@computation()
def _unnoticed(number: float) -> float:
    return number


def _own(name: str) -> str:
    return next(one for one in computations() if one.endswith(f".{name}"))


def test_a_twin_reaches_readings_through_other_computations_and_leaves_no_trace() -> None:
    of = Claim(
        id="X",
        source="temporal",
        place="II",
        says="so",
        rule=layer.number,
        stated=4.0,
        readings={"it": lambda: _outer(1)},
    )
    before = of.find()
    assert before.word == "holds"
    assert {_own("_inner"), _own("_outer")} <= before.computations
    assert of.find().computations == before.computations  # from what was kept, too
    for name, twin in computations()[_own("_inner")].items():
        with broken(_own("_inner"), twin):
            assert of.find().word == "false", name
    assert of.find() == before


def test_coverage_names_the_computation_that_no_claim_notices() -> None:
    noticed = reading(lambda: _outer(1), layer.number, 4.0)
    ignored = reading(lambda: _unnoticed(3.0) ** 2, layer.above, -1e9, name="Y")
    findings = [noticed.find(), ignored.find()]
    killed = killed_by(findings)
    assert killed[_own("_outer")] == {"late": ["X"]}
    assert not any(killed[_own("_unnoticed")].values())
    assert f"| `{_own('_unnoticed')}` | Y | 6 | – |" in coverage_page(findings, killed)


def test_what_is_used_is_told_to_those_around() -> None:
    with used() as outside:
        with used() as inside:
            _outer(7)
        assert inside == {_own("_inner"), _own("_outer")}
    assert outside == inside


VERDICTS = re.compile(r"\b(holds|false|not tight|as expected|not checkable)\b", re.IGNORECASE)


@pytest.mark.slow
def test_no_verdict_is_written_outside_the_rules() -> None:
    written = [
        f"{path.relative_to(HERE)}:{node.lineno}"
        for path in HERE.rglob("*.py")
        if path.parent.name != "claims"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and VERDICTS.search(node.value)
    ]
    assert not written


def test_tokens_are_looked_up_in_a_folder_of_sources(tmp_path: Path) -> None:
    def one(name: str, *tokens: str) -> Claim:
        return Claim(id=name, source="temporal", place="II", says="so", reason="prose", tokens=tokens)

    for number in range(5):
        (tmp_path / f"00{number}_text.txt").write_text("14,058 days" if number == 4 else "", encoding="utf-8")
    claims = [one("A", "14,058"), one("B", "14,058", "6307")]
    assert missing_tokens(claims, tmp_path) == [
        "B: '6307' does not stand in Beyond value perturbation: the temporal setting"
    ]
    (tmp_path / "000_text.txt").unlink()
    with pytest.raises(SystemExit, match="one file whose name begins with 000"):
        missing_tokens(claims, tmp_path)


def test_series_are_known_by_the_hash_of_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"Date,Close\n1962-01-02,0.62\n"
    known = datasets.DataSet("prices", "a day", "source: a day", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(datasets, "KNOWN", (known,))
    (tmp_path / "ge.csv.gz").write_bytes(gzip.compress(content))
    (tmp_path / "other.csv").write_bytes(b"Close\n1\n")
    found = datasets.given([str(tmp_path)])
    assert found.path("prices") == tmp_path / "ge.csv.gz"
    assert found.mark("prices", "a walk") == "source: a day"
    assert Given().mark("prices", "a walk") == "made-up: a walk"
    other = datasets.given([f"prices={tmp_path / 'other.csv'}"])
    assert other.mark("prices", "a walk") == "stand-in: a file of ours (other.csv)"
    (tmp_path / "ge.csv.gz").unlink()
    for option, words in (
        (str(tmp_path), "holds none of the known series"),
        (f"taxis={tmp_path}", "no known role"),
        (f"prices={tmp_path / 'gone.csv'}", "no file that can be read"),
        (str(tmp_path / "gone"), "neither a folder nor"),
    ):
        with pytest.raises(SystemExit, match=words):
            datasets.given([option])
