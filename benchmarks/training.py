"""Private training steps a second, beside Opacus on the same model and data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Topic, show
from chronodp.federated.models import Architecture, Column, Convolution, Inputs, Linear, ModelDesign, Recurrent, Risk
from chronodp.federated.training import StepDesign, private_sum
from chronodp.federated.training.gradients import PersonGradients
from chronodp.randomness import secure

PEOPLE, BATCH, HOURS = 2000, 128, 24
INPUTS = Inputs(tuple(Column(f"vital {number}", -1.0, 1.0) for number in range(8)), HOURS)
ARCHITECTURES: tuple[Architecture, ...] = (Linear(), Convolution(16, 3, 3), Recurrent(16), Recurrent(64))


def measure() -> Topic:
    import torch

    torch.set_num_threads(1)
    topic = Topic(
        f"Private training: steps a second, samples of {BATCH} people in the mean, {HOURS} hours of 8 columns",
        "python -m benchmarks.training",
        ("model", "parameters", "chronodp", "Opacus", "ratio", "of chronodp's step: noise and clipping"),
    )
    chance = np.random.default_rng(1)
    inputs = INPUTS.prepare(chance.uniform(-1, 1, (PEOPLE, HOURS, 8)))
    targets = Risk().prepare(chance.integers(0, 2, PEOPLE))
    for architecture in ARCHITECTURES:
        model = ModelDesign(INPUTS, Risk(), architecture)
        ours, rest = _ours(model, inputs, targets)
        theirs = _opacus(model, inputs, targets)
        found = _rates([ours, *([theirs] if theirs is not None else [])])
        size = len(model.first_parameters())
        peer = ("not installed", "") if theirs is None else (found[1], found[0] / found[1])
        topic.rows.append(
            (str(architecture), f"{size:,}", found[0], *peer, f"{_rates([rest])[0] ** -1 * found[0]:.0%}")
        )
    topic.notes = [
        "one thread; chronodp: exact noise and coins from AES-256, gradients in whole numbers; without the ledger",
        "Opacus: noise in floating point from torch's generator (secure_mode off), Poisson samples, its own optimizer",
        "Opacus runs the recurrent model with its DPGRU",
    ]
    return topic


def _ours(model: ModelDesign, inputs: Any, targets: Any) -> tuple[Callable[[], object], Callable[[], object]]:
    gradients = PersonGradients(model.build(), model.outcome, (HOURS, INPUTS.channels), expected=BATCH)
    at, entropy = model.first_parameters(), secure()
    design = StepDesign(clip=1.0, sigma=1.0, rate=BATCH / PEOPLE)
    ready = np.ones((64, len(at)), dtype=np.float32)

    def step() -> object:
        return private_sum(
            design,
            PEOPLE,
            lambda chosen: gradients.rows(at, inputs[chosen], targets[chosen]),
            size=len(at),
            entropy=entropy,
        )

    def rest() -> object:
        return private_sum(design, PEOPLE, lambda _: [ready, ready], size=len(at), entropy=entropy)

    return step, rest


def _opacus(model: ModelDesign, inputs: Any, targets: Any) -> Callable[[], object] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
            from opacus import GradSampleModule
            from opacus.layers import DPGRU
            from opacus.optimizers import DPOptimizer
    except ImportError:
        return None
    from torch import nn

    class Recurring(nn.Module):
        """Opacus' own recurrent layer, with the same answer."""

        def __init__(self, hidden: int) -> None:
            super().__init__()
            self.inner = DPGRU(INPUTS.channels, hidden, batch_first=True)
            self.answer = nn.Linear(hidden, 1)

        def forward(self, series: Any) -> Any:
            return self.answer(self.inner(series)[0][:, -1])

    network = Recurring(model.architecture.hidden) if isinstance(model.architecture, Recurrent) else model.build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = GradSampleModule(network, loss_reduction="sum")
    plain = torch.optim.SGD(wrapped.parameters(), lr=1e-6)
    optimizer = DPOptimizer(
        plain, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=BATCH, loss_reduction="sum"
    )
    series, wanted = torch.from_numpy(inputs), torch.from_numpy(targets)
    judge = nn.BCEWithLogitsLoss(reduction="sum")

    def step() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = torch.rand(PEOPLE) < BATCH / PEOPLE
            optimizer.zero_grad()
            judge(wrapped(series[chosen]), wanted[chosen]).backward()
            return optimizer.step()

    return step


def _rates(works: list[Callable[[], object]], seconds: float = 2.0) -> list[float]:
    """Return calls a second of each, measured in turn, so that what else the machine does hits all alike."""
    for work in works:
        work()
    spent, calls = [0.0] * len(works), 0
    while sum(spent) < seconds * len(works) or calls < 3:
        for number, work in enumerate(works):
            begun = time.perf_counter()
            work()
            spent[number] += time.perf_counter() - begun
        calls += 1
    return [calls / one for one in spent]


if __name__ == "__main__":
    show(measure)
