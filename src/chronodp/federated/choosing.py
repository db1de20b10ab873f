"""Which of several trained models to keep, voted for by held-out people: one person, one vote."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger
from chronodp.privacy import User
from chronodp.randomness import Entropy
from chronodp.selection import Choice, MonotoneUtilities, choose, tally

__all__ = ["choose_model"]


def choose_model(
    losses: Mapping[str, NDArray[np.float64]],
    *,
    epsilon: float,
    ledger: Ledger,
    dataset: str,
    request: str,
    entropy: Entropy | None = None,
) -> Choice:
    """Choose a model privately by votes: each held-out person votes for the one with that person's least loss.

    Guarantee: epsilon-differential privacy for everything of one held-out person, added or removed, if the models are
    private for that person already or were trained on others. Training each candidate was paid for by itself: trying
    more of them costs more.

    Args:
        losses: for each candidate's name one loss a person, as `losses_of_people` gives; the same people in each.
        epsilon: of the choice.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each choice.
        entropy: of the draw; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("held out", unit=cdp.User(), epsilon=1.0)
    >>> own = {"linear": np.full(300, 0.7), "recurrent": np.full(300, 0.4)}
    >>> choose_model(own, epsilon=1.0, ledger=ledger, dataset="held out", request="architecture").winner
    'recurrent'
    >>> ledger.close_connection()
    """
    if len({column.shape for column in losses.values()}) != 1 or any(column.ndim != 1 for column in losses.values()):
        raise InvalidArgument(
            "losses", list(losses.values()), "one loss a person, as many for each model", private=True
        )
    votes = tally(np.column_stack(list(losses.values())))
    return choose(
        tuple(losses),
        MonotoneUtilities(votes, change=1.0),
        epsilon=epsilon,
        unit=User(),
        purpose="votes of held-out people by their own loss",
        ledger=ledger,
        dataset=dataset,
        request=request,
        entropy=entropy,
    )
