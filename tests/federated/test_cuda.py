"""Training on a graphics card: nobody's bits depend on others there either, and whole numbers are the processor's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.models import Architecture, Column, Convolution, Inputs, Linear, ModelDesign, Recurrent, Risk
from chronodp.federated.training.clipping import whole_rows
from chronodp.federated.training.gradients import PersonGradients
from chronodp.randomness import seeded
from tests.federated.people import make_plan, make_trainer, open_ledger

# Asked when a test begins: a process that has looked for a device cannot fork one that uses it.
pytestmark = pytest.mark.skipif("not torch.cuda.is_available()", reason="torch finds no cuda device here")

INPUTS = Inputs(tuple(Column(f"vital {number}", -1.0, 1.0) for number in range(8)), 24)
EVERY: tuple[Architecture, ...] = (Linear(), Convolution(16, 3, 3), Recurrent(16), Recurrent(64))
RESOLUTION = 2**18
STEPS = 64  # of 2^18: gradients of both differ in their last bits


def people(count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    chance = np.random.default_rng(1)
    values, targets = chance.uniform(-1, 1, (count, 24, 8)), chance.integers(0, 2, count)
    return INPUTS.prepare(values), Risk().prepare(targets)


@pytest.mark.parametrize("sizes", ["one", "several"])
@pytest.mark.parametrize("architecture", EVERY, ids=str)
def test_whole_numbers_are_the_processors_and_depend_on_nobody(architecture: Architecture, sizes: str) -> None:
    model = ModelDesign(INPUTS, Risk(), architecture)
    inputs, wanted = people(400)
    at = model.first_parameters()
    made = {
        device: PersonGradients(model.build(), Risk(), (24, 16), expected=128, group_sizes=sizes, device=device)
        for device in ("cpu", "cuda")
    }
    rows = {device: np.concatenate(list(one.rows(at, inputs, wanted))) for device, one in made.items()}
    whole = {device: whole_rows(found, clip=1.0, resolution=RESOLUTION) for device, found in rows.items()}
    apart = np.abs(whole["cuda"] - whole["cpu"]).max()
    assert apart <= STEPS, f"{apart:g} steps"
    assert made["cuda"].together > 1, "people go one by one there: right, but slow"
    chance = np.random.default_rng(2)
    for share in (0.01, 0.1, 0.3, 0.5, 0.9):
        some = np.flatnonzero(chance.random(400) < share)
        found = np.concatenate(list(made["cuda"].rows(at, inputs[some], wanted[some])))
        assert np.array_equal(found, rows["cuda"][some])


def test_a_holder_trains_there_and_seeds_repeat_it(tmp_path: Path) -> None:
    plan = make_plan()
    updates = []
    for run in ("first", "second"):
        folder = tmp_path / run
        folder.mkdir()
        with open_ledger(folder, plan, "north") as ledger:
            holder = make_trainer(plan, ledger, entropy=seeded(1), device="cuda")
            updates.append(holder.update(1, plan.model.first_parameters()))
    assert np.array_equal(updates[0], updates[1])


def test_numbers_of_ten_bits_are_refused() -> None:
    """Or no device rounds so; both are sound."""
    model = ModelDesign(INPUTS, Risk(), Recurrent(64))
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        with pytest.raises(InvalidArgument, match="device must be one that computes as the processor does"):
            PersonGradients(model.build(), Risk(), (24, 16), expected=128, device="cuda")
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
