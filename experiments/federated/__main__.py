"""Run with ``python -m experiments.federated [--patients TABLE.csv.gz]``.

Without a table everything is made up and small. ``--write`` renews the README's table.
"""

from __future__ import annotations

import sys
from pathlib import Path

from chronodp.accounting import pld, renyi
from chronodp.privacy import RepeatedCost, SampledGaussianCost
from experiments.federated import households
from experiments.federated.attacking import attack_training
from experiments.federated.patients import Patients, generate_patients, read_patients
from experiments.federated.sepsis import measure as measure_patients
from experiments.verdicts import Verdict, show

LOST = 0.08
"""The most that privacy may take off the area under the curve at epsilon 4."""


def measure() -> list[Verdict]:
    if "--patients" in sys.argv[1:]:
        path = sys.argv[sys.argv.index("--patients") + 1]
        return check(read_patients(path), seeds=5, rounds=24, epsilons=(1.0, 2.0, 4.0, 8.0), households_each=1000)
    return check(generate_patients(6000), seeds=2, rounds=24, epsilons=(1.0, 4.0), households_each=500)


def check(
    patients: Patients, *, seeds: int, rounds: int, epsilons: tuple[float, ...], households_each: int
) -> list[Verdict]:
    return [
        *accounting(),
        *accuracy(patients, seeds=seeds, rounds=rounds, epsilons=epsilons),
        load(households_each),
        *membership(patients),
    ]


def accounting() -> list[Verdict]:
    step = SampledGaussianCost(sensitivity=1.0, sigma=1.0, rate=0.1)
    whole, a_round = RepeatedCost(step, 50), RepeatedCost(step, 10)
    found = renyi.epsilon(whole, 1e-5), pld.epsilon(whole, 1e-5)
    reset = renyi.epsilon(a_round, 1e-5)
    return [
        Verdict(
            "σ = 1, rate 0.1, 50 steps, δ = 1e-5",
            "Rényi 5.885, PLD 5.148 (dp-accounting); 5.881, 5.159 (Opacus)",
            f"Rényi {found[0]:.3f} at the best of all orders, PLD {found[1]:.3f}",
            "holds, not tight",
        ),
        Verdict(
            "an engine made anew for each of five rounds of ten steps tells what the run costs",
            f"ε = {reset:.3f}",
            f"ε = {found[0]:.3f}: the rounds add up",
            "false",
        ),
    ]


def accuracy(patients: Patients, *, seeds: int, rounds: int, epsilons: tuple[float, ...]) -> list[Verdict]:
    without = measure_patients(patients, epsilon=None, seeds=seeds, rounds=rounds)
    private = {epsilon: measure_patients(patients, epsilon=epsilon, seeds=seeds, rounds=rounds) for epsilon in epsilons}
    secure = measure_patients(patients, epsilon=4.0, seeds=seeds, rounds=rounds, secure=True)
    curve = "; ".join(f"ε {epsilon:g}: {areas}" for epsilon, areas in private.items())
    lost = without.mean - private[4.0].mean
    apart = max(abs(one - two) for one, two in zip(secure.areas, private[4.0].areas, strict=True))
    return [
        Verdict(
            f"sepsis-like risk of {len(patients):,} patients in four hospitals, {seeds} seeds: at ε = 4 the area under "
            "the curve is close to that of the clipped run without noise",
            f"at most {LOST} below",
            f"without noise {without}; {curve}; {lost:.3f} below at ε = 4",
            "holds" if lost <= LOST else "false",
        ),
        Verdict(
            "secure aggregation, of whole numbers modulo 2^32, costs accuracy",
            "a little",
            f"{secure} at ε = 4; areas differ by at most {apart:.1e}",
            "false" if apart < 1e-3 else "holds",
        ),
    ]


def load(people: int) -> Verdict:
    rows, naive = [], 0.0
    for epsilon in (None, 4.0, 1.0):
        error, naive = households.errors(epsilon=epsilon, people=people, seeds=1, rounds=16)
        rows.append((epsilon, error))
    shown = "; ".join(f"{'no noise' if epsilon is None else f'ε {epsilon:g}'}: {error:.3f}" for epsilon, error in rows)
    return Verdict(
        f"the next six hours of load, {4 * people:,} made-up households of four utilities: a private model beats the "
        "last value",
        f"{naive:.3f} kWh off by repeating the last value",
        f"mean absolute error {shown} kWh",
        "holds" if all(error < naive for _, error in rows) else "false",
    )


def membership(patients: Patients) -> list[Verdict]:
    bare, claimed = attack_training(None, epsilon=4.0, rounds=4, noise=False)
    hidden, _ = attack_training(None, epsilon=4.0, rounds=4, noise=True)
    among, _ = attack_training(patients, epsilon=4.0, rounds=8, noise=True)
    return [
        Verdict(
            "clipping and sampling protect without noise",
            f"as well as ε = {claimed:.2f}",
            f"the attack: {bare}",
            "false" if bare.refutes(claimed) else "holds",
        ),
        Verdict(
            "what is trained privately at ε = 4 is at least as private, seen by an attack",
            f"ε = {claimed:.2f}",
            f"on made-up people alone: {hidden} Among the patients: {among}",
            "false" if hidden.refutes(claimed) or among.refutes(claimed) else "holds",
        ),
    ]


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    show("Training across holders", measure, Path(__file__).with_name("README.md"))
