"""Tomorrow's load of made-up households, read from two days of it, in four utilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.federated.models import Column, Forecast, Inputs, Linear, ModelDesign
from chronodp.federated.training import plan_training, predict
from experiments.federated.running import train

HORIZON = 6
LOAD = Column("kwh", 0.0, 3.0)


def make_households(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 24 hours of load and the next six; households differ in size, and mornings and evenings in height."""
    chance = np.random.default_rng(seed)
    hour = np.arange(24 + HORIZON)
    begins = chance.integers(0, 24, (count, 1))
    clock = (hour[None, :] + begins) % 24
    shape = 0.35 + 0.35 * np.exp(-((clock - 8) ** 2) / 6) + 0.8 * np.exp(-((clock - 19) ** 2) / 8)
    size = np.exp(chance.normal(0.0, 0.35, (count, 1)))
    load = size * shape * np.exp(chance.normal(0.0, 0.25, shape.shape))
    return load[:, :24, None], load[:, 24:]


def errors(*, epsilon: float | None, people: int, seeds: int, rounds: int) -> tuple[float, float]:
    """Return the mean absolute error in kWh of the model, and of repeating the last value, on other households."""
    model = ModelDesign(Inputs((LOAD,), 24), Forecast(LOAD, HORIZON), Linear())
    plan = plan_training(
        model,
        epsilon=8.0 if epsilon is None else epsilon,
        delta=1e-5,
        people=people,
        batch=people // 10,
        rounds=rounds,
        local_steps=5,
        clip=1.0,
        learning_rate=0.03,
        momentum=0.8,
    )
    values, targets = make_households(2000, 999)
    found = []
    for seed in range(1, seeds + 1):
        parts = [make_households(people, 10 * seed + place) for place in range(4)]
        parameters = train(plan, parts, seed=seed, noise=epsilon is not None)
        found.append(np.abs(predict(model, parameters, values) - targets).mean())
    return float(np.mean(found)), float(np.abs(values[:, -1:, 0] - targets).mean())
