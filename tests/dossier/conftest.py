"""One ledger with every kind of release, made once: dossiers only read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import chronodp as cdp
from tests.dossier.everything import fill


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cdp.Ledger]:
    with fill(tmp_path_factory.mktemp("everything")) as ledger:
        yield ledger
