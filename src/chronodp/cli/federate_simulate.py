"""``chronodp federate simulate``: every holder in one process, round by round, with the budget beside the loss."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer
from rich.text import Text

from chronodp.cli.federated_run import Run, demo_run, load_run
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import RepeatedCost, User
from chronodp.report import Line, Page, series_figure, write_page

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chronodp.federated import Round
    from chronodp.ledger import Ledger
    from chronodp.privacy import Certificate

__all__ = ["simulate"]

_OWNER = "FOR THE OWNER ONLY: loss and area are measured on people's data and are not private"


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known after a round; loss and area on held-out people."""

    round: int
    epsilon: float
    loss: float | None
    area: float | None


def simulate(
    run: Annotated[Path | None, typer.Argument(help="The plan's TOML file: what is trained on what.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Three made-up clinics instead of a file.")] = False,
    epsilon: Annotated[float, typer.Option(help="With --demo: epsilon for one person.")] = 4.0,
    delta: Annotated[float, typer.Option(help="With --demo: delta for one person.")] = 1e-5,
    aggregation: Annotated[
        Literal["secure", "plain"], typer.Option(help="Updates are added up unseen, as a server would, or openly.")
    ] = "secure",
    folder: Annotated[Path, typer.Option(help="Where ledger, model and page go.")] = Path("chronodp-federated"),
    device: Annotated[Literal["cpu", "cuda"], typer.Option(help="Where gradients are computed.")] = "cpu",
    group_sizes: Annotated[
        Literal["one", "several"],
        typer.Option(help="People go through the model in groups of one size, or of several: less time, which tells."),
    ] = "one",
    as_json: Json = False,
) -> None:
    """Rehearse a run: all holders in this process, with their data at hand.

    Each round of each holder is an entry in the ledger, made before its noise is drawn. Run again, it goes on where it
    stopped and repeats what was released. Secure and plain aggregation give the same model, bit for bit. The page shows
    loss and budget by round.

    **Examples**

    `chronodp federate simulate --demo`

    `chronodp federate simulate sepsis.toml --folder sepsis`
    """
    from chronodp.federated import Federation
    from chronodp.federated.training import Trainer
    from chronodp.ledger import Ledger

    if (run is None) != demo:
        raise InvalidArgument("run", None if run is None else str(run), "a TOML file, or --demo in its place")
    wanted = demo_run(epsilon=epsilon, delta=delta) if run is None else load_run(run)
    console = terminal(errors=as_json)
    console.print(str(wanted.plan))
    folder.mkdir(parents=True, exist_ok=True)
    plan, told = wanted.plan, list[_Told]()
    with Ledger(folder / "budget.db") as ledger:
        _open(ledger, wanted)
        holders = [
            Trainer(
                plan,
                found.values,
                found.targets,
                people=wanted.people[name],
                all_people=sum(wanted.people.values()),
                ledger=ledger,
                dataset=name,
                name=name,
                run=wanted.name,
                accept_large_delta=wanted.accept_large_delta,
                group_sizes=group_sizes,
                device=device,
            )
            for name, found in wanted.holders.items()
        ]

        def tell(made: Round) -> None:
            told.append(_measure(wanted, made.number, made.parameters))
            console.print(_line(told[-1], plan.rounds))

        # No checkpoint: stored rounds come from the ledger, and every round is told again.
        start = plan.model.first_parameters()
        parameters = Federation(holders, plan.task(), aggregation=aggregation, start=start).run(tell)
        certificate = holders[0].certificate
    model = folder / "model.npy"
    np.save(model, parameters)
    page = _page(wanted, told, certificate, folder / "run.html")
    if as_json:
        shown: dict[str, Any] = {
            "epsilon": plan.epsilon,
            "delta": plan.delta,
            "sigma": plan.step.sigma,
            "rate": plan.step.rate,
            "aggregation": aggregation,
            "ledger_epsilon": plan.ledger_epsilon,
            "rounds": [asdict(row) for row in told],
            "measured": "public" if wanted.public else _OWNER,
            "model": str(model),
            "page": str(page),
            "certificate": str(certificate),
        }
        print_json(shown)
        return
    console.print(str(certificate))
    console.print(Text.assemble(f"The model is in {model}. Look at ", (str(page), "bold")))


def _open(ledger: Ledger, wanted: Run) -> None:
    held = wanted.plan.ledger_epsilon if wanted.budget is None else wanted.budget
    for name in wanted.holders:
        ledger.open(name, unit=User(), epsilon=held, delta=wanted.plan.delta, rule="renyi")


def _measure(wanted: Run, number: int, parameters: NDArray[np.float32]) -> _Told:
    from chronodp.accounting import pld
    from chronodp.federated.models import Risk
    from chronodp.federated.training import area_under_curve, losses_of_people, predict

    plan, held = wanted.plan, wanted.held_out
    steps = number * plan.local_steps * plan.holders_per_person
    epsilon = pld.epsilon(RepeatedCost(plan.step.cost, steps), plan.delta)
    if held is None:
        return _Told(number, epsilon, None, None)
    loss = float(losses_of_people(plan.model, parameters, held.values, held.targets).mean())
    known = held.targets == 1 if isinstance(plan.model.outcome, Risk) else None
    if known is None or not 0 < known.sum() < len(known):
        return _Told(number, epsilon, loss, None)
    return _Told(number, epsilon, loss, area_under_curve(predict(plan.model, parameters, held.values), known))


def _line(row: _Told, rounds: int) -> str:
    text = f"round {row.round} of {rounds}: ε so far {row.epsilon:.3f}"
    text += "" if row.loss is None else f", held-out loss {row.loss:.4f}"
    return text + ("" if row.area is None else f", area under the curve {row.area:.3f}")


def _page(wanted: Run, told: list[_Told], certificate: Certificate, path: Path) -> Path:
    plan, rounds = wanted.plan, [float(row.round) for row in told]
    curves = {"share of the run's ε": [row.epsilon / told[-1].epsilon for row in told]}
    if wanted.held_out is not None:
        curves["held-out loss"] = [row.loss or 0.0 for row in told]
    if told[-1].area is not None:
        curves["area under the curve"] = [row.area or 0.0 for row in told]
    measured = list(curves)[1:]
    lines = [Line(name, rounds, values, values, values) for name, values in curves.items()]
    warnings = [] if wanted.held_out is None or wanted.public else [f"{_OWNER}."]
    if certificate.seeded:
        warnings.append("Seeded run, for tests only.")
    return write_page(
        Page(
            title=f"Training across {len(wanted.holders)} holders: {wanted.name}",
            kind="Trained with differential privacy",
            promise=str(certificate.guarantee),
            facts=(
                ("Holders", ", ".join(f"{name} ({people:,} people)" for name, people in wanted.people.items())),
                ("Model", str(plan.model.architecture)),
                ("Rounds", f"{plan.rounds} of {plan.local_steps} steps"),
                ("Noise", f"{plan.step.sigma:.4g} times the clip, {plan.step.clip:g}"),
                ("Sample", f"each person with chance {plan.step.rate:.4g} in a step"),
                ("Price", f"ε = {plan.epsilon:.3f} at δ = {plan.delta:g} for one person"),
            ),
            certificate=str(certificate),
            columns=("round", "ε so far", *measured),
            rows=[(row.round, row.epsilon, row.loss, row.area)[: 2 + len(measured)] for row in told],
            figure=series_figure(lines, title="Loss and budget by round", value_name="share, loss or area"),
            caption="One point a round, counted from 1. The budget is drawn as a share of the run's ε.",
            warning=" ".join(warnings),
        ),
        path,
    )
