"""Networks: the same as torch's where torch has one, a gradient for each person, nothing seen of the future."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from chronodp.errors import InvalidArgument
from chronodp.federated.models import (
    Architecture,
    Column,
    Convolution,
    Forecast,
    Inputs,
    Linear,
    Recurrent,
    Risk,
    loss_of,
    slope_of,
)
from chronodp.federated.networks import ConvolutionNetwork, RecurrentNetwork, check_layers
from chronodp.federated.training import gradients as module
from chronodp.federated.training.copied import CopiedPasses
from chronodp.federated.training.gradients import PersonGradients, put
from chronodp.federated.training.groups import Passes, group_sizes_for, run_group, stands_alone
from chronodp.federated.training.recorded import RecordedPasses
from chronodp.privacy import dump, load
from tests.cases import case
from tests.federated.people import INPUTS, design, make_people

EVERY: tuple[Architecture, ...] = (Linear(), Recurrent(4), Convolution(4, 2, 3))


def test_the_recurrent_network_is_torchs() -> None:
    ours, theirs = RecurrentNetwork(5, 7, 2), nn.GRU(5, 7, batch_first=True)
    with torch.no_grad():
        own = (ours.entering.weight, ours.returning.weight, ours.entering.bias, ours.returning.bias)
        for part, mine in zip(theirs.parameters(), own, strict=True):
            part.copy_(mine)
        series = torch.randn(3, 11, 5, generator=torch.Generator().manual_seed(1))
        expected = ours.answer(theirs(series)[0][:, -1])
        assert torch.allclose(ours(series), expected, atol=1e-6)


def test_the_convolution_is_torchs() -> None:
    """Of all periods, though it computes those alone that the answer needs."""
    for layers in [1, 2, 3]:
        for kernel in [2, 3, 5]:
            with case(layers, kernel):
                network = ConvolutionNetwork(2, 4, layers, kernel, 3)
                for periods in (1, 2, 3, 5, 8, 11, 40):
                    series = torch.randn(5, periods, 2, generator=torch.Generator().manual_seed(periods))
                    with torch.no_grad():
                        state = network.enter(series)
                        for layer, look in enumerate(network.filters):
                            assert isinstance(look, nn.Linear)
                            # torch's filters go from the oldest period to the newest.
                            filters = look.weight.reshape(4, kernel, 4).flip(1).transpose(1, 2)
                            past = nn.functional.pad(state.transpose(1, 2), ((kernel - 1) * 2**layer, 0))
                            seen = nn.functional.conv1d(past, filters, look.bias, dilation=2**layer).transpose(1, 2)
                            state = state + torch.relu(seen)
                        assert torch.allclose(network(series), network.answer(state[:, -1]), atol=1e-5)
                        assert torch.allclose(
                            network(series[2]), network(series)[2], atol=1e-5
                        )  # one person as several


@pytest.mark.parametrize("architecture", EVERY, ids=str)
def test_each_persons_gradient_is_that_of_its_own_loss(architecture: Architecture) -> None:
    model = design(architecture)
    values, targets = make_people(70)
    targets[3] = np.nan
    inputs, wanted = model.inputs.prepare(values), model.outcome.prepare(targets)
    network, at = model.build(), model.first_parameters()
    found = np.concatenate(list(PersonGradients(network, model.outcome, (6, 4)).rows(at, inputs, wanted)))
    assert found.shape == (70, len(at))
    put(network, at)
    for person in (0, 3, 69):
        network.zero_grad()
        loss_of(model.outcome, network(torch.from_numpy(inputs[person])), torch.from_numpy(wanted[person])).backward()  # type: ignore[no-untyped-call]
        alone = np.concatenate([part.grad.numpy().ravel() for part in network.parameters() if part.grad is not None])
        assert found[person] == pytest.approx(alone, abs=1e-6)
    assert not found[3].any()  # nothing is known of that person


@pytest.mark.parametrize("architecture", EVERY, ids=str)
def test_no_bit_of_a_gradient_depends_on_the_others(architecture: Architecture) -> None:
    model = design(architecture)
    inputs, wanted = model.inputs.prepare(make_people(150)[0]), model.outcome.prepare(make_people(150)[1])
    gradients, at = PersonGradients(model.build(), model.outcome, (6, 4)), model.first_parameters()
    everybody = np.concatenate(list(gradients.rows(at, inputs, wanted)))
    chance = np.random.default_rng(1)
    for _ in range(5):
        some = np.flatnonzero(chance.random(150) < 0.3)
        found = np.concatenate(list(gradients.rows(at, inputs[some], wanted[some])))
        assert np.array_equal(found, everybody[some])


def test_layers_that_cannot_be_handled_are_named() -> None:
    layer: nn.Module
    for layer, named, instead in [
        (nn.GRU(3, 4), "GRU", "DPGRU"),
        (nn.LSTM(3, 4), "LSTM", "DPLSTM"),
        (nn.BatchNorm1d(3), "BatchNorm1d", "GroupNorm"),
        (nn.InstanceNorm1d(3), "InstanceNorm1d", "GroupNorm"),
        (nn.Dropout(), "Dropout", "regularises"),
        (nn.MultiheadAttention(4, 2), "MultiheadAttention", "DPMultiheadAttention"),
    ]:
        with case(layer, named, instead):
            with pytest.raises(InvalidArgument, match=f"{named} at '1.0'.*{instead}"):
                check_layers(nn.Sequential(nn.Linear(3, 3), nn.Sequential(layer)))
            assert check_layers(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))) is not None
            with pytest.raises(InvalidArgument, match="parameters"):
                check_layers(nn.ReLU())


def test_inputs_are_scaled_by_public_bounds_and_padded() -> None:
    values = np.array([[[400.0, np.nan], [np.inf, 38.0], [40.0, -np.inf]]])
    found = INPUTS.prepare(values)[0]
    assert found.shape == (6, 4)
    assert not found[:3].any()
    assert found[3:].tolist() == [[1, 1, 0, 0], [1, 1, 0, 1], [-1, 1, -1, 1]]
    assert INPUTS.prepare(np.zeros((2, 9, 2))).shape == (2, 6, 4)
    assert INPUTS.prepare(np.zeros((0, 9, 2))).shape == (0, 6, 4)
    assert not INPUTS.prepare(np.zeros((1, 0, 2))).any()
    for wrong in (np.zeros((2, 6, 3)), np.zeros((2, 6)), [["a"]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(InvalidArgument, match="values must be numbers of the shape"):
            INPUTS.prepare(wrong)


def test_targets_that_say_nothing_count_for_nothing() -> None:
    assert Risk().prepare([0, 1, 2, np.nan])[:, 0].tolist()[:2] == [0, 1]
    assert np.isnan(Risk().prepare([0, 1, 2, np.nan])[2:]).all()
    outcome = Forecast(Column("load", 0.0, 10.0), 3)
    wanted = torch.from_numpy(outcome.prepare([[0.0, np.nan, 10.0], [np.nan] * 3]))
    answers = torch.tensor([[0.0, 5.0, 1.0], [1.0, 1.0, 1.0]])
    assert loss_of(outcome, answers, wanted).tolist() == [0.25, 0.0]
    for wrong in (np.zeros((2, 4)), np.zeros(3)):
        with pytest.raises(InvalidArgument, match="targets"):
            outcome.prepare(wrong)
    with pytest.raises(InvalidArgument, match="targets"):
        Risk().prepare(np.zeros((3, 2)))


def test_the_slope_of_a_loss_is_its_derivative() -> None:
    outcome: Any
    for outcome in [Risk(), Risk(prevalence=0.1), Forecast(Column("x", 0, 1), 4)]:
        with case(outcome):
            chance = torch.Generator().manual_seed(5)
            answers = (10 * torch.randn(300, outcome.width, generator=chance)).requires_grad_()
            targets = torch.randint(0, 2, (300, outcome.width), generator=chance).float()
            targets[torch.rand(300, outcome.width, generator=chance) < 0.3] = torch.nan
            (expected,) = torch.autograd.grad(loss_of(outcome, answers, targets).sum(), answers)
            found = slope_of(outcome, answers.detach(), targets)
            assert torch.allclose(
                found, expected, rtol=1e-5, atol=1e-6
            )  # 1 - 1 / (1 + e^-a) loses bits; weights are up to 5
            assert not found[targets.isnan()].any()


def test_rare_outcomes_weigh_as_much_as_common_ones() -> None:
    answers = torch.zeros(100, 1)
    wanted = torch.zeros(100, 1)
    wanted[:4] = 1
    losses = loss_of(Risk(0.04), answers, wanted)
    assert float(losses[:4].sum()) == pytest.approx(float(losses[4:].sum()), rel=1e-6)
    assert float(losses.mean()) == pytest.approx(np.log(2), rel=1e-6)


def test_a_design_has_a_json_form_and_a_fingerprint() -> None:
    for architecture in EVERY:
        with case(architecture):
            model = design(architecture)
            assert load(dump(model), type(model)) == model
            assert model.fingerprint != design(Recurrent(5)).fingerprint
            assert np.array_equal(model.first_parameters(), model.first_parameters())
            with pytest.raises(InvalidArgument, match="architecture"):
                design("deep")  # type: ignore[arg-type]
            with pytest.raises(InvalidArgument, match="upper"):
                Column("load", 3.0, 3.0)
            with pytest.raises(InvalidArgument, match="columns"):
                Inputs((), 3)


CPU = torch.device("cpu")
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


WRONG: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "by place": lambda _, found: found[-3:].mul_(1 + 2**-22),
    "by one place of a large group": lambda _, found: found[8, 1].mul_(1 + 2**-22),
    "by size": lambda _, found: found.mul_(1 + len(found) * 2.0**-23),
    "by the neighbour": lambda series, found: found.add_(1e-3 * torch.roll(series.flatten(1)[:, :3], 1, 0)),
    "by all": lambda series, found: found.mul_(1 + 1e-6 * series.sum() / len(series)),
    "by overflow": lambda series, found: found.add_(0 * (series * series).sum()),
    "by how many": lambda series, found: found.mul_(1 + 1e-6 * (series.flatten(1) != 0).any(1).sum()),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
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
