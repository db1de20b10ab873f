"""A test of noise gives the same verdict each time: what it draws hangs on its name."""

from __future__ import annotations

import os
import random
import secrets
import uuid

import pytest
from tests import luck, warm

from chronodp.randomness import secure

SEEDED = os.environ.get("CHRONODP_SEED", "1")
pytestmark = pytest.mark.skipif(not SEEDED, reason="randomness is the system's own")
SHOW = "import secrets; print(secrets.token_hex(16))"


def test_what_is_drawn_hangs_on_the_name(request: pytest.FixtureRequest) -> None:
    expected = random.Random(f"{SEEDED} {request.node.nodeid}")
    assert secrets.token_bytes(8) == expected.randbytes(8)
    assert os.urandom(32) == expected.randbytes(32)
    uuid.uuid4()
    assert len(set(secure().gaussian(2.0**20, 1000).tolist())) > 900


@pytest.mark.processes
def test_programs_of_one_test_draw_each_their_own() -> None:
    first, second = (warm.run("-c", SHOW).stdout for _ in range(2))
    assert first != second
    name = f"{luck._now[-1].name}, program 1"
    assert first.strip() == random.Random(f"{SEEDED} {name}").randbytes(16).hex()


@pytest.mark.processes
def test_a_forked_child_draws_afresh() -> None:
    inward, outward = os.pipe()
    child = os.fork()
    if not child:
        os.write(outward, os.urandom(16))
        os._exit(0)
    os.waitpid(child, 0)
    drawn = os.read(inward, 16)
    os.close(inward)
    os.close(outward)
    assert drawn != os.urandom(16)
