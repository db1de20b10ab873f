"""Every TOML file is read by one reader: what is wrong in one is told with file, line and key, and no more of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from chronodp.cli.asking import Asked
from chronodp.cli.live_settings import read_settings
from chronodp.cli.question_options import read_options
from chronodp.cli.workload import plan_workload
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.federated.training import read_plan
from chronodp.service import read_policy
from chronodp.settings import anything, each, load_settings, number, rows, table, text, texts, truth, whole

SECRET = "hunter2hunter"
READERS: dict[str, Callable[[Path], object]] = {
    "policy": read_policy,
    "plan": read_plan,
    "settings": read_settings,
    "config": read_options,
    "workload": lambda path: plan_workload(Asked({"data": str(path)})),
}
EMPTY = {
    "policy": "datasets must be given: a table [datasets.NAME] for each dataset",
    "plan": "epsilon must be given",
    "settings": "name must be given",
    "workload": "queries must be given: a table [queries.NAME] for each query",
}
MISSPELT = {
    "policy": ("[datasets.a]\ntime = 'at'\n\nevry = '{}'", "line 4: datasets.a.evry must be one of", "every"),
    "plan": ("name = 'a'\nepsilom = '{}'", "line 2: epsilom must be one of", "epsilon"),
    "settings": ("name = 'a'\ndata_set = '{}'", "line 2: data_set must be one of", "dataset"),
    "config": ("time = 'at'\nepsilom = '{}'", "line 2: epsilom must be one of", "epsilon"),
    "workload": ("[queries.a]\nclipp = '{}'", "line 2: queries.a.clipp must be one of", "clip"),
}
WRONG = {
    "policy": ("service = '{}'\n[datasets.a]", "line 1: service must be a table"),
    "plan": (
        "epsilon = 1\ndelta = 1e-6\nbatch = 1\nrounds = 1\nlocal_steps = 1\naccept_large_delta = '{}'\n"
        "[model]\nlength = 1\n[columns]\nx = [0, 1]\n[holders.a]\npeople = 5\n",
        "line 6: accept_large_delta must be true or false",
    ),
    "settings": (
        "name = 'a'\ndataset = 'b'\n[source]\nkind = 'mqtt'\nhost = 'a'\ntopic = 'b'\npassword = 5\nport = '{}'\n"
        "[fields]\ntime = 'at'\n[windows]\nevery = '1h'\n",
        "line 8: source.port must be a whole number",
    ),
    "workload": ("queries = '{}'", "line 1: queries must be a table [queries.NAME]"),
}


def refused(name: str, file: Path) -> str:
    with pytest.raises(InvalidArgument) as error:
        READERS[name](file)
    assert SECRET not in str(error.value)
    return str(error.value)


def test_what_is_no_toml_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "given.toml"
    for name in READERS:
        assert "a file that can be read" in refused(name, tmp_path / "nothing.toml")
        assert "a file that can be read" in refused(name, tmp_path)
        file.write_text(f"a = 1\nb = {SECRET}\n", encoding="utf-8")
        assert "a TOML file (Invalid value (at line 2, column 5))" in refused(name, file)
        file.write_bytes(f"a = '{SECRET}\xff'".encode("latin-1"))
        assert "a text file (it is not UTF-8)" in refused(name, file)


def test_what_is_missing_from_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "given.toml").write_text("", encoding="utf-8")
    for name, said in EMPTY.items():
        assert f"given.toml, line 1: {said}" in refused(name, tmp_path / "given.toml")


def test_a_key_that_is_not_known_is_named_with_the_nearest(tmp_path: Path) -> None:
    for name, (content, said, nearest) in MISSPELT.items():
        (tmp_path / "given.toml").write_text(content.format(SECRET), encoding="utf-8")
        message = refused(name, tmp_path / "given.toml")
        assert f"given.toml, {said}" in message
        assert f"(perhaps {nearest})" in message


def test_a_value_of_another_kind_is_named(tmp_path: Path) -> None:
    for name, (content, said) in WRONG.items():
        text = content.format(SECRET)
        if name == "settings":
            text = text.replace("password = 5", "password = 'x'")
        (tmp_path / "given.toml").write_text(text, encoding="utf-8")
        assert f"given.toml, {said}" in refused(name, tmp_path / "given.toml")


def test_a_password_of_another_kind_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "given.toml").write_text(WRONG["settings"][0].replace("'{}'", "1883"), encoding="utf-8")
    assert "line 7: source.password must be a text; got an int" in refused("settings", tmp_path / "given.toml")


DECLARED = {
    "title": text(default="Test", longest=10),
    "rate": number(least=0, most=1, default=0.5),
    "parallel": whole(least=1, default=2),
    "share": truth(default=True),
    "grids": texts(of=("1h", "1D"), default=("1h",)),
    "clip": anything(),
    "columns": each(table({"clip": anything(needed="two numbers"), "about": text(default="")})),
    "sinks": rows(table({"kind": text(needed=True), "port": whole()})),
}


def read(folder: Path, content: str) -> object:
    (folder / "a.toml").write_text(content, encoding="utf-8")
    return load_settings("file", folder / "a.toml", DECLARED)


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    assert read(tmp_path, "") == {
        "title": "Test",
        "rate": 0.5,
        "parallel": 2,
        "share": True,
        "grids": ("1h",),
        "columns": {},
        "sinks": (),
    }
    said = read(tmp_path, "rate = 1\n[columns.a]\nclip = 1\n[[sinks]]\nkind = 'x'\n")
    assert said["rate"] == 1.0  # type: ignore[index]
    assert said["columns"] == {"a": {"clip": 1, "about": ""}}  # type: ignore[index]
    assert said["sinks"] == ({"kind": "x"},)  # type: ignore[index]


REFUSED = [
    ("title = '  '", "line 1: title must be a text"),
    ("title = '12345678901'", "line 1: title must be a text"),
    ("title = 5", "line 1: title must be a text; got an int"),
    ("rate = 2", "rate must be a number from 0 to 1"),
    ("rate = true", "rate must be a number"),
    ("rate = nan", "rate must be a number"),
    ("parallel = 0", "parallel must be a whole number of at least 1"),
    ("parallel = 1.0", "parallel must be a whole number"),
    ("share = 1", "share must be true or false"),
    ("grids = []", "grids must be a list made of 1h, 1D"),
    ("grids = ['1h', '2h']", "grids must be a list made of 1h, 1D"),
    ("columns = 1", "columns must be a table [columns.NAME] for each"),
    ("[columns]\na = 1", "line 2: columns.a must be a table [columns.a]"),
    ("[columns.'a b']\nabout = 'x'", "line 1: columns.'a b'.clip must be given: two numbers"),
    ("sinks = {}", "sinks must be tables [[sinks]], one for each"),
    ("[[sinks]]\nkind = 'a'\n[[sinks]]\n", "line 3: sinks.kind must be given"),
    ("[[sinks]]\nkind = 'a'\n[[sinks]]\nkind = 'a'\nport = 'b'", "line 5: sinks.port must be a whole number"),
    ("[[sinks]]\nkind = 'a'\ntopic = 'b'", "line 3: sinks.topic must be one of kind, port; got a str"),
]


def test_each_kind_refuses_another(tmp_path: Path) -> None:
    for content, said in REFUSED:
        with pytest.raises(InvalidArgument, match=re.escape(said)):
            read(tmp_path, content)


def test_refusals_of_a_room_get_the_line_of_their_argument(tmp_path: Path) -> None:
    content = "rate = 1\nclip = 3\n[columns.a]\nclip = 1\nabout = 'secret'\n"
    (tmp_path / "a.toml").write_text(content, encoding="utf-8")
    said = load_settings("file", tmp_path / "a.toml", DECLARED)
    with (
        pytest.raises(InvalidArgument, match=r"^a.toml, line 5: columns.a.about must be short; got a str$"),
        said.pointing(),
    ):
        raise InvalidArgument("about", "secret", "short")
    with pytest.raises(MissingBound, match=r"^a.toml, line 1: title is missing: why$"), said.pointing():
        raise MissingBound("title", "why")
    for name in ("clip", "other"):  # there are two of the one, and none of the other
        with pytest.raises(InvalidArgument, match=f"^{name} must be"), said.pointing():
            raise InvalidArgument(name, 1, "small")
    with pytest.raises(InvalidArgument, match=r"^rate must be"), said.pointing(but=["rate"]):
        raise InvalidArgument("rate", 1, "small")
