"""``chronodp stream``: numbers in, private answers out, line by line; goes on after a crash."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronodp.cli.options import Address, JsonLines, Keys, Units
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument, UnknownStream
from chronodp.privacy import Window, check_text, parse_record_unit

if TYPE_CHECKING:
    from chronodp.ledger import Ledger
    from chronodp.series import CausalFilter, Stream, StreamAnswer
    from chronodp.series.windowed import WindowedAnswer, WindowedMechanism, WindowedStream

__all__ = ["number_in", "parse_share", "parse_workload", "stream"]

_LAST = 2**31  # steps, more than any stream has


def stream(
    name: Annotated[str, typer.Argument(help="The stream. If it exists it goes on, and only --ledger is needed.")],
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    workload: Annotated[
        str, typer.Option(help="`running_total`, `each_period`, `rolling:7`, `ewm:0.1`.")
    ] = "running_total",
    share: Annotated[
        str | None,
        typer.Option(
            help="For a window, with `each_period`: how its budget is shared among steps: `uniform`, `sample`, "
            "`distribution` or `absorption`; see `chronodp plan --rehearse`. Left out: shaped noise."
        ),
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="How many steps; not known if not given.")] = None,
    change: Annotated[float | None, typer.Option(help="The most one unit changes one value.")] = None,
    unit: Units = "user",
    max_periods: Annotated[int | None, typer.Option(help="How many steps one person changes.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the whole stream.")] = None,
    delta: Annotated[float, typer.Option(help="Delta of the whole stream.")] = 0.0,
    column: Annotated[int, typer.Option(min=1, help="Which field of a CSV line is the value, from 1.")] = 1,
    period: Annotated[
        int | None, typer.Option(min=1, help="Which field is the number of the step, from 0; it must be the next one.")
    ] = None,
    missing_as_zero: Annotated[
        bool, typer.Option("--missing-as-zero", help="Steps that --period shows left out count as 0.")
    ] = False,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="The input starts with the first step again: steps released before are skipped."),
    ] = False,
    as_json: JsonLines = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read one value a line from standard input and write one private answer a line, each on disk before it is shown.

    **Example**

    `tail -f counts.csv | chronodp stream door --dataset visits --horizon 8760 --change 1 --unit event --epsilon 1
    --delta 1e-6`

    Run it again after a crash: `tail -f counts.csv | chronodp stream door`
    """
    from chronodp.ledger import Ledger
    from chronodp.series import Stream

    if missing_as_zero and period is None:
        raise InvalidArgument("missing_as_zero", True, "used with --period, which tells what is missing")
    with Ledger(ledger, keys=keys) as store:
        try:
            live = _resume(store, name)
        except UnknownStream:
            needed = {"dataset": dataset, "change": change, "epsilon": epsilon}
            for option, value in needed.items():
                if value is None:
                    raise InvalidArgument(option, None, f"given: there is no stream {name!r} to go on with") from None
            options = {**needed, "delta": delta, "ledger": store, "name": name}
            live = _open(workload, share, unit, {"horizon": horizon, "max_periods": max_periods}, options)
        lines = _Lines(column, period, zeros=missing_as_zero, replay=replay)
        if not as_json:
            print("period,value,lower,upper" if isinstance(live, Stream) else "period,value,fresh", flush=True)
        for number, line in enumerate(filter(str.strip, sys.stdin)):
            for value in lines.values(line, number, live.period):
                _show(live.step(value), as_json=as_json)


def parse_workload(text: str) -> CausalFilter:
    """Return the workload that a text such as ``rolling:7`` names."""
    from chronodp.series import EachPeriod, Ewm, Rolling, RunningTotal

    kind, _, detail = check_text("workload", text).partition(":")
    try:
        match kind:
            case "running_total":
                return RunningTotal()
            case "each_period":
                return EachPeriod()
            case "rolling":
                return Rolling(int(detail))
            case "ewm":
                return Ewm(float(detail))
    except ValueError:
        pass
    raise InvalidArgument("workload", text, "running_total, each_period, rolling:7 or ewm:0.1")


def number_in(fields: list[str], column: int) -> float:
    """Return the finite number in a field of a line, counted from 1."""
    try:
        text = fields[column - 1].strip().lower()
        number = float(text)
        if math.isinf(number) and "inf" not in text:  # a number beyond all floats is a value like any other
            number = math.copysign(sys.float_info.max, number)
    except (ValueError, IndexError):
        number = math.nan
    if not math.isfinite(number):
        # The line is data: its content is not repeated.
        allowed = f"one with a finite number in field {column}; nothing was released for it"
        raise InvalidArgument("line", ",".join(fields), allowed, private=True)
    return number


@dataclass(frozen=True)
class _Lines:
    """How lines are read.

    Attributes:
        column: which field is the value, from 1.
        period: which field is the number of the step, if any is.
        zeros: whether steps that were left out count as 0.
        replay: whether lines of steps that were released before may come again.
    """

    column: int
    period: int | None
    zeros: bool
    replay: bool

    def values(self, line: str, number: int, next_step: int) -> list[float]:
        """Return what is to be released for a line: nothing if it was before, and 0 for every step left out."""
        fields = line.strip().split(",")
        value = number_in(fields, self.column)
        at = number if self.replay else next_step
        if self.period is not None:
            given = number_in(fields, self.period)
            at = int(given)
            if at != given or not 0 <= at <= _LAST:
                raise InvalidArgument("period", f"in field {self.period}", "the whole number of a step, from 0")
        if at < next_step:
            if self.replay:
                return []
            raise StreamConflict(f"step {at} was released before: --replay skips such lines")
        if at > next_step and not self.zeros:
            raise StreamConflict(f"the line of step {at} leaves out step {next_step}: --missing-as-zero counts it as 0")
        return [*[0.0] * (at - next_step), value]


def _resume(ledger: Ledger, name: str) -> Stream | WindowedStream:
    from chronodp.series import Stream
    from chronodp.series.windowed import WindowedStream

    try:
        return Stream.resume(ledger, name)
    except UnknownDocument:
        return WindowedStream.resume(ledger, name)


def _open(
    workload: str, share: str | None, unit: str, limits: dict[str, Any], options: dict[str, Any]
) -> Stream | WindowedStream:
    from chronodp.series import EachPeriod, Stream
    from chronodp.series.windowed import WindowedStream

    if share is None:
        return Stream(parse_workload(workload), unit=parse_record_unit(unit), **limits, **options)
    window = parse_record_unit(unit)
    if not isinstance(window, Window):
        raise InvalidArgument("share", share, f"left out: it is for a unit such as window:24, not {unit}")
    if parse_workload(workload) != EachPeriod():
        raise InvalidArgument("workload", workload, "each_period, where --share is given")
    for name, value in limits.items():
        if value is not None:
            raise InvalidArgument(
                name, value, "left out, where --share is given: then any window is protected, for any number of steps"
            )
    return WindowedStream(parse_share(share), window=window, **options)


def parse_share(text: str) -> WindowedMechanism:
    """Return how a window's budget is shared among steps, by its name."""
    from chronodp.series.windowed import BudgetAbsorption, BudgetDistribution, Sample, Uniform

    shares: dict[str, WindowedMechanism] = {
        "uniform": Uniform(),
        "sample": Sample(),
        "distribution": BudgetDistribution(),
        "absorption": BudgetAbsorption(),
    }
    if check_text("share", text) not in shares:
        raise InvalidArgument("share", text, f"one of {', '.join(shares)}")
    return shares[text]


def _show(made: StreamAnswer | WindowedAnswer, *, as_json: bool) -> None:
    shown = dataclasses.asdict(made)
    shown.pop("spend", None)
    print(json.dumps(shown) if as_json else ",".join(map(repr, shown.values())), flush=True)
