"""Networks: the same as torch's where torch has one, a gradient for each person, nothing seen of the future."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
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
from chronodp.federated.training.gradients import PersonGradients, put
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
    layers: int
    kernel: int
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
    named: str
    instead: str
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
    architecture: Architecture
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
