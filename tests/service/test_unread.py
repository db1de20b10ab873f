"""What a curator's owner reads of rows that cannot be read: a line of the log, and nothing that an analyst sees."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from chronodp.service.curator import Caller, Curator
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from chronodp.service.runner import Runner
from tests.service.town import COUNT, SUM, write_policy

ANA = Caller("ana", "analyst", "")


@pytest.mark.parametrize("question", [COUNT, SUM], ids=["count", "sum"])
def test_the_log_has_a_line_and_the_analyst_has_nothing(
    tmp_path: Path, question: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    rows = ["2026-01-01T10:00,m1,1.0,north", "31/01/2026,m2,1.0,north", "2026-01-01T11:00,m2,x,south"]
    (tmp_path / "rows.csv").write_text("\n".join(["read_at,meter,kwh,region", *rows, ""]), encoding="utf-8")
    policy = write_policy(tmp_path, source="rows.csv")
    curator = Curator(read_policy(policy), str(tmp_path / "budget.db"))
    curator.open_budgets()
    dataset = curator.policy.datasets["meters"]
    job = curator.submit(ANA, dataset, QueryRequest.model_validate(question), request="r", fresh=True)[0]
    with caplog.at_level(logging.WARNING, "chronodp.service"):
        assert Runner(curator, pace=Unpaced()).run_one()
    unread = [record.getMessage() for record in caplog.records if "were read" in record.getMessage()]
    assert len(unread) == 1
    assert unread[0].startswith("unread meters ana/r: rows.csv: ")
    assert f"{2 if question is COUNT else 1} of 3 rows were read" in unread[0]
    done = curator.job(ANA, job.id)
    assert done.state == "done"
    stored = curator.ledger.stored.release_of("meters", done.request)
    for seen in (json.dumps(done.problem), str(stored), str(done)):
        assert "were read" not in seen
    curator.close()
