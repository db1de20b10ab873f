from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from chronodp.cli.shell import app
from chronodp.errors import InvalidArgument
from chronodp.schemas import json_schema, schema_names


def test_schemas_are_listed_and_printed() -> None:
    listed = CliRunner().invoke(app, ["schema"])
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(schema_names())
    for name in schema_names():
        assert json.loads(CliRunner().invoke(app, ["schema", name]).stdout) == json_schema(name)


def test_an_unknown_schema_is_refused_with_the_names_of_all() -> None:
    refused = CliRunner().invoke(app, ["schema", "nothing"])
    assert isinstance(refused.exception, InvalidArgument)
    assert "one of answers, budget, certificate, chain" in str(refused.exception)
    assert not refused.stdout
    with pytest.raises(InvalidArgument):
        json_schema("nothing")
