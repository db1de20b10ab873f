"""A holder that trains until it dies: with SIGKILL, the ``count``-th time it reaches ``point`` of the ledger's work.

Each update is written to a file after it was told.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import chronodp as cdp
from tests.federated.people import make_plan, make_trainer
from tests.killing import die_at


def train_and_die(folder: Path, point: str, count: int) -> None:
    plan = make_plan()
    start = plan.model.first_parameters()
    with cdp.Ledger(folder / "budget.db", reached=die_at(point, count)) as ledger:
        ledger.open("north", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
        holder = make_trainer(plan, ledger)
        with (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file:
            for number in range(1, plan.rounds + 1):
                update = holder.update(number, start)
                file.write(f"{number} {hashlib.sha256(update.tobytes()).hexdigest()}\n")


if __name__ == "__main__":
    train_and_die(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
