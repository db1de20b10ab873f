"""Choose the order of an ARIMA model by what people's own series say, and pay for it."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.engines import Progress
from chronodp.errors import InvalidArgument
from chronodp.ledger import Dates, Ledger
from chronodp.privacy import Unit
from chronodp.randomness import Entropy
from chronodp.report import watched
from chronodp.selection.arima.fitting import Fit, LeastSquares
from chronodp.selection.arima.order import Order, check_orders
from chronodp.selection.arima.pieces import Blocks, Panel, Pieces
from chronodp.selection.arima.validation import Validation, losses_of
from chronodp.selection.ballots import Scoring, Votes, tally
from chronodp.selection.choice import Choice
from chronodp.selection.choose import choose
from chronodp.selection.design import design_choice
from chronodp.selection.mechanisms import ChoiceMechanism, PermuteAndFlip
from chronodp.selection.utilities import MonotoneUtilities

__all__ = ["choose_order"]


def choose_order(
    pieces: Pieces,
    orders: Sequence[Order | tuple[int, int, int] | str],
    *,
    epsilon: float,
    unit: Unit,
    scoring: Scoring | None = None,
    fit: Fit | None = None,
    holdout: int = 20,
    longest: int = 1000,
    largest_error: float | None = None,
    mechanism: ChoiceMechanism | None = None,
    workers: int = 1,
    ledger: Ledger,
    dataset: str,
    request: str,
    analyst: str = "",
    dates: Dates | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Choose the order that predicts best inside most pieces; the same request again returns the same choice.

    Each piece (a person's series, or a block of one series) is fitted and validated by itself, and gives one vote, or
    its clipped regrets. A piece that is too short, or in which every fit fails, gives none: nothing is refused because
    of the data.

    Guarantee: epsilon-differential privacy for ``unit`` of the order alone, exact in finite precision. Coefficients
    fitted to the same data afterwards are another release and are not covered. The argument stands in
    ``docs/explanation/proofs/selection.md``.

    Args:
        pieces: Panel(series of people) or Blocks(one series, length=...).
        orders: public, fixed without looking at the data.
        epsilon: of the guarantee.
        unit: who is protected: User() for a panel; Event() or Window(periods) for blocks.
        scoring: Votes() unless told otherwise; ClippedRegret(clip) needs ``largest_error``.
        fit: LeastSquares() unless told otherwise; MaximumLikelihood(iterations=50).
        holdout: how many of a piece's last values are predicted and not fitted to.
        longest: how many of a piece's last values are used at all.
        largest_error: prediction errors beyond it count as this large; in units of the data.
        mechanism: PermuteAndFlip() unless told otherwise.
        workers: how many processes fit; a script that asks for more than one needs ``if __name__ == "__main__"``.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each choice.
        analyst: whose part of the budget pays.
        dates: days of the data, for a budget that renews.
        entropy: of the draw; secure unless a test says otherwise.
        progress: told which fraction is done; a bar on the terminal if not given.

    >>> import pathlib, tempfile, numpy as np, chronodp as cdp
    >>> from chronodp.selection import Panel
    >>> walks = Panel(np.random.default_rng(1).normal(size=(60, 80)).cumsum(axis=1))
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("walkers", unit=cdp.User(), epsilon=1.0)
    >>> made = choose_order(walks, ["0,0,0", "0,1,0"], epsilon=1.0, unit=cdp.User(), ledger=ledger, dataset="walkers",
    ...                     request="order")
    >>> made.winner
    'ARIMA(0,1,0)'
    >>> ledger.close_connection()
    """
    if not isinstance(pieces, Panel | Blocks):
        raise InvalidArgument("pieces", pieces, "Panel(series) or Blocks(values, length=...)", private=True)
    listed = check_orders(orders)
    scored = Votes() if scoring is None else scoring
    if not isinstance(scored, Scoring):
        raise InvalidArgument("scoring", scored, "Votes() or ClippedRegret(clip)")
    if largest_error is None and not isinstance(scored, Votes):
        raise InvalidArgument("largest_error", None, "given, in units of the data, for clipped regrets")
    validation = Validation(LeastSquares() if fit is None else fit, holdout, longest, largest_error)
    chosen = PermuteAndFlip() if mechanism is None else mechanism
    names = tuple(str(order) for order in listed)
    # Everything public is checked before the work begins: with no votes at all.
    empty = pieces.bound(tally([[0.0] * len(names)]), unit)
    monotone = isinstance(empty, MonotoneUtilities)
    design_choice(chosen, names, unit=unit, change=empty.change, monotone=monotone, epsilon=epsilon)
    with watched(progress, "Fitting models") as tell:
        losses = losses_of(pieces.series, listed, validation, workers=workers, progress=tell)
    return choose(
        names,
        pieces.bound(tally(losses, scored), unit),
        epsilon=epsilon,
        unit=unit,
        mechanism=chosen,
        purpose=f"{scored} of {pieces}; {validation}",
        ledger=ledger,
        dataset=dataset,
        request=request,
        analyst=analyst,
        dates=dates,
        entropy=entropy,
    )
