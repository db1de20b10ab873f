"""The order of an ARIMA model, chosen by what each person's own series says."""

from chronodp.selection.arima.choose_order import choose_order
from chronodp.selection.arima.fitting import Fit, LeastSquares, MaximumLikelihood
from chronodp.selection.arima.order import Order, orders_up_to
from chronodp.selection.arima.pieces import Blocks, Panel, Pieces
from chronodp.selection.arima.validation import Validation, losses_of

__all__ = [
    "Blocks",
    "Fit",
    "LeastSquares",
    "MaximumLikelihood",
    "Order",
    "Panel",
    "Pieces",
    "Validation",
    "choose_order",
    "losses_of",
    "orders_up_to",
]
