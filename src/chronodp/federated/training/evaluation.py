"""How good a model is on people who agreed to be looked at. Nothing here is private: FOR THE OWNER ONLY."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.federated.models import Forecast, ModelDesign, Risk, loss_of
from chronodp.privacy import as_numbers

if TYPE_CHECKING:
    from torch import nn

__all__ = ["area_under_curve", "losses_of_people", "predict"]

_AT_ONCE = 4096


def predict(
    model: ModelDesign, parameters: NDArray[np.float32], values: ArrayLike, *, network: nn.Module | None = None
) -> NDArray[np.float64]:
    """Return what a model says of people: their risk from 0 to 1, or a row of forecasts in the column's unit.

    About people it was not trained on this is free: the model is private already.
    """
    answers = _answers(model, parameters, values, network)
    match model.outcome:
        case Risk(prevalence):
            odds = np.clip(answers[:, 0], -500, 500) + math.log(prevalence / (1 - prevalence))  # undoes the weights
            risk: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
            return risk
        case Forecast(column, _):
            return column.unscaled(answers)


def losses_of_people(
    model: ModelDesign,
    parameters: NDArray[np.float32],
    values: ArrayLike,
    targets: ArrayLike,
    *,
    network: nn.Module | None = None,
) -> NDArray[np.float64]:
    """Return each person's own loss. FOR THE OWNER ONLY."""
    check_extra("federated", "torch")
    import torch

    answers = torch.from_numpy(_answers(model, parameters, values, network))
    wanted = torch.from_numpy(model.outcome.prepare(targets).astype(np.float64))
    if len(answers) != len(wanted):
        raise InvalidArgument("targets", targets, "one row for each person of values", private=True)
    losses: NDArray[np.float64] = loss_of(model.outcome, answers, wanted).numpy()
    return losses


def area_under_curve(risks: ArrayLike, happened: ArrayLike) -> float:
    """Return the chance that someone to whom it happened has the higher risk, ties counting half. FOR THE OWNER ONLY.

    >>> area_under_curve([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    from scipy.stats import rankdata

    scores = as_numbers("risks", risks, "numbers, one a person").astype(np.float64)
    said = happened.astype(np.int8) if isinstance(happened, np.ndarray) and happened.dtype == bool else happened
    outcomes = as_numbers("happened", said, "zeros and ones, one a person").astype(np.float64)
    positive = outcomes == 1
    count = int(positive.sum())
    if scores.ndim != 1 or scores.shape != outcomes.shape or not 0 < count < len(outcomes):
        raise InvalidArgument("happened", happened, "as long as risks, with zeros and ones", private=True)
    above = float(rankdata(scores)[positive].sum()) - count * (count + 1) / 2
    return above / (count * (len(outcomes) - count))


def _answers(
    model: ModelDesign, parameters: NDArray[np.float32], values: ArrayLike, network: nn.Module | None
) -> NDArray[np.float64]:
    check_extra("federated", "torch")
    import torch

    from chronodp.federated.training.gradients import put

    built = put(model.build() if network is None else network, parameters)
    inputs = model.inputs.prepare(values)
    with torch.no_grad():
        parts = [built(torch.from_numpy(inputs[first : first + _AT_ONCE])) for first in range(0, len(inputs), _AT_ONCE)]
    if not parts:
        return np.zeros((0, model.outcome.width))
    joined: NDArray[np.float64] = torch.cat(parts).numpy().astype(np.float64)
    return joined
