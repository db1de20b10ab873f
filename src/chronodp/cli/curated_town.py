"""A made-up town under a curator: data, policy, tokens and a first release, for newcomers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chronodp.cli.town import END, START, make_town
from chronodp.privacy import check_whole

__all__ = ["FIRST", "POLICY", "prepare_town"]

POLICY = """# Who may ask what of which data, and for how much. `chronodp curator check policy.toml` reads it.

[service]
title = "A made-up town"

[datasets.meters]
about = "Hourly electricity of the households of a made-up town, January 2026"
source = "town.parquet"          # beside this file; Parquet or CSV, a glob is fine
time = "read_at"
user = "meter_id"
every = "1h"                     # the public grid; empty hours are released too
start = "{start}"
end = "{end}"
unit = "user"                    # everything of one household is protected
max_periods = 744                # how many hours of one household count, unless a question says fewer; of days and
                                 # weeks as many as the same stretch touches
people = {people}                    # public, about
epsilon = 8.0                    # the whole budget: nobody, and nobody together, gets beyond it
delta = 1e-6
share = true                     # analysts see each other's releases, and get them again for nothing

[datasets.meters.columns.kwh]
about = "kilowatt hours"
clip = {{ 1h = [0.0, 5.0], 1D = [0.0, 150.0], 1W = [0.0, 1000.0] }}     # the widest that may be asked of one household,
                                 # by length of a period: without its own a length is refused
usual = {{ 1h = 0.6, 1D = 15.0, 1W = 95.0 }}     # public, about: what one household has; a clip below it is refused

[datasets.meters.groups]
district = {{ north = {north}, south = {south} }}     # public keys, and about how many people each has

[datasets.meters.allow]
grids = ["1h", "1D", "1W"]
epsilon = 2.0                    # the most that one release may cost, at the delta above
least_group = 100                # compared with the declared numbers above, never with the data

[datasets.meters.analysts.ana]
epsilon = 4.0

[datasets.meters.analysts.ben]
epsilon = 4.0
"""

FIRST: dict[str, Any] = {"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 5.0]}, "epsilon": 2.0, "delta": 1e-7}


def prepare_town(folder: Path, *, households: int) -> dict[str, Any]:
    """Make what is missing in a folder, add a token for each role, and release a first series as ana."""
    check_whole("households", households, least=10)
    folder.mkdir(parents=True, exist_ok=True)
    town, policy = folder / "town.parquet", folder / "policy.toml"
    make_town(town, households=households)
    if not policy.exists():
        north = households * 2 // 5
        text = POLICY.format(start=START, end=END, people=households, north=north, south=households - north)
        policy.write_text(text, encoding="utf-8")
    return {"folder": str(folder), "tokens": _open(policy, folder / "budget.db")}


def _open(policy: Path, ledger: Path) -> dict[str, str]:
    from chronodp.service import Caller, Curator, QueryRequest, Role, Runner, Unpaced, add_token, read_policy

    curator = Curator(read_policy(policy), str(ledger))
    try:
        curator.open_budgets()
        ana = Caller("ana", "analyst", "")
        question = QueryRequest.model_validate(FIRST)
        curator.submit(ana, curator.policy.datasets["meters"], question, request="first-look", fresh=False)
        Runner(curator, pace=Unpaced()).run_one()  # the owner sits at the keyboard: nobody watches the clock
        people: dict[str, Role] = {"owner": "owner", "ana": "analyst", "ben": "analyst", "eve": "auditor"}
        return {name: add_token(curator.store, name, role) for name, role in people.items()}
    finally:
        curator.close()
