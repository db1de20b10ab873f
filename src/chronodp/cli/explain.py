"""``chronodp explain``: what a guarantee means, in words and in a table."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer
from rich.table import Table

from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.privacy import GaussianCost, check_delta, check_epsilon

__all__ = ["explain"]

_PRIORS = (0.001, 0.01, 0.1, 0.5)
_BEYOND = (0.1, 0.5, 1.0, 2.0)


def explain(
    epsilon: Annotated[float, typer.Option(help="The epsilon of the guarantee.")],
    delta: Annotated[float, typer.Option(help="The delta of the guarantee; 0 if it is pure.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Say what an adversary can learn about one unit, whatever else they know.

    **Examples**

    `chronodp explain --epsilon 1 --delta 1e-6`

    `chronodp explain --epsilon 0.1 --json`
    """
    check_epsilon(epsilon)
    check_delta(delta)
    facts = _facts(epsilon, delta)
    if as_json:
        print_json(facts, indent=2)
        return
    console = terminal()
    console.print(f"What ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else " (pure)") + " promises", style="bold")
    console.print(
        "Someone who guesses whether the protected unit is in the data is right half the time without the release "
        f"and at most {facts['right_guess']:.2%} of the time with it, whatever they know and however they compute."
    )
    console.print(_belief_table(facts["beliefs"], epsilon, delta))
    if not delta:
        console.print(f"The odds never move by more than a factor e^ε = {_factor(epsilon)}.")
        return
    console.print(
        f"δ is not the chance that the odds move by more than e^ε = {_factor(epsilon)}. What holds is in the "
        "table: at most this often under any mechanism, and exactly this often under Gaussian noise that just meets "
        "the guarantee."
    )
    console.print(_tail_table(facts["tails"]))
    expected = 1 / delta
    console.print(
        f"Keep δ well below one over the number of people: it may, once in {expected:,.0f}, give everything away."
    )


def _facts(epsilon: float, delta: float) -> dict[str, Any]:
    from chronodp.accounting import adversary, gaussian, loss

    facts: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "odds_factor": math.exp(epsilon) if epsilon < 700 else None,
        "total_variation": adversary.total_variation(epsilon, delta),
        "right_guess": (1 + adversary.total_variation(epsilon, delta)) / 2,
        "beliefs": [{"before": prior, "at_most_after": adversary.posterior(prior, epsilon)} for prior in _PRIORS],
    }
    if delta:
        variable = loss(GaussianCost(sensitivity=1.0, sigma=gaussian.sigma(epsilon, delta)))
        beyond = [epsilon, *(epsilon + step for step in _BEYOND)]
        facts["tails"] = [
            {
                "loss": value,
                "any_mechanism": adversary.odds_tail(epsilon, delta, value) if value > epsilon else None,
                "gaussian": variable.tail(value),
                "gaussian_over_delta": variable.tail(value) / delta,
            }
            for value in beyond
        ]
    return facts


def _belief_table(beliefs: list[dict[str, float]], epsilon: float, delta: float) -> Table:
    title = f"If the odds move by e^ε = {_factor(epsilon)}" if delta else "Belief that someone is in the data"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("before", justify="right")
    table.add_column("after, at most", justify="right")
    for row in beliefs:
        table.add_row(f"{row['before']:.1%}", f"{row['at_most_after']:.2%}")
    return table


def _tail_table(tails: list[dict[str, Any]]) -> Table:
    table = Table(title="How often the odds move by more than", title_justify="left", title_style="bold")
    for name in ("a factor of", "any mechanism, at most", "Gaussian noise", "Gaussian / δ"):
        table.add_column(name, justify="right")
    for row in tails:
        bound = "no promise" if row["any_mechanism"] is None else f"{row['any_mechanism']:.3g}"
        table.add_row(_factor(row["loss"]), bound, f"{row['gaussian']:.3g}", f"{row['gaussian_over_delta']:.3g}")
    return table


def _factor(loss: float) -> str:
    return f"{math.exp(loss):.4g}" if loss < 700 else f"e^{loss:g}"
