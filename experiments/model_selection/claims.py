"""What is said about choosing a model by the exponential mechanism, and what we find."""

from __future__ import annotations

import numpy as np

from chronodp.audit.exact import examine
from chronodp.audit.mutants.choices import MUTANTS
from chronodp.selection import ExponentialMechanism, LeastSquares, PermuteAndFlip, Validation, losses_of
from experiments.model_selection.accuracy import ORDERS, Floats, accuracy, people_losses, utilities_of
from experiments.verdicts import Verdict

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def check(people: list[Floats]) -> list[Verdict]:
    """Return every verdict for a panel of people."""
    return [*_sound(), _one_fit(people[0]), *_accuracy(utilities_of(people_losses(people)))]


def _sound() -> list[Verdict]:
    shortcut = next(mutant for mutant in MUTANTS if mutant.name == "choice without the 2 where a person is replaced")
    sound, short = (examine(version, shortcut.neighbours) for version in (shortcut.sound, shortcut.broken))
    return [
        Verdict(
            "the choice is ε-differentially private, with e^(ε u / 2Δ)",
            "ε = 1",
            f"worst loss {sound.epsilon:.4f}, enumerated",
            "holds" if sound.epsilon <= 1 else "false",
        ),
        Verdict(
            "without the 2 it still is, where a person is replaced",
            "(not in the chapter; a usual shortcut)",
            f"worst loss {short.epsilon:.4f} for ε = 1, enumerated",
            "holds" if short.epsilon <= 1 else "false",
        ),
    ]


def _one_fit(series: Floats) -> Verdict:
    """Move one value of one series and see how far clipped one-step errors move in sum."""
    held = len(series) // 2
    validation = Validation(LeastSquares(), held, len(series), largest_error=1.0)
    before = held * losses_of([series], ORDERS, validation)[0]
    worst = 0.0
    for place in range(0, len(series), 10):
        moved = series.copy()
        moved[place] = 10 * np.abs(series).max()
        worst = max(worst, float(np.abs(held * losses_of([moved], ORDERS, validation)[0] - before).max()))
    return Verdict(
        "validation loss of one fit as the utility: one value changes one term",
        "1 clip (implied)",
        f"one value moved the sum by {worst:.1f} clips",
        "holds" if worst <= 1 else "false",
    )


def _accuracy(utilities: dict[str, Floats]) -> list[Verdict]:
    rows = []
    for name, values in utilities.items():
        for mechanism in (ExponentialMechanism(), PermuteAndFlip()):
            found = [accuracy(values, mechanism, epsilon) for epsilon in EPSILONS]
            spread = accuracy(values, mechanism, 1.0, replaced=True)
            told = ", ".join(f"{part:.3f}" for part in found)
            rows.append(
                Verdict(
                    f"the best order is found: {name}, {mechanism}; ε = {', '.join(map(str, EPSILONS))}",
                    "likely",
                    f"{told}; {spread:.3f} at ε = 1 if a person is replaced",
                    "holds" if found[EPSILONS.index(1.0)] > 0.9 else "false",
                )
            )
    return rows
