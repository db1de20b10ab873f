"""How far certified leakage lies above the truth on random chains of sparse coupling, before and after."""

from __future__ import annotations

import itertools
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Topic, show
from chronodp.correlated import CouplingMarkovChain, LeakageModel, Sum
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.query import tabulate

SEQUENCES = 10  # 1,024 joint states, all listed for the truth; the others may list 64 and treat the group as too large
CHAINS = 16  # of each temper and strength
AGES = (1, 2, 4)
SHAPES = ("path", "ring", "tree", "random")


def hears(shape: str, chance: np.random.Generator) -> NDArray[np.float64]:
    """Who hears whom: itself, and the next along a path, ring or tree; or the next and one drawn."""
    heard = np.eye(SEQUENCES)
    for j in range(SEQUENCES):
        if shape == "random":
            heard[j, (j + 1) % SEQUENCES] = heard[j, int(chance.integers(SEQUENCES))] = 1
        elif shape == "tree" and j:
            parent = int(chance.integers(max(0, j - 3), j))
            heard[j, parent] = heard[parent, j] = 1
        elif shape == "ring" or (shape == "path" and j):
            heard[j, j - 1] = heard[j - 1, j] = 1
    return heard


def draw(shape: str, evenness: float, strength: float, chance: np.random.Generator) -> CouplingMarkovChain:
    """A binary chain: moves of Dirichlet(evenness), at least 2 % each; coupling drawn evenly, times the strength."""
    coupling = hears(shape, chance) * chance.dirichlet(np.ones(SEQUENCES), size=SEQUENCES)
    coupling = strength * coupling / coupling.sum(axis=1, keepdims=True) + (1 - strength) * np.eye(SEQUENCES)
    moves = chance.dirichlet(np.full(2, evenness), size=(SEQUENCES, SEQUENCES, 2)).swapaxes(2, 3)
    moves = np.maximum(moves, 0.02)
    return CouplingMarkovChain(moves / moves.sum(axis=2, keepdims=True), coupling)


def measure() -> Topic:
    topic = Topic(
        f"Certified leakage over the truth, {SEQUENCES} coupled sequences, the sum at ε_C = 1: before and after",
        "python -m benchmarks.looseness",
        (
            "moves",
            "coupling",
            "adversary",
            "age",
            "before: median / 90 % / worst",
            "with windows: median / 90 % / worst",
            "by elimination: worst",
            "below the truth",
            "before / windows / elimination, ms",
        ),
    )
    below = 0
    for (moves, evenness), (coupling, strength) in itertools.product(
        (("sharp", 1.0), ("even", 5.0)), (("weak", 0.3), ("strong", 1.0))
    ):
        readings = [
            reading
            for number in range(CHAINS)
            for reading in at_chain(draw(SHAPES[number % 4], evenness, strength, np.random.default_rng(number)))
        ]
        for adversary, age in itertools.product(("knows_others", "knows_none"), AGES):
            rows = np.array([values for who, when, values in readings if (who, when) == (adversary, age)])
            before, windows, exact = (spread(rows[:, place]) for place in range(3))
            below += int(rows[:, 3].sum())
            times = " / ".join(f"{1e3 * part:.0f}" for part in np.median(rows[:, 4:], axis=0))
            counted = f"{int(rows[:, 3].sum())} of {SEQUENCES * len(rows) * 3}"
            name = adversary.replace("_", " ")
            topic.rows.append((moves, coupling, name, age, before, windows, exact.split(" / ")[2], counted, times))
    topic.notes = [
        f"{4 * CHAINS} chains: paths, rings, trees and random graphs of two to three heard; truth by listing all joint "
        "states",
        "before: the least of group ceiling, one step, memory and space-time Dobrushin; with windows: and the window "
        "bound; by elimination: what `leakage` certifies up to 2^14 joint states",
        f"figures below the truth: {below}",
    ]
    return topic


def at_chain(model: CouplingMarkovChain) -> list[tuple[str, int, tuple[float, ...]]]:
    """Ratios to the truth, how many lie below it, and seconds, for each adversary and age."""
    listed, sparse = LeakageModel(model), LeakageModel(model, largest=2**SEQUENCES // 16)
    outputs = tabulate(Sum(), SEQUENCES, 2)
    everyone = np.arange(SEQUENCES)
    _ = sparse.field, sparse.least, sparse.sparse_joints
    found: list[tuple[str, int, tuple[float, ...]]] = []
    for adversary, age in itertools.product(("knows_others", "knows_none"), AGES):
        released = Released(outputs, np.full(SEQUENCES, age), 1.0)
        truth = listed.measure(released, adversary).exact  # type: ignore[arg-type]
        clock = [time.perf_counter()]
        before = np.min(list(sparse.bounds(released, adversary).values()), axis=0)  # type: ignore[arg-type]
        clock.append(time.perf_counter())
        windows = np.minimum(before, sparse.by_window(released, adversary, everyone))  # type: ignore[arg-type]
        clock.append(time.perf_counter())
        exact = sparse.measure(released, adversary).bounds["exact"]  # type: ignore[arg-type]
        clock.append(time.perf_counter())
        each = (before, windows, exact)
        below = sum(int((bound < truth).sum()) for bound in each)
        ratios = [float(bound.max() / truth.max()) for bound in each]
        found.append((adversary, age, (*ratios, below, *np.diff(clock))))
    return found


def spread(ratios: NDArray[np.float64]) -> str:
    return " / ".join(f"{part:.3g}" for part in (np.median(ratios), np.quantile(ratios, 0.9), ratios.max()))


if __name__ == "__main__":
    show(measure)
