"""One ledger with every kind of release, made once: dossiers only read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.dossier import write_dossier
from tests.dossier.everything import fill


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cdp.Ledger]:
    with fill(tmp_path_factory.mktemp("everything")) as ledger:
        yield ledger


@pytest.fixture(scope="session")
def folder(everything: cdp.Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the dossier of the dataset that has every kind of release; whoever reads it leaves it as it is."""
    return write_dossier(everything, "meters", tmp_path_factory.mktemp("dossier") / "meters")
