"""Private training steps a second, beside Opacus on the same model and data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
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
        ("model", "groups", "parameters", "chronodp", "Opacus", "ratio", "of chronodp's step: noise and clipping"),
    )
    chance = np.random.default_rng(1)
    inputs = INPUTS.prepare(chance.uniform(-1, 1, (PEOPLE, HOURS, 8)))
    targets = Risk().prepare(chance.integers(0, 2, PEOPLE))
    for architecture in ARCHITECTURES:
        model = ModelDesign(INPUTS, Risk(), architecture)
        ours = {groups: _ours(model, inputs, targets, groups) for groups in ("one", "several")}
        rest = _rest(model)
        theirs = _opacus(model, inputs, targets)
        *found, spent, peer = _rates([*ours.values(), rest, rest if theirs is None else theirs])
        for groups, rate in zip(ours, found, strict=True):
            beside = ("not installed", "") if theirs is None else (peer, rate / peer)
            topic.rows.append(
                (str(architecture), groups, f"{model.first_parameters().size:,}", rate, *beside, f"{rate / spent:.0%}")
            )
    topic.notes = [
        "one thread, in its own time, turn by turn",
        "chronodp: exact noise and coins from AES-256, gradients in whole numbers; without the ledger",
        "groups: of one size, the default, so that a step takes as long whoever was sampled; or of several",
        "Opacus: noise in floating point from torch's generator (secure_mode off), Poisson samples, its own optimizer",
        "Opacus runs the recurrent model with its DPGRU",
    ]
    return topic


def _ours(model: ModelDesign, inputs: Any, targets: Any, groups: str) -> Callable[[], object]:
    example = (HOURS, INPUTS.channels)
    gradients = PersonGradients(model.build(), model.outcome, example, expected=BATCH, group_sizes=groups)
    at = model.first_parameters()
    return _step(at.size, lambda chosen: gradients.groups(at, inputs[chosen], targets[chosen]))


def _rest(model: ModelDesign) -> Callable[[], object]:
    """Return a step whose gradients are there already."""
    size = model.first_parameters().size
    ready = np.ones((BATCH, size), dtype=np.float32)
    return _step(size, lambda _: [ready])


def _step(size: int, gradients_of: Callable[[Any], Iterable[Any]]) -> Callable[[], object]:
    design, entropy = StepDesign(clip=1.0, sigma=1.0, rate=BATCH / PEOPLE), secure()
    return lambda: private_sum(design, PEOPLE, gradients_of, size=size, entropy=entropy)


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
    """Return calls of each in a second of the processor, measured in turn, so that other work hits all alike."""
    for work in works:
        work()
    spent, calls = [0.0] * len(works), 0
    while sum(spent) < seconds * len(works) or calls < 3:
        for number, work in enumerate(works):
            begun = time.process_time()
            work()
            spent[number] += time.process_time() - begun
        calls += 1
    return [calls / one for one in spent]


if __name__ == "__main__":
    show(measure)
