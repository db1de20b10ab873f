"""What other definitions of privacy say of the same releases: the baselines beside ``chronodp leakage``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from chronodp.cli.terminal import terminal

if TYPE_CHECKING:
    from chronodp.correlated import LeakageModel, Published, Query

__all__ = ["Baselines", "find_baselines"]

_MEASURED = ("leakage", "the paper's")  # how names begin that stand in the table of leakage too
_MOST_JOINT = 32  # joint states whose every pair is compared, release by release
_MOST_RELEASES = 100


@dataclass(frozen=True, slots=True)
class Baselines:
    """Every definition's number, by age, and of several releases in a row.

    Attributes:
        by_age: of one release, for each age in order; all ages have the same definitions in the same order.
        over_time: of all releases together, where age is not seen.
        notes: what is no epsilon, in a sentence each.
    """

    by_age: tuple[tuple[int, tuple[Published, ...]], ...]
    over_time: tuple[Published, ...]
    notes: tuple[str, ...]

    def curves(self) -> list[tuple[str, list[float]]]:
        """Return every definition that leakage does not draw, with its number at each age."""
        return [
            (
                f"{one.name}{'' if one.bounds_present else ' (no bound)'}",
                [found[place].epsilon for _, found in self.by_age],
            )
            for place, one in enumerate(self.by_age[0][1])
            if not one.name.startswith(_MEASURED)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers and texts."""
        return {
            "by_age": [{"age": age, "definitions": [asdict(one) for one in found]} for age, found in self.by_age],
            "over_time": [asdict(one) for one in self.over_time],
            "notes": list(self.notes),
        }

    def show(self) -> None:
        """Print every number with what it is a statement about; of several ages, those that leakage does not print."""
        console = terminal()
        first = self.by_age[0][1]
        if len(self.by_age) > 1:
            first = tuple(one for one in first if not one.name.startswith(_MEASURED))
            numbers = Table(
                "age", *(one.name for one in first), title="Baselines, of one release", title_justify="left"
            )
            for age, found in self.by_age:
                told = {one.name: _number(one.epsilon) for one in found}
                numbers.add_row(str(age), *(told.get(one.name, "–") for one in first))
            console.print(numbers)
        said = Table("definition", "bounds the present", "says", title="Beside it", title_justify="left")
        if len(self.by_age) == 1:
            said = Table("definition", "epsilon", "bounds the present", "says", title="Beside it", title_justify="left")
        for one in first:
            number = [_number(one.epsilon)] if len(self.by_age) == 1 else []
            said.add_row(one.name, *number, "yes" if one.bounds_present else "no", one.says)
        console.print(said)
        for one in self.over_time:
            console.print(f"{one.name.capitalize()}: {_number(one.epsilon)} about {one.says}.")
        for note in self.notes:
            console.print(note)


def find_baselines(gauge: LeakageModel, *, query: Query, ages: list[int], epsilon: float, releases: int) -> Baselines:
    """Return what the definitions say that can be computed for a model, each under its own name."""
    from chronodp.correlated import compare_definitions, leakage

    found = tuple((age, tuple(compare_definitions(gauge, query=query, ages=age, epsilon=epsilon))) for age in ages)
    ceiling = leakage(gauge, query=query, ages=ages[0], epsilon=epsilon, adversary="knows_none").record
    over_time, notes = _over_time(gauge, ceiling, epsilon, releases)
    return Baselines(found, over_time, notes)


def _over_time(
    gauge: LeakageModel, ceiling: float, epsilon: float, releases: int
) -> tuple[tuple[Published, ...], tuple[str, ...]]:
    from chronodp.correlated import Published, markov_quilt, temporal_leakage

    model = gauge.model
    if releases == 1 or releases > _MOST_RELEASES or model.sequences * math.log2(model.states) > math.log2(_MOST_JOINT):
        return (), ()
    # Neighbours are whole snapshots there: what one release costs for them is the ceiling of the group.
    told = temporal_leakage(model, epsilons=(ceiling,) * releases)
    says = f"any whole snapshot, through {releases} releases in a row without age"
    over_time = (Published("temporal leakage", max(told.total), False, says),)
    if model.sequences > 1 or not (model.moves > 0).all():  # the quilt is for one chain that can go anywhere
        return over_time, ()
    quilt = markov_quilt(model, horizon=releases, epsilon=epsilon)
    note = (
        f"Markov quilt: to hide any one record of a sum over {releases} periods, for {epsilon:g} and one who knows "
        f"nothing else, noise of scale {quilt.scale:.4g} is enough where a record changes 1; without it "
        f"{releases / epsilon:.4g}."
    )
    return over_time, (note,)


def _number(value: float) -> str:
    return f"{value:.4g}"
