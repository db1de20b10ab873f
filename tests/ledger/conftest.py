"""Both stores: a fresh SQLite file, and a fresh database in a real PostgreSQL server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from chronodp.ledger import Ledger


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return fresh_database(request.getfixturevalue("postgres"))


@pytest.fixture
def postgres_only(postgres: str) -> str:
    return fresh_database(postgres)


def fresh_database(server: str) -> str:
    name = f"ledger_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return re.sub(r"/postgres(\?|$)", rf"/{name}\1", server)


@pytest.fixture
def ledger(address: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(address, keys=tmp_path / "keys") as opened:
        yield opened
