"""Figure 3: leakage against coupling, age and noise."""

from __future__ import annotations

from experiments.correlated_sequences.setup import COUPLINGS, exact, phi
from experiments.verdicts import Verdict

Curve = tuple[str, list[float], list[float]]


def curves() -> dict[str, list[Curve]]:
    """Name, places and heights of every curve, by panel."""
    steps = [number / 20 for number in range(21)]
    ages, noises = list(range(11)), [float(number) for number in range(1, 11)]
    return {
        "3a leakage against coupling, by the formula": [
            (f"age {age}", steps, [2 * phi(coupling, age) for coupling in steps]) for age in range(5)
        ],
        "3a leakage against coupling, exact": [
            (f"age {age}", steps, [exact(coupling, age, 1.0) for coupling in steps]) for age in range(5)
        ],
        "3b leakage against age": [
            *(
                (f"λ = {coupling:g}, formula", [float(age) for age in ages], [2 * phi(coupling, age) for age in ages])
                for coupling in (0.5, 0.75, 1.0)
            ),
            *(
                (f"λ = {coupling:g}, exact", [float(age) for age in ages], [exact(coupling, age, 1.0) for age in ages])
                for coupling in (0.5, 0.75, 1.0)
            ),
        ],
        "3c leakage against noise level": [
            *((f"age {age}, formula", noises, [2 * phi(0.5, age) * noise for noise in noises]) for age in (1, 5)),
            *((f"age {age}, exact", noises, [exact(0.5, age, noise) for noise in noises]) for age in (1, 5)),
        ],
    }


def check() -> list[Verdict]:
    fall = [1 - phi(coupling, 4) / phi(coupling, 0) for coupling in COUPLINGS]
    early = [1 - phi(coupling, 3) / phi(coupling, 1) for coupling in (0.5, 0.75, 1.0)]
    shape = [phi(coupling, 1) for coupling in COUPLINGS]
    truth = [exact(coupling, 1, 1.0) for coupling in COUPLINGS]
    late = [2 * phi(coupling, 6) for coupling in (0.5, 0.75, 1.0)]
    growth = {
        age: [exact(coupling, age, 10.0) / exact(coupling, age, 1.0) for coupling in (0.5, 0.75, 1.0)] for age in (1, 5)
    }
    old = [1 - phi(coupling, 5) / phi(coupling, 1) for coupling in (0.5, 0.75, 1.0)]
    return [
        Verdict(
            "3a: leakage falls from t = 0 to t = 4", "by about 70 %", f"by {min(fall):.0%} to {max(fall):.0%}", "false"
        ),
        Verdict(
            "3a: U-shaped in the coupling, least at λ = 0.5",
            "stronger coupling leaks less",
            f"Φ: {_row(shape)} for λ = 0, ¼, ½, ¾, 1; exact leakage: {_row(truth)}, most at ½",
            "false",
        ),
        Verdict(
            "3b: leakage falls from t = 1 to t = 3",
            "by about 60 %",
            f"by {min(early):.0%} to {max(early):.0%}",
            "false",
        ),
        Verdict("3b: below 0.05 by t = 6", "for all couplings", f"at most {max(late):.4f}", "holds"),
        Verdict(
            "3c: from ε_C = 1 to 10 leakage grows",
            "3 times at t = 1, 1.5 times at t = 5",
            f"10 times by the formula; exactly {_range(growth[1])} and {_range(growth[5])} times",
            "false",
        ),
        Verdict(
            "3c: data at t = 5 leak less than at t = 1", "about 95 % less", f"{min(old):.1%} to {max(old):.1%}", "holds"
        ),
    ]


def _row(numbers: list[float]) -> str:
    return ", ".join(f"{number:.3f}" for number in numbers)


def _range(numbers: list[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f}"
