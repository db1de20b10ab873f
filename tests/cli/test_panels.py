"""The help: what is used daily comes first, every command stands in a panel, and a pair may be written with a comma."""

from __future__ import annotations

import re

import pytest

from chronodp.cli.shell import _PANELS, _pairs_apart
from tests import forkserver


@pytest.mark.kill
def test_the_help_shows_panels_in_their_order() -> None:
    said = forkserver.run("-m", "chronodp", "--help").stdout
    headings = re.findall(r"─ ([A-Z][a-z ]+) ─", said)
    assert headings == ["Options", *_PANELS]


def test_a_pair_with_a_comma_is_two_words() -> None:
    assert _pairs_apart(["plan", "--clip=-60,300", "--sum", "v"]) == ["plan", "--clip", "-60", "300", "--sum", "v"]
    for left_alone in (["--clip", "-60", "300"], ["--clip=3"], ["--edges=0,1"], ["--clip=1,2,3"]):
        assert _pairs_apart(left_alone) == left_alone
