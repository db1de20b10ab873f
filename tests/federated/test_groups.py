"""Groups of people in a network: any size and place, beside anybody, gives one person the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from chronodp.errors import InvalidArgument
from chronodp.federated.models import Architecture, Convolution, Linear, Recurrent, Risk
from chronodp.federated.training import gradients as module
from chronodp.federated.training.copied import CopiedPasses
from chronodp.federated.training.gradients import PersonGradients
from chronodp.federated.training.groups import Passes, group_sizes_for, run_group, stands_alone
from chronodp.federated.training.recorded import RecordedPasses
from tests.federated.people import design, make_people

CPU = torch.device("cpu")
EVERY: tuple[Architecture, ...] = (Linear(), Recurrent(4), Convolution(4, 2, 3))
SIZES = (16, 32)


def people(count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    values, targets = make_people(count)
    return design().inputs.prepare(values), Risk().prepare(targets)


@pytest.mark.parametrize("horizon", [0, 3])
@pytest.mark.parametrize("architecture", [*EVERY, Recurrent(1), Convolution(1, 1, 2)], ids=str)
def test_one_pass_gives_what_copies_give(architecture: Architecture, horizon: int) -> None:
    model = design(architecture, horizon=horizon)
    chance = np.random.default_rng(1)
    for periods in (6,) if isinstance(architecture, Linear) else (1, 6):
        network = model.build()
        series = torch.from_numpy(chance.normal(0, 1, (9, periods, 4)).astype(np.float32))
        wanted = torch.from_numpy(chance.integers(0, 2, (9, model.outcome.width)).astype(np.float32))
        before = [part.clone() for part in network.parameters()]
        found = []
        for passes in (RecordedPasses(network, model.outcome, CPU), CopiedPasses(network, model.outcome)):
            passes.put(torch.from_numpy(model.first_parameters()))
            found.append(passes.gradients(series, wanted).numpy())
        assert found[0] == pytest.approx(found[1], abs=1e-5)
        assert found[1].any()
        assert all(torch.equal(*pair) for pair in zip(before, network.parameters(), strict=True))


@pytest.mark.parametrize("architecture", EVERY, ids=str)
@pytest.mark.slow
def test_sizes_make_no_difference(architecture: Architecture) -> None:
    model = design(architecture)
    inputs, wanted = people(150)
    at = model.first_parameters()
    one = PersonGradients(model.build(), model.outcome, (6, 4), expected=40)
    several = PersonGradients(model.build(), model.outcome, (6, 4), expected=40, group_sizes="several")
    assert one.sizes == (60,)
    assert several.sizes in ((16, 32, 48, 60), (60,))  # the second where a product's bits change with its height
    everybody = np.concatenate(list(one.rows(at, inputs, wanted)))
    for count in (0, 1, 5, 16, 17, 40, 60, 61, 150):
        groups = list(several.groups(at, inputs[:count], wanted[:count]))
        assert all(len(group) in several.sizes for group in groups)
        found = np.concatenate([np.zeros((0, len(at)), np.float32), *groups])
        assert np.array_equal(found[:count], everybody[:count])
        assert not found[count:].any()  # nobody


def test_with_one_size_every_sample_takes_as_many_groups() -> None:
    model, at = design(), design().first_parameters()
    inputs, wanted = people(150)
    large = PersonGradients(model.build(), model.outcome, (6, 4), expected=1500)
    assert large.sizes == (1024,)
    small = PersonGradients(model.build(), model.outcome, (6, 4), expected=40)
    for gradients, groups in ((large, 2), (small, 1)):
        for count in (0, 1, 40, 60):
            found = list(gradients.groups(at, inputs[:count], wanted[:count]))
            assert [group.shape for group in found] == [(gradients.together, len(at))] * groups
            assert sum(len(rows) for rows in gradients.rows(at, inputs[:count], wanted[:count])) == count
    assert len(list(small.groups(at, inputs, wanted))) == 3  # a sample as few are


def test_sizes_of_groups_and_devices_are_public_and_few() -> None:
    assert group_sizes_for(128, 385, "one") == (164,)
    assert group_sizes_for(128, 385, "several") == (*range(16, 161, 16), 164)
    assert group_sizes_for(5000, 385, "several") == tuple(range(64, 1025, 64))
    assert group_sizes_for(400, 2**21, "several") == (16, 32)
    assert group_sizes_for(400, 2**25, "several") == (8,)
    with pytest.raises(InvalidArgument, match="group_sizes must be one or several"):
        group_sizes_for(40, 385, "two")
    for wrong in ("tpu", "", None, 0, "cuda:9"):
        with pytest.raises(InvalidArgument, match="device must be cpu"):
            PersonGradients(design().build(), Risk(), (6, 4), device=wrong)  # type: ignore[arg-type]


class Rows:
    """Three numbers a person; what is wrong with them is a function of the group."""

    def __init__(self, wrong: Callable[[torch.Tensor, torch.Tensor], object] = lambda _, found: found) -> None:
        self._wrong = wrong
        self._parameters = torch.zeros(3)

    def put(self, parameters: torch.Tensor) -> None:
        self._parameters = parameters

    def gradients(self, series: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        found = series.flatten(1)[:, :3] * self._parameters + torch.nan_to_num(wanted)
        self._wrong(series, found)
        return found


def by_place(_: torch.Tensor, found: torch.Tensor) -> None:
    found[-3:] *= 1 + 2**-22


def by_one_place_of_a_large_group(_: torch.Tensor, found: torch.Tensor) -> None:
    found[8, 1] *= 1 + 2**-22


def by_size(_: torch.Tensor, found: torch.Tensor) -> None:
    found *= 1 + len(found) * 2.0**-23


def by_the_neighbour(series: torch.Tensor, found: torch.Tensor) -> None:
    found += 1e-3 * torch.roll(series.flatten(1)[:, :3], 1, 0)


def by_all(series: torch.Tensor, found: torch.Tensor) -> None:
    found *= 1 + 1e-6 * series.sum() / len(series)


def by_overflow(series: torch.Tensor, found: torch.Tensor) -> None:
    found += 0 * (series * series).sum()


def by_how_many(series: torch.Tensor, found: torch.Tensor) -> None:
    found *= 1 + 1e-6 * (series.flatten(1) != 0).any(1).sum()


@pytest.mark.parametrize(
    "wrong", [by_place, by_one_place_of_a_large_group, by_size, by_the_neighbour, by_all, by_overflow, by_how_many]
)
def test_the_check_sees_bits_that_depend(wrong: Callable[[torch.Tensor, torch.Tensor], object]) -> None:
    chance = np.random.default_rng(3)
    inputs = chance.normal(0, 1, (64, 6, 4)).astype(np.float32)
    wanted = chance.integers(0, 2, (64, 1)).astype(np.float32)
    sound, broken = Rows(), Rows(wrong)
    for passes in (sound, broken):
        passes.put(torch.tensor([0.3, -0.7, 1.1]))
    assert stands_alone(sound, CPU, SIZES, inputs, wanted)
    assert not stands_alone(broken, CPU, SIZES, inputs, wanted)


def test_nobody_counts_for_nothing_whatever_a_network_says() -> None:
    inputs, wanted = people(5)
    passes = Rows(lambda _, found: found.fill_(torch.nan))
    passes.put(torch.ones(3))
    found = run_group(passes, CPU, inputs, wanted, 8)
    assert np.isnan(found[:5]).all()
    assert not found[5:].any()


def test_where_sizes_differ_there_is_one_and_where_one_pass_fails_copies_go(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[int, ...]]] = []

    def only(passes: object, _: object, sizes: tuple[int, ...], *__: object) -> bool:
        asked.append((type(passes).__name__, sizes))
        return asked[-1] in allowed

    monkeypatch.setattr(module, "stands_alone", only)
    several = (16, 32, 48, 60)
    ways = [("RecordedPasses", several), ("RecordedPasses", (60,)), ("CopiedPasses", several), ("CopiedPasses", (60,))]
    for place, way in enumerate(ways):
        allowed = {way}
        asked.clear()
        found = PersonGradients(design().build(), Risk(), (6, 4), group_sizes="several")
        assert (asked, found.sizes) == (ways[: place + 1], way[1])
    allowed = set()
    assert PersonGradients(design().build(), Risk(), (6, 4), group_sizes="several").sizes == (1,)


def test_networks_of_ones_own_are_run_one_person_at_a_time() -> None:
    """What takes a maximum takes that of a person, though made of linear layers."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.answer = nn.Linear(24, 1)

        def forward(self, series: torch.Tensor) -> torch.Tensor:
            answer: torch.Tensor = self.answer(series.flatten(-2) / series.abs().max().clamp(min=100))
            return answer

    inputs, wanted = people(40)
    gradients = PersonGradients(Scaled(), Risk(), (6, 4))
    at = np.full(25, 0.1, np.float32)
    before = np.concatenate(list(gradients.rows(at, inputs, wanted)))
    inputs[-1] *= 1000
    assert np.array_equal(np.concatenate(list(gradients.rows(at, inputs, wanted)))[:-1], before[:-1])


def test_other_threads_are_checked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, wanted = people(5)
    gradients = PersonGradients(design().build(), Risk(), (6, 4))
    checked: list[int] = []

    def check(*_: object) -> bool:
        checked.append(torch.get_num_threads())
        return True

    monkeypatch.setattr(module, "stands_alone", check)
    at, threads = np.zeros(25, np.float32), torch.get_num_threads()
    list(gradients.rows(at, inputs, wanted))
    assert not checked
    torch.set_num_threads(threads + 1)
    try:
        list(gradients.rows(at, inputs, wanted))
        list(gradients.rows(at, inputs, wanted))
    finally:
        torch.set_num_threads(threads)
    assert checked == [threads + 1]


def test_a_device_that_computes_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Off:
        def __init__(self, passes: Passes, by: float) -> None:
            self._passes, self._by = passes, by

        def put(self, parameters: torch.Tensor) -> None:
            self._passes.put(parameters)

        def gradients(self, series: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
            return self._passes.gradients(series, wanted) * (1 + self._by)

    gradients = PersonGradients(design(Recurrent(4)).build(), Risk(), (6, 4))
    parameters, inputs, wanted = gradients._made_up()
    sound = gradients._passes
    for by in (0.0, 1e-6):
        monkeypatch.setattr(gradients, "_passes", Off(sound, by))
        gradients._compare(parameters, inputs[:8], wanted[:8])
    for by in (1e-3, float("nan")):
        monkeypatch.setattr(gradients, "_passes", Off(sound, by))
        with pytest.raises(InvalidArgument, match=r"computes as the processor does.*allow_tf32"):
            gradients._compare(parameters, inputs[:8], wanted[:8])
