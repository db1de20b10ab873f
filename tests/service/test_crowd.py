"""Many analysts at once, on two workers and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from chronodp.ledger import Ledger
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token
from tests.conftest import SCALE, Trials
from tests.service.servers import forked_server
from tests.service.town import API, COUNT, fresh_database, write_policy

pytestmark = pytest.mark.kill

ANALYSTS = 50 if SCALE >= 1 else 20
ASKED = 0.3


async def work(http: httpx.AsyncClient, token: str, who: int, until: float, seen: list[tuple[str, Any]]) -> None:
    """Plan, submit and wait, again and again, with a design of one's own each time."""
    headers = {"Authorization": f"Bearer {token}"}
    number = 0
    while time.monotonic() < until:
        number += 1
        question = COUNT | {"epsilon": ASKED + who / 1e4 + number / 1e7}
        plan = await http.post("/datasets/meters/plan", json=question, headers=headers)
        seen.append(("plan", plan.status_code))
        body = {"request": f"r{number}", "question": question}
        answer = await http.post("/datasets/meters/jobs", json=body, headers=headers)
        seen.append(("submit", answer.status_code))
        if answer.status_code == 409:
            await asyncio.sleep(0.2)
            continue
        job = answer.json()
        while job["state"] in ("waiting", "running") and time.monotonic() < until + 60:
            await asyncio.sleep(0.2)
            found = await http.get(f"/jobs/{job['id']}", headers=headers)
            seen.append(("look", found.status_code))
            job = found.json()
        seen.append(("end", job["state"]))


async def crowd(url: str, tokens: list[str], seconds: float) -> Counter[tuple[str, Any]]:
    seen: list[tuple[str, Any]] = []
    limits = httpx.Limits(max_connections=ANALYSTS)
    async with httpx.AsyncClient(base_url=f"{url}{API}", timeout=60, limits=limits, verify=False) as http:
        until = time.monotonic() + seconds
        await asyncio.gather(*(work(http, token, who, until, seen) for who, token in enumerate(tokens)))
    return Counter(seen)


def test_every_granted_release_has_its_debit_and_the_whole_holds(postgres: str, tmp_path: Path, trials: Trials) -> None:
    address = fresh_database(postgres)
    seconds = trials(60, least=3)
    whole = math.sqrt(seconds) / 3  # squares of epsilon add up: about one release a second, and many more are asked for
    parts = {f"analyst{number}": whole / 2 for number in range(ANALYSTS)}  # together far beyond the whole
    policy = write_policy(tmp_path, epsilon=whole, parts=parts, lease=10.0)
    keys = tmp_path / "keys"
    store = open_tables(address)
    tokens = [add_token(store, name, "analyst") for name in parts]
    with forked_server(policy, address, "--keys", str(keys), "--workers", "2") as (url, _):
        seen = asyncio.run(crowd(url, tokens, seconds=seconds))
    store.close()
    assert seen["end", "done"] > 0
    assert seen["submit", 409] + seen["end", "refused"] > 0, seen  # the whole ran out long before the parts
    assert not [event for event in seen if isinstance(event[1], int) and event[1] >= 500], seen
    assert not seen["end", "failed"] + seen["end", "lost"], seen
    with Ledger(address, keys=keys) as ledger:
        status = ledger.status("meters")
        released = {stored.request for stored in ledger.stored.releases("meters", limit=10_000)}
        entries = ledger.history("meters", limit=10_000)
    debits = [entry for entry in entries if not entry.analyst]
    assert {entry.purpose for entry in debits} == released
    assert len(debits) == len(released) == status.charges
    assert {entry.purpose for entry in entries if entry.analyst} == released  # each part paid as well
    assert all(part.spent <= part.limit for part in status.sums)
    assert not status.unreleased
    assert seen["end", "done"] <= len(released)
    print(json.dumps({f"{what} {how}": count for (what, how), count in sorted(seen.items(), key=str)}))
