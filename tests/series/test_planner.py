"""The planner's choice: the least error among all candidates, recomputed from written-out matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conftest import Trials
from tests.series.shapes.matrices import lower, tree_matrices, workload_matrix

from chronodp.privacy import Event, RecordUnit, User, Window
from chronodp.series import Count, Measure, Sum, Total
from chronodp.series.design import Design
from chronodp.series.planner import design_release
from chronodp.series.shapes import Tree, White
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal, Workload


def squares(design: Design) -> list[NDArray[np.float64]]:
    """Squared errors of all answers for noise of variance 1, level by level."""
    horizon, workload, shape = design.table.horizon, design.tuned_for, design.shape
    if isinstance(shape, Tree):
        return [(tree_matrices(shape, horizon)[1] ** 2).sum(axis=1)]
    inverse = np.linalg.inv(lower(shape.coefficients(horizon)))
    if isinstance(workload, Hierarchy):
        return [(np.add.reduceat(inverse, np.arange(0, horizon, level)) ** 2).sum(axis=1) for level in workload.levels]
    return [((workload_matrix(workload, horizon) @ inverse) ** 2).sum(axis=1)]


def error(design: Design) -> float:
    """Root of the mean square over levels, each the mean over its answers."""
    return math.sqrt(float(np.mean([part.mean() for part in squares(design)]))) * design.noises[0].deviation


def random_task(chance: np.random.Generator) -> tuple[Table, Workload, float, float]:
    horizon = int(chance.integers(1, 60))
    relation = chance.choice(["add_remove", "replace"])
    periods = int(chance.integers(1, horizon + 1))
    units: list[RecordUnit] = [Event(relation), User(relation), Window(periods, relation)]
    unit = units[int(chance.integers(3))]
    workloads: list[Workload] = [
        EachPeriod(),
        RunningTotal(),
        Rolling(int(chance.integers(1, horizon + 1))),
        Ewm(float(chance.uniform(0.02, 1.0))),
        Filter(tuple(np.cumprod([1.0, *chance.uniform(0.2, 1.0, 4)]).tolist())),
        Hierarchy((1, int(chance.integers(2, horizon + 2)))),
    ]
    measures: list[Measure] = [Total(float(chance.uniform(0.1, 10))), Count(), Sum("kwh", (-1.0, 2.0))]
    limit = periods if unit == User(relation) else None
    table = Table(measures[int(chance.integers(3))], unit, horizon, max_periods=limit)
    delta = float(chance.choice([0.0, 1e-9, 1e-6, 1e-3]))
    return table, workloads[int(chance.integers(6))], float(10 ** chance.uniform(-1, 1)), delta


@pytest.mark.slow
def test_the_choice_is_the_least_of_all_candidates(trials: Trials) -> None:
    chance = np.random.default_rng(12)
    chosen = set()
    for _ in range(trials(2_000, least=80)):
        table, workload, epsilon, delta = random_task(chance)
        designs = design_release(table, epsilon=epsilon, delta=delta, tuned_for=workload)
        found = [error(design) for design in designs]
        stated = [design.errors.rmse_mean for design in designs]
        assert np.allclose(found, stated, rtol=1e-7)
        assert found[0] <= min(found) * (1 + 1e-7)
        assert any(isinstance(design.shape, White) for design in designs)
        assert all(design.epsilon_of(1, delta) <= design.epsilon * (1 + 1e-9) for design in designs)
        chosen.add(type(designs[0].shape).__name__)
    assert len(chosen) >= 3  # no shape is always the best
