"""Any bytes at every parser: read, or refused by an error of ours that reveals nothing private."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from chronodp.errors import InvalidArgument
from tests import forkserver
from tests.conftest import SCALE
from tests.fuzz.drawn import texts
from tests.fuzz.edits import apply, random_edits
from tests.fuzz.target import MARK, Target, judge
from tests.fuzz.targets import KINDS, make_targets

_SLOW = {"training_plan", "table", "people", "workload"}

FOUND: list[tuple[str, bytes]] = [
    ("document", b'{"kind":' * 4000),
    ("document", b'{"kind":"repeated","times":2,"cost":' * 300 + b"1" + b"}" * 300),
    ("document", b'{"kind":"pure","epsilon":' + b"9" * 5000 + b"}"),
    ("link", b'{"kind":"link","dataset":"\xff"}'),
    ("chain", b'{"release":"\\ud800","link":{"body":"{}","signature":""}}'),
    ("chain", b"[" * 4000),
    ("chain", b'{"links": true}'),
    ("release", b'{"kind":"release","noisy":[[1]]}'),
    ("release", b'{"kind":"release","design":\xd5}'),
    ("spectrum", b'{"kind":"spectrum","design":{},"harmonics":[0]}'),
    ("choice", b'{"kind":"choice"'),
    ("together", b'{"kind":"together","parts":{"a":{}},"derived":{}}'),
    ("together", b'{"kind":"together","parts":{},"derived":{"a":{"from":"a","every":null}}}'),
    ("given_plan", b"null"),
    ("given_plan", b'{"format":"chronodp device plan","version":1,"protocol":{"kind":"fresh"}}'),
    ("state", b"{}"),
    ("state", b'{"memo": {}, "plan"'),
    ("policy", b"a = " + b"[" * 4000),
    ("policy", b"a = " + b"9" * 5000),
    ("options", b"unit = {}"),
    ("keys", b'{"signing": "", "sealing": ""}'),
    ("keys", b'{"a":' * 4000),
    ("witness", b'{"a": [[]]}'),
    ("witness", b'{"a": -Infinity}'),
    ("sealed", b"63X"),
    ("sealed", b""),
    ("packed", b"\x00\x00\x00\x02{}"),
    ("address", b"postgresql://ann:7346281@localhost:1/budget?a"),
    ("address", b"postgresql://\xff:7346281@x"),
    ("address", b"postgresql:/ann:7346281@localhost"),
    ("address", b"postgresql:./ann:7346281@l://ann:7346281@localhost:1/budget"),
    ("address", b"\x00"),
    ("calendar", b"1h\n2026-01-01\n2026-01-02\n" + b"a." * 400 + b"b"),
    (
        "table",
        b"at,who,k\xf92026-01-01T01:00,46,north\n2026-01-02T01:00,731e308462812,2.5,north\n"
        b"2026-01-03T01:00,7346,north\n2026-01-00,73462813,3.5,no2.5,north\n2026-01-03T01:00,73462813,3.5,north\n"
        b"4052-01-04T01:00,73462814,4.5,north\n",
    ),
]
"""What once failed, made small."""


@cache
def _target(folder: Path, name: str) -> Target:
    return make_targets(folder, name)[name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parsers")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_changed_texts_are_read_or_refused(kind: str, folder: Path) -> None:
    for name in KINDS[kind]:
        _change_texts(name, _target(folder, name))


def _change_texts(name: str, target: Target) -> None:
    """Change texts by Hypothesis at stated counts, and otherwise by seeds, which saves what choosing costs."""
    most = max(5 if name in _SLOW else 40, int((20 if name in _SLOW else 2_000) * SCALE))
    if SCALE < 1:
        chance = random.Random(name)
        for seed in target.seeds:
            assert judge(target, seed) is None, (name, seed)
        for _ in range(most):
            content = apply(random_edits(chance), chance.choice(target.seeds), target.seeds)
            assert judge(target, content) is None, (name, content)
        return

    @settings(max_examples=most, suppress_health_check=list(HealthCheck))
    @given(texts(target))
    def run(content: bytes) -> None:
        assert judge(target, content) is None

    run()


def test_what_once_failed(folder: Path) -> None:
    for name, content in FOUND:
        assert judge(_target(folder, name), content) is None, (name, content)


@given(st.binary(max_size=60))
def test_bytes_without_any_structure(content: bytes) -> None:
    for name in ("duration", "command_words", "calendar"):
        assert judge(_target(Path(), name), content) is None


def _tell(content: bytes) -> None:
    raise InvalidArgument("value", content.decode(), "another")


def _hide(content: bytes) -> None:
    try:
        _tell(content)
    except InvalidArgument:
        raise InvalidArgument("value", None, "another")  # noqa: B904  # as a careless parser would


def _fail(content: bytes) -> None:
    raise KeyError(content)


def test_a_parser_that_tells_or_fails_is_caught() -> None:
    for door, said in ((_tell, "tells a private value"), (_hide, "tells a private value"), (_fail, "KeyError")):
        assert said in (judge(Target("x", (MARK,), door, secret=b""), MARK) or ""), door


@pytest.mark.kill
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="the system does not tell what is loaded")
def test_memory_is_limited_beside_what_is_loaded() -> None:
    program = """
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PROT_READ, mmap
from tests.fuzz.findings import limit_memory
ask = lambda gigabytes: mmap(-1, gigabytes << 30, MAP_ANONYMOUS | MAP_PRIVATE, PROT_READ)  # addresses alone
loaded = ask(8)
limit_memory()
asked = ask(4)
try:
    ask(4)
except OSError:
    print("limited")
"""
    done = forkserver.run("-c", program)
    assert (done.stdout, done.stderr) == ("limited\n", "")
