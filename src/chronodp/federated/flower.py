"""A holder as a client of Flower, for those who run a Flower federation already."""

from __future__ import annotations

from typing import Any

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.federated.holder import Holder, Task, check_update
from chronodp.privacy import check_kind, check_whole

__all__ = ["flower_client"]


def flower_client(holder: Holder, *, task: Task, holders: int) -> Any:
    """Return a Flower client whose answers, averaged evenly, move the parameters by the sum of all updates.

    The mean of p + n u over n holders is p plus the sum of their updates u: what `Federation` makes of them. The server
    must tell the round as ``server_round``, as Flower's strategies do by ``on_fit_config_fn``.

    Guarantee: that of the holder's updates, which are private before they leave. The server sees each of them: Flower
    is no secure aggregation. Its SecAgg+ (as of 1.41) folds seeds to 32 bits and draws masks from a Mersenne twister,
    so that trying all seeds finds a mask; and numbers of examples travel in clear. No number of examples is sent here.

    Args:
        holder: who trains.
        task: what is trained.
        holders: how many take part in every round; if fewer answer, the step is too long by that share.
    """
    check_extra("flower", "flwr")
    from flwr.client import NumPyClient

    check_kind("task", task, Task, "a Task")
    check_kind("holder", holder, Holder, "a Holder")  # type: ignore[type-abstract]
    count = check_whole("holders", holders)

    class _Client(NumPyClient):  # type: ignore[misc]  # its base has no types
        def fit(self, parameters: list[Any], config: dict[str, Any]) -> tuple[list[Any], int, dict[str, Any]]:
            number = config.get("server_round")
            if type(number) is not int or not 1 <= number <= task.rounds:
                raise InvalidArgument("server_round", number, f"the number of a round, 1 to {task.rounds}")
            start = np.asarray(parameters[0] if len(parameters) == 1 else [], dtype=np.float32)
            if start.shape != (task.size,) or not np.all(np.isfinite(start)):
                raise InvalidArgument("parameters", "something else", f"one array of {task.size:,} finite numbers")
            update = check_update(holder.update(number, start.copy()), task, holder=holder.name)
            return [start + count * update], 1, {}

    return _Client().to_client()
