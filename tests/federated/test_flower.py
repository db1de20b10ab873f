"""A Flower federation of our holders makes the model that ours makes. Flower pins other libraries than the rest of the
tests: they run in an environment of its own, by `make verify`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chronodp.errors import InvalidArgument, MissingExtra
from chronodp.federated import Federation, Task
from tests.federated.crowd import Toy

TASK = Task(rounds=4, size=300, model="toy 1", clip=4.0, bits=64)
NAMES = ("h0", "h1", "h2")


def test_without_flower_the_error_says_what_to_install() -> None:
    try:
        import flwr  # noqa: F401
    except ImportError:
        from chronodp.federated.flower import flower_client

        with pytest.raises(MissingExtra, match="flwr is not installed"):
            flower_client(Toy("h0", TASK), task=TASK, holders=3)


def test_even_averages_add_up_all_updates() -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from flwr.common import FitIns, ndarrays_to_parameters, parameters_to_ndarrays
    from flwr.server.strategy import FedAvg

    from chronodp.federated.flower import flower_client

    clients = [flower_client(Toy(name, TASK), task=TASK, holders=len(NAMES)) for name in NAMES]
    start: Any = [np.zeros(TASK.size, np.float32)]
    parameters, strategy = ndarrays_to_parameters(start), FedAvg()
    for number in range(1, TASK.rounds + 1):
        answers = [client.fit(FitIns(parameters, {"server_round": number})) for client in clients]
        assert [answer.num_examples for answer in answers] == [1, 1, 1]
        parameters = strategy.aggregate_fit(number, [(None, answer) for answer in answers], [])[0]
    (found,) = parameters_to_ndarrays(parameters)
    expected = Federation([Toy(name, TASK) for name in NAMES], TASK, aggregation="plain").run()
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("config", [{}, {"server_round": 0}, {"server_round": 5}, {"server_round": "1"}])
def test_a_server_that_does_not_tell_the_round_is_refused(config: dict[str, Any]) -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from flwr.common import FitIns, ndarrays_to_parameters

    from chronodp.federated.flower import flower_client

    client = flower_client(Toy("h0", TASK), task=TASK, holders=3)
    start: Any = [np.zeros(TASK.size, np.float32)]
    with pytest.raises(InvalidArgument, match="server_round must be the number of a round, 1 to 4"):
        client.fit(FitIns(ndarrays_to_parameters(start), config))


@pytest.mark.parametrize("wrong", [[], [np.zeros(299)], [np.zeros(300)] * 2, [np.full(300, np.nan)]], ids=len)
def test_parameters_that_do_not_fit_are_refused_before_the_holder_is_asked(wrong: Any) -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from flwr.common import FitIns, ndarrays_to_parameters

    from chronodp.federated.flower import flower_client

    class Unasked(Toy):
        def update(self, round_number: int, parameters: Any) -> Any:
            raise AssertionError(f"round {round_number} was paid for nothing, at {parameters}")

    client = flower_client(Unasked("h0", TASK), task=TASK, holders=3)
    with pytest.raises(InvalidArgument, match="parameters must be one array of 300 finite numbers"):
        client.fit(FitIns(ndarrays_to_parameters(wrong), {"server_round": 1}))
