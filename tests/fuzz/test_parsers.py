"""Any bytes at every parser, and any shape in any place of a JSON or TOML file.

Each is read, or refused by an error of ours that reveals nothing private.
"""

from __future__ import annotations

import itertools
import json
import random
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from tests import forkserver
from tests.conftest import SCALE, Trials
from tests.fuzz.__main__ import SLOW, shares
from tests.fuzz.edits import change
from tests.fuzz.target import MARK, Target, judge
from tests.fuzz.targets import KINDS, NAMES, make_targets

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


SHAPES: tuple[Any, ...] = (
    *(True, None, 0, -1, 2**63, 1e300, 5e-324, -0.0, "", "x", "self", "\u202e\x1b", "2026-01-01"),
    *([], [[]], [None], [1, 2], ["x"], {}, {"kind": True}, {"kind": "user"}, {"self": 1}, {"": None}),
)
_FEW = 60  # changes of one document that are tried at least


def places(document: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Return the way to every value in a document, the whole first."""
    yield before
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for step, value in inner:
        yield from places(value, (*before, step))


def changed(document: Any, way: tuple[str | int, ...], value: Any) -> Any:
    """Return a document with another value at one place."""
    if not way:
        return value
    copy = deepcopy(document)
    around = copy
    for step in way[:-1]:
        around = around[step]
    around[way[-1]] = value
    return copy


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
        target, chance = _target(folder, name), random.Random(name)
        least, stated = (5, 20) if name in SLOW else (40, 2_000)
        changed = (
            change(chance.choice(target.seeds), target.seeds, chance) for _ in range(max(least, int(stated * SCALE)))
        )
        for content in itertools.chain(target.seeds, changed):
            assert judge(target, content) is None, (name, content)


def test_what_once_failed(folder: Path) -> None:
    for name, content in FOUND:
        assert judge(_target(folder, name), content) is None, (name, content)


@given(st.binary(max_size=60))
def test_bytes_without_any_structure(content: bytes) -> None:
    for name in ("duration", "command_words", "calendar"):
        assert judge(_target(Path(), name), content) is None


def in_toml(value: Any) -> str:
    """Return a value as TOML writes it in one line; what TOML cannot say is a text."""
    match value:
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {in_toml(inner)}' for key, inner in value.items())}}}"
        case list():
            return f"[{', '.join(map(in_toml, value))}]"
        case bool() | int() | float() | str():
            return json.dumps(value)
    return json.dumps(str(value))


def _toml_file(content: Any) -> str:
    if not isinstance(content, dict):
        return in_toml(content)
    return "".join(f"{json.dumps(key)} = {in_toml(value)}\n" for key, value in content.items())


def _documents(target: Target) -> Iterator[tuple[Any, Callable[[Any], str]]]:
    """Return the seeds that hold values in places, each with how it is written."""
    for seed in target.seeds:
        for read, write in ((json.loads, json.dumps), (tomllib.loads, _toml_file)):
            try:
                document = read(seed.decode())  # each reads texts
            except ValueError:
                continue
            if isinstance(document, dict | list) and document:
                yield document, write
            break


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_another_shape_in_any_place_is_read_or_refused(kind: str, folder: Path, trials: Trials) -> None:
    for name in KINDS[kind]:
        target = _target(folder, name)
        for document, write in _documents(target):
            pairs = list(itertools.product(places(document), SHAPES))
            few = trials(len(pairs), least=min(len(pairs), _FEW))
            for way, value in pairs[:: len(pairs) // few]:
                content = write(changed(document, way, value)).encode()
                assert judge(target, content) is None, (name, way, value)


NO_CHAINS = (
    *('{"links": true}', '{"links": null}', '{"links": {"a": 1}}', '{"links": "abc"}', '{"links": [], "head": 1}'),
    *('{"links": [null]}', '{"links": [{"body": 1, "signature": true}]}', '{"links": 1, "release": "x"}', "true"),
    *('{"release": "x", "link": true}', '{"release": "x"}', '{"release": {}, "link": {}}', "[]", "1e300", "{}"),
)


def test_what_is_no_chain_and_no_release_is_refused(folder: Path) -> None:
    for content in NO_CHAINS:
        assert judge(_target(folder, "chain"), content.encode()) is None, content


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
from tests.fuzz.run import limit_memory
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


def test_named_targets_get_the_share_that_they_have_of_all() -> None:
    everything = shares(100_000, [])
    assert everything.keys() == set(NAMES)
    assert 100_000 <= sum(everything.values()) <= 100_000 + len(NAMES)
    assert everything["people"] < everything["workload"] < everything["keys"]
    assert shares(100_000, ["secrets", "people"]) == {name: everything[name] for name in (*KINDS["secrets"], "people")}
    assert set(shares(1, []).values()) == {1}
