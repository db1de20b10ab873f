"""A Flower federation of our holders makes the model that ours makes. Flower pins other libraries than the rest of the
tests: they run in an environment of its own, by `make verify-flower`."""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import MissingExtra
from chronodp.federated import Task
from chronodp.federated.aggregation import Phase
from tests.federated.crowd import Places, Toy

TASK = Task(rounds=4, size=300, model="toy 1", clip=4.0, bits=64)
NAMES = ("h0", "h1", "h2")


def test_without_flower_the_error_says_what_to_install() -> None:
    try:
        import flwr  # noqa: F401
    except ImportError:
        from chronodp.federated.flower import client_app

        with pytest.raises(MissingExtra, match="flwr is not installed"):
            client_app(lambda _: None)  # type: ignore[arg-type, return-value]


class LocalGrid:
    """Flower's grid, with a node in this process for each holder: its own messages, apps and contexts."""

    def __init__(
        self, places: Places, *, silent: Iterable[tuple[int, Phase, str]] = (), broken: str = "", app: Any = None
    ) -> None:
        from flwr.app import Context, RecordDict
        from flwr.supercore.task_identity import TaskIdentity

        from chronodp.federated.flower import client_app

        TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1  # as in a process that Flower starts

        def participate(config: Any) -> Any:
            if config["name"] == broken:
                raise KeyError("a name of a patient")
            return places.participant(str(config["name"]))

        self.app = app or client_app(participate)
        self.contexts = {
            node: Context(
                run_id=1, node_id=node, node_config=self.site(name, places), state=RecordDict(), run_config={}
            )
            for node, name in enumerate([*places.names, "stranger"], start=11)
        }
        self.places, self.silent, self.errors = places, set(silent), list[str]()

    @staticmethod
    def site(name: str, places: Places) -> dict[str, Any]:
        paths = {
            one: str(places.folder / f"{name}.{end}") for one, end in (("identity", "key"), ("journal", "journal"))
        }
        return {"name": name, **paths, "plan": "plan.toml", "ledger": "budget.db"}

    def get_node_ids(self) -> list[int]:
        return list(self.contexts)

    def send_and_receive(self, messages: Iterable[Any], *, timeout: float) -> list[Any]:
        assert timeout > 0
        replies = []
        for message in messages:
            context, coordinator = self.contexts[message.metadata.dst_node_id], self.places.coordinator
            phase = coordinator.phase
            if (coordinator.rounds_done + 1, phase, context.node_config["name"]) in self.silent:
                continue
            vars(message.metadata)["_message_id"] = "sent"
            reply = self.app(message, context)
            if reply.has_error():
                self.errors.append(reply.error.reason)
            replies.append(reply)
        return replies


def test_a_run_with_secure_sums_goes_over_flower(tmp_path: Path) -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from chronodp.federated.flower import train

    places = Places(tmp_path)
    silent = [(2, Phase.MASK, "h1"), (3, Phase.UNMASK, "h2")]
    grid = LocalGrid(places, silent=silent)
    found = train(grid, places.coordinator, progress=places.made.append)
    assert [len(made.survivors) for made in places.made] == [4, 3, 4]
    assert found.tobytes() == places.alone().tobytes()
    # Who is no holder answers nothing, and is asked in the first phase alone.
    assert grid.errors == ["this holder does not answer"] * 3


def test_what_goes_wrong_at_a_holder_stays_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from chronodp.federated.flower import train

    places = Places(tmp_path)
    grid = LocalGrid(places, broken="h3")
    with caplog.at_level(logging.WARNING):
        train(grid, places.coordinator, progress=places.made.append)
    assert {made.survivors for made in places.made} == {("h0", "h1", "h2")}
    assert set(grid.errors) == {"this holder does not answer"}
    assert "a name of a patient" in caplog.text


def test_the_app_of_the_page_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flwr", reason="Flower has an environment of its own")
    from chronodp.federated import training

    page = Path(__file__).parents[2] / "docs" / "how-to" / "train-across-holders.md"
    server, client = (
        text.partition("```")[0]
        for text in page.read_text(encoding="utf-8").split("```python\n")[1:]
        if text.startswith("# ")
    )
    places = Places(tmp_path)
    for name, identity in places.identities.items():
        identity.save(tmp_path / f"{name}.key")
    agreed: Any = types.ModuleType("our_app.agreed")
    agreed.run = places.run
    monkeypatch.setitem(sys.modules, "our_app", types.ModuleType("our_app"))
    monkeypatch.setitem(sys.modules, "our_app.agreed", agreed)
    monkeypatch.setattr(training, "make_trainer", lambda *, name, task, **_: Toy(name, task))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(client, names)
    grid = LocalGrid(places, app=names["app"])
    exec(server, names)
    made = names["Coordinator"]

    def coordinator(*arguments: Any, **options: Any) -> Any:
        places.coordinator = made(*arguments, **options)  # which the grid looks at
        return places.coordinator

    monkeypatch.setitem(names, "Coordinator", coordinator)
    names["main"](grid, None)
    assert places.coordinator.done
    assert (tmp_path / "run.npz").exists()
