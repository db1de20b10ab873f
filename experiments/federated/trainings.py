"""What training shows: the price of noise and of secure addition in accuracy, and what an attack finds."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from chronodp.federated.membership import MembershipAudit
from experiments.claims import Claim, Given, Pair, Tolerance, below, bound, computation, number, order
from experiments.federated import households
from experiments.federated.attacking import attack_training
from experiments.federated.patients import Patients, generate_patients, read_patients
from experiments.federated.sepsis import Areas, measure

__all__ = ["training_claims"]

LOST = 0.08
"""The most that privacy may take off the area under the curve at epsilon 4."""
EPSILON = 4.0
SMALL, LARGE = 2000, 6000
ROUNDS = 24


@computation()
def area(path: Path | None, epsilon: float | None, seeds: int) -> float:
    """Return the mean area under the curve over seeds, on patients that nobody trained on."""
    return _areas(path, LARGE, epsilon, seeds, ROUNDS).mean


@computation(apart=lambda f: lambda *a: f(*a) + 0.01)
def secure_difference(path: Path | None) -> float:
    """Return by how much areas with and without secure aggregation differ at most, after two rounds."""
    plain, secure = (_areas(path, SMALL, EPSILON, 1, 2, secure=secure).areas for secure in (False, True))
    return max(abs(one - two) for one, two in zip(plain, secure, strict=True))


@computation()
def load_error(epsilon: float | None, *, naive: bool = False) -> float:
    """Return the mean absolute error of the next six hours of load: of the model, or of repeating the last value."""
    return _errors(epsilon)[int(naive)]


@computation()
def attacked_epsilon(*, noise: bool) -> float:
    """Return the ε that an attack proves at least, of training among made-up people alone."""
    return _attack(noise)[0].epsilon


@computation()
def claimed_epsilon() -> float:
    """Return the ε that was claimed of that training."""
    return _attack(True)[1]


@computation()
def attacked_among(path: Path | None) -> float:
    """Return the ε that an attack proves at least where made-up people are planted among patients."""
    return attack_training(_patients(path, LARGE), epsilon=EPSILON, rounds=8, noise=True)[0].epsilon


def training_claims(given: Given) -> list[Claim]:
    """Return what we expect of training; patients come from a file where one is given."""
    path = given.path("vitals")
    claim = partial(Claim, source="applications", place="beside A21", origin="ours")
    few, many = (given.mark("vitals", f"{count:,} patients of four hospitals") for count in (SMALL, LARGE))
    return [
        claim(
            id="N07b",
            says="Clipping and sampling without noise do not protect: an attack proves more than the ε that noise "
            "would give.",
            rule=order,
            stated="claimed < proved by the attack",
            readings={"four rounds": lambda: [Pair(claimed_epsilon(), attacked_epsilon(noise=False), "no noise")]},
            data="made-up: 432 people planted",
        ),
        claim(
            id="N07c",
            place="beside A22",
            says="Secure aggregation of whole numbers modulo 2³² costs no accuracy.",
            rule=number,
            stated=0,
            tolerance=Tolerance(absolute=1e-3),
            readings={"difference of the areas under the curve after two rounds": lambda: secure_difference(path)},
            data=few,
            files=("vitals",),
        ),
        claim(
            id="N07d",
            says="Training at ε = 4 is not proved to cost more by an attack.",
            rule=bound,
            stated="proved by the attack at most what is claimed",
            readings={"four rounds": lambda: [Pair(attacked_epsilon(noise=True), claimed_epsilon(), "with noise")]},
            data="made-up: 432 people planted",
        ),
        claim(
            id="N07f",
            says="Among patients an attack on training at ε = 4 proves no more than is claimed either.",
            rule=bound,
            stated="proved by the attack at most what is claimed",
            readings={"eight rounds": lambda: [Pair(attacked_among(path), EPSILON, "108 people planted")]},
            data=many,
            files=("vitals",),
            slow=True,
        ),
        claim(
            id="N28",
            says="At ε = 4 the area under the curve for sepsis-like risk is within 0.08 of the clipped run without "
            "noise.",
            rule=below,
            stated=LOST,
            readings={
                "lost at ε = 4, two seeds": lambda: area(path, None, 2) - area(path, EPSILON, 2),
            },
            data=many,
            files=("vitals",),
            slow=True,
        ),
        claim(
            id="N29",
            says="A private forecast of the next six hours of load is nearer than repeating the last value.",
            rule=order,
            stated="model < last value",
            readings={
                "mean absolute error in kWh": lambda: [
                    Pair(load_error(epsilon), load_error(epsilon, naive=True), f"ε = {epsilon:g}")
                    for epsilon in (1.0, 4.0)
                ]
            },
            data="made-up: 1,200 households of four utilities",
        ),
    ]


@cache
def _patients(path: Path | None, count: int) -> Patients:
    return read_patients(str(path)) if path else generate_patients(count)


@cache
def _areas(
    path: Path | None, count: int, epsilon: float | None, seeds: int, rounds: int, *, secure: bool = False
) -> Areas:
    return measure(_patients(path, count), epsilon=epsilon, seeds=seeds, rounds=rounds, secure=secure)


@cache
def _errors(epsilon: float | None) -> tuple[float, float]:
    return households.errors(epsilon=epsilon, people=300, seeds=1, rounds=10)


@cache
def _attack(noise: bool) -> tuple[MembershipAudit, float]:
    return attack_training(None, epsilon=EPSILON, rounds=4, noise=noise)
