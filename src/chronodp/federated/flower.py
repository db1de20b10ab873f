"""Flower as the transport of a run with secure sums.

`client_app` and `train` are the two sides of `chronodp.federated.protocol`; Flower carries their bytes. Its own SecAgg+
(as of 1.41) is not used: it folds seeds to 32 bits and draws masks from a Mersenne twister, so that trying all seeds
finds a mask.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import MessageRefused
from chronodp.extras import check_extra
from chronodp.federated.aggregation import Phase
from chronodp.federated.protocol import Coordinator, Participant
from chronodp.federated.rounds import Round
from chronodp.privacy import check_kind, check_positive, check_table

__all__ = ["client_app", "train"]

_ACTION = "chronodp"  # of Flower's queries; what they and their answers hold is one record of this name
_SECONDS = {Phase.ADVERTISE: 3600.0, Phase.SHARE: 60.0, Phase.MASK: 60.0, Phase.CONSENT: 60.0, Phase.UNMASK: 120.0}
_PAUSE = 0.5  # seconds between two looks at who has connected
_logger = logging.getLogger(__name__)


def client_app(participate: Callable[[Mapping[str, Any]], Participant]) -> Any:
    """Return a Flower ClientApp that takes part in a run.

    Flower may serve each request by a process of its own. The keys of an attempt go from one to the next in the context
    of Flower's SuperNode, in the holder's own memory; the journal sees to it that no phase is answered twice.

    Guarantee: that of the holder's updates, which are private before they leave, and of secure aggregation, by which
    the server sees sums only. What goes wrong at a holder is logged there; the server hears that it does not answer.

    Args:
        participate: makes the participant of a place from the SuperNode's ``--node-config``.
    """
    check_extra("flower", "flwr")
    from flwr.app import ConfigRecord, Error, Message, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.common.constant import ErrorCode

    app = ClientApp()

    @app.query(_ACTION)  # type: ignore[untyped-decorator]  # Flower has no types
    def answer(message: Any, context: Any) -> Any:
        try:
            participant = participate(context.node_config)
            participant.state = context.state.get(_ACTION, {}).get("state", b"")
            context.state[_ACTION] = ConfigRecord({"state": b""})  # until the answer stands
            found = participant.answer(message.content[_ACTION]["request"])
            context.state[_ACTION] = ConfigRecord({"state": participant.state})
            return Message(RecordDict({_ACTION: ConfigRecord({"answer": found})}), reply_to=message)
        except Exception:  # Flower would send its words to the server, and they may tell of data
            _logger.warning("a request of the server is not answered", exc_info=True)
            silent = Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, "this holder does not answer")
            return Message(silent, reply_to=message)

    return app


def train(
    grid: Any,
    coordinator: Coordinator,
    *,
    seconds: Mapping[Phase, float] | None = None,
    progress: Callable[[Round], None] | None = None,
) -> NDArray[np.float32]:
    """Train until the last round, within a Flower ServerApp, and return the parameters after it.

    Args:
        grid: Flower's, through which its SuperNodes are reached.
        coordinator: of the run. With a checkpoint, a ServerApp that is started again goes on after the last round done.
        seconds: how long to wait in a phase before it ends without who is silent: an hour for the first, in which
            holders train, a minute for the others and two for the last, but for those that are given.
        progress: called with every round that is done.

    Raises:
        TooFewHolders: fewer than the threshold answered, in the last phase or in the last attempt.
    """
    check_extra("flower", "flwr")
    from flwr.app import ConfigRecord, Message, RecordDict

    check_kind("coordinator", coordinator, Coordinator, "a Coordinator")
    given = {} if seconds is None else check_table("seconds", seconds, "a number by phase")
    waits = {phase: check_positive("seconds", given.get(phase, usual)) for phase, usual in _SECONDS.items()}
    nodes: dict[str, int] = {}
    wanted = len(coordinator.run.holders)
    while not coordinator.done:
        phase, requests = coordinator.phase, coordinator.requests()
        number = coordinator.rounds_done + 1
        if phase is Phase.ADVERTISE:  # who is who is known by the answers
            (request,) = set(requests.values())
            asked = [(node, request) for node in _connected(grid, wanted, patience=waits[phase])]
            wanted = coordinator.run.terms.threshold
        else:
            asked = [(nodes[name], request) for name, request in requests.items()]
        messages = [
            Message(
                RecordDict({_ACTION: ConfigRecord({"request": request})}),
                dst_node_id=node,
                message_type=f"query.{_ACTION}",
                ttl=waits[phase],
                group_id=str(number),
            )
            for node, request in asked
        ]
        for reply in grid.send_and_receive(messages, timeout=waits[phase]):
            if reply.has_error():
                continue
            try:
                nodes[coordinator.receive(_answer_in(reply))] = reply.metadata.src_node_id
            except MessageRefused as error:
                _logger.warning("an answer in round %d is refused: %s", number, error)
        made = coordinator.advance()
        if made is not None and progress is not None:
            progress(made)
    return coordinator.parameters


def _connected(grid: Any, wanted: int, *, patience: float) -> list[int]:
    """Return the nodes that are there, once they are so many or patience ends."""
    until = time.monotonic() + patience
    while len(nodes := list(grid.get_node_ids())) < wanted and time.monotonic() < until:
        time.sleep(_PAUSE)
    return nodes


def _answer_in(reply: Any) -> bytes:
    record = reply.content.get(_ACTION)
    answer = None if record is None else record.get("answer")
    if not isinstance(answer, bytes):
        raise MessageRefused("a node's answer holds no message")
    return answer
