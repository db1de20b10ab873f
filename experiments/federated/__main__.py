"""Accuracy against ε: ``python -m experiments.federated [--patients TABLE.csv.gz] [--seeds N]``.

Without a table patients are made up. What is claimed and found stands in ``python -m experiments federated``.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.table import Table

from experiments.federated.patients import generate_patients, read_patients
from experiments.federated.sepsis import measure

EPSILONS = (None, 1.0, 2.0, 4.0, 8.0)


def main(words: list[str] | None = None) -> int:
    """Train at every ε and show the areas under the curve; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.federated", description="Accuracy against ε.")
    parser.add_argument("--patients", metavar="TABLE", help="a table of patients; made up if not given")
    parser.add_argument("--seeds", type=int, default=5, help="how many splits and starts")
    parser.add_argument("--rounds", type=int, default=24, help="of training")
    options = parser.parse_args(words)
    patients = read_patients(options.patients) if options.patients else generate_patients(6000)
    table = Table("ε", "area under the curve", title=f"{len(patients):,} patients of four hospitals")
    for epsilon in EPSILONS:
        found = measure(patients, epsilon=epsilon, seeds=options.seeds, rounds=options.rounds)
        table.add_row("no noise" if epsilon is None else f"{epsilon:g}", str(found))
    secure = measure(patients, epsilon=4.0, seeds=options.seeds, rounds=options.rounds, secure=True)
    table.add_row("4, secure aggregation", str(secure))
    Console().print(table)
    return 0


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    sys.exit(main())
