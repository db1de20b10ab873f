"""Forecasts with a band: its half-width is a private quantile of how far forecasts of held-out people were off.

"A band around forecasts" in ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.models import Forecast, ModelDesign
from chronodp.federated.training.evaluation import predict
from chronodp.ledger import Ledger
from chronodp.privacy import User, as_numbers, check_fraction, check_positive, check_whole
from chronodp.randomness import Entropy
from chronodp.selection import Choice, ExponentialMechanism, Utilities, choose, design_choice

__all__ = ["Band", "choose_band", "forecast", "worst_errors"]

_PARTS = 1024  # quantiles are told apart in whole parts of so many, so that utilities are whole numbers
_SURE = 0.99


@dataclass(frozen=True, slots=True)
class Band:
    """A half-width around forecasts, with the choice that it came from.

    Attributes:
        margin: the half-width, in the column's unit.
        level: the share of people whose whole horizon it is meant to hold.
        choice: the private choice, with its certificate.
    """

    margin: float
    level: float
    choice: Choice


def worst_errors(
    model: ModelDesign, parameters: NDArray[np.float32], values: ArrayLike, targets: ArrayLike
) -> NDArray[np.float64]:
    """Return each person's largest absolute error over the horizon; NaN if none is known. FOR THE OWNER ONLY."""
    if not isinstance(model.outcome, Forecast):
        raise InvalidArgument("model", str(model.outcome), "one that forecasts")
    wanted = model.outcome.column.unscaled(model.outcome.prepare(targets).astype(np.float64))
    off = np.abs(predict(model, parameters, values) - wanted)
    worst: NDArray[np.float64] = np.where(np.isnan(off).all(axis=1), np.nan, np.nan_to_num(off).max(axis=1))
    return worst


def choose_band(
    errors: ArrayLike,
    *,
    largest: float,
    people: int,
    epsilon: float,
    ledger: Ledger,
    dataset: str,
    request: str,
    level: float = 0.9,
    candidates: int = 200,
    entropy: Entropy | None = None,
) -> Band:
    """Choose a half-width privately so that about ``level`` of people stay within it over the whole horizon.

    The utility of a width is minus |a (people within) - b (people beyond)|, where a : b is 1 - level : level in whole
    numbers; one person changes it by at most the larger of a and b.

    Guarantee: epsilon-differential privacy for everything of one person, added or removed, if each error depends on its
    own person and a model that is private already. People whom the model was trained on pay for both. The level aimed
    at is raised by what the choice may fall short, 99 % of the time, for the declared number of people.

    Args:
        errors: one number a person, such as `worst_errors`; not a number counts for nothing.
        largest: the widest half-width considered, public.
        people: the public, declared number of held-out people.
        epsilon: of the choice.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each band.
        level: the share of people to hold.
        candidates: how many widths are considered, equally far apart.
        entropy: of the draw; secure unless a test says otherwise.
    """
    numbers = as_numbers("errors", errors, "one number a person").astype(np.float64)
    if numbers.ndim != 1:
        raise InvalidArgument("errors", errors, "one number a person", private=True)
    check_positive("largest", largest)
    count, sought = check_whole("people", people), check_fraction("level", level)
    known = np.sort(numbers[~np.isnan(numbers)])
    widths = largest * np.arange(1, check_whole("candidates", candidates, least=2) + 1) / candidates
    names = tuple(f"{width:.12g}" for width in widths)
    change = float(max(_parts(sought), _PARTS - _parts(sought)))
    rehearsed = design_choice(
        ExponentialMechanism(), names, unit=User(), change=change, monotone=False, epsilon=epsilon
    )
    raised = sought + rehearsed.shortfall(_SURE) / (_PARTS * count)
    if not raised < 1 - 1 / _PARTS:
        short = f"the choice may fall short by {raised - sought:.1%} of people"
        allowed = f"enough to find a band that holds {sought:.0%}: {short}"
        raise InvalidArgument("people", count, allowed)
    beyond_weight = _parts(raised)
    within_weight = _PARTS - beyond_weight
    within = np.searchsorted(known, widths, side="right")
    utilities = -np.abs(within_weight * within - beyond_weight * (len(known) - within))
    choice = choose(
        names,
        Utilities(utilities, change=float(max(within_weight, beyond_weight))),
        epsilon=epsilon,
        unit=User(),
        mechanism=ExponentialMechanism(),
        purpose=f"half-width of a band for {sought:g} of people, aimed at {beyond_weight} of {_PARTS}",
        ledger=ledger,
        dataset=dataset,
        request=request,
        entropy=entropy,
    )
    return Band(float(choice.winner), sought, choice)


def forecast(
    model: ModelDesign, parameters: NDArray[np.float32], values: ArrayLike, band: Band
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return forecasts with their lower and upper bounds, (people, horizon) each; free."""
    if not isinstance(model.outcome, Forecast):
        raise InvalidArgument("model", str(model.outcome), "one that forecasts")
    middle = predict(model, parameters, values)
    return middle, middle - band.margin, middle + band.margin


def _parts(level: float) -> int:
    return math.ceil(level * _PARTS)
