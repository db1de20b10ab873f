"""Every place of every JSON or TOML file, filled with every other shape: read, or refused by an error of ours."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Trials
from tests.fuzz.target import Target, judge
from tests.fuzz.targets import KINDS, make_targets

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
    return tmp_path_factory.mktemp("shapes")


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
            pairs = list(product(places(document), SHAPES))
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
