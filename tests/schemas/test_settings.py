"""Files of settings: their schemas come from what the reader is told to accept, and refuse the same shapes."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from chronodp.dossier import OWNER
from chronodp.errors import InvalidArgument
from chronodp.service import POLICY
from chronodp.settings import Place, Settings, table
from tests.schemas.found import validator

POLICY_FILE = """
[service]
title = "Town"
floor = 0.5
parallel = 2
edge = { connections = 100, head = 5, proxies = ["127.0.0.1"] }

[datasets.meters]
source = "meters.parquet"
about = "Hourly load."
time = "at"
user = "who"
every = "1h"
start = 2026-01-01
end = 2026-02-01
unit = "user"
max_periods = { 1h = 48, 1D = 7 }
usual_periods = 24
people = 900
epsilon = 3
delta = 1e-6
renews = "1mo"
share = true
columns.kwh = { clip = { 1h = [0, 2.5], 1D = [0, 40] }, norm = 9.5, about = "Energy" }
columns.gas = { clip = [0, 9] }
groups.region = ["north", "south"]
groups.town = { mill = 400, lake = 0 }
reading = { decimal = ",", line_breaks = false }

[datasets.meters.allow]
measures = ["count", "sum"]
epsilon = 1
find = ["clip"]
places = false
cells = 1000
discover = { columns = ["region"], max_keys = 3 }

[datasets.meters.analysts.ana]
epsilon = 1.5
"""
OWNER_FILE = 'name = "Load of Mill Town"\ncurators = ["Mill Town Utility"]\nregion = "Mill Town"\nsource = "https://mill.example"\n'
FILES: dict[str, tuple[str, Settings]] = {"policy": (POLICY_FILE, POLICY), "owner": (OWNER_FILE, OWNER)}
OTHERS: tuple[Any, ...] = (True, -7, 0.5, "", "other", [], [0.5], {}, {"unknown": True})
FINER = {"unit"}
"""Keys whose texts are read by rules of their own, which a schema does not have."""


def as_json(content: str) -> Any:
    return json.loads(json.dumps(tomllib.loads(content), default=str))


def changed(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a table with one thing wrong, at any depth, and where."""
    yield (*path, "unknown"), {**content, "unknown": 1}
    for key, value in content.items():
        here = (*path, key)
        yield here, {name: part for name, part in content.items() if name != key}
        for other in OTHERS:
            yield here, {**content, key: copy.deepcopy(other)}
        if isinstance(value, dict):
            for place, inner in changed(value, here):
                yield place, {**content, key: inner}


def is_read(settings: Settings, content: Any) -> bool:
    try:
        table(settings).read(content, Place("file.toml", ""))
    except InvalidArgument:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_schema_and_reader_refuse_the_same(name: str) -> None:
    text, settings = FILES[name]
    content = as_json(text)
    check = validator(name)
    assert check.is_valid(content)
    assert is_read(settings, content)
    verdicts = set()
    for path, one in changed(content):
        read = is_read(settings, one)
        verdicts.add(read)
        assert check.is_valid(one) == read or (path[-1] in FINER and not read), path
    assert verdicts == {True, False}
