"""A question on the command line: flags, or a TOML file, or flags over a TOML file."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from chronodp.cli.place_file import read_focus, read_places
from chronodp.errors import InvalidArgument
from chronodp.privacy import parse_record_unit
from chronodp.reading import closed_file
from chronodp.settings import Section, anything, load_settings

if TYPE_CHECKING:
    from chronodp.dataset import FindBounds, Query
    from chronodp.engines import Reading
    from chronodp.series import Discover, Missing, Places, Plan
    from chronodp.series.measures import Argument

__all__ = ["FILE_OPTIONS", "Asked", "asking", "asks", "read_options"]

_BLOCKS = ("total", "peak", "trough")
_ASSUMED: dict[str, Literal["even loss"] | None] = {"even-loss": "even loss", "none": None}
_FOUND = "find"
_FIND = {"find_share": "share", "find_between": "between", "find_from_zero": "from_zero"}
_DISCOVER = {
    "max_keys": "max_keys",
    "discover_share": "share",
    "discover_delta": "delta",
    "most_keys": "most",
    "longest_key": "longest",
}

OPTIONS: dict[str, Any] = {
    "data": Annotated[
        str | None,
        typer.Argument(help="A Parquet or CSV file, or a glob in quotes; or a TOML file with several queries."),
    ],
    "config": Annotated[Path | None, typer.Option("--config", "-c", help="A TOML file with any of these options.")],
    "time": Annotated[str | None, typer.Option(help="The column with the time.")],
    "user": Annotated[str | None, typer.Option(help="The column with the person.")],
    "every": Annotated[str | None, typer.Option(help="Length of a period: `15min`, `1h`, `1D`, `1mo`.")],
    "start": Annotated[str | None, typer.Option(help="When the first period begins, such as 2026-01-01.")],
    "end": Annotated[str | None, typer.Option(help="When the last period ends.")],
    "timezone": Annotated[str | None, typer.Option(help="Whose clocks; UTC if not given.")],
    "time_format": Annotated[
        str | None,
        typer.Option(help="How times are written: `s`, `ms`, `us` or `ns` since 1970, or such as `%d.%m.%Y %H:%M`."),
    ],
    "decimal": Annotated[str | None, typer.Option(help="The decimal sign of numbers in texts: `.` or `,`.")],
    "separator": Annotated[str | None, typer.Option(help="Between fields of CSV; else the first line decides.")],
    "encoding": Annotated[str | None, typer.Option(help="Of CSV: `utf-8` (default), `latin-1` or `utf-16`.")],
    "line_breaks": Annotated[
        bool | None,
        typer.Option("--line-breaks", help="Quoted fields of CSV hold line breaks; every quote must close."),
    ],
    "where": Annotated[
        str | None, typer.Option(help="Count only rows of which this holds: `\"origin = 'JFK' AND dep_delay > 0\"`.")
    ],
    "column": Annotated[
        list[str] | None, typer.Option(help="Make a column of others: `late='dep_delay > 15'`. May be repeated.")
    ],
    "unit": Annotated[
        str | None, typer.Option(help="`user` (default), `event`, `user_period:1D`, `window:24`; `/replace` after it.")
    ],
    "max_periods": Annotated[int | None, typer.Option(help="How many periods of one person count.")],
    "count": Annotated[bool | None, typer.Option("--count", help="Count people (or rows, see --at-most).")],
    "sum": Annotated[str | None, typer.Option(help="Add up this column.")],
    "mean": Annotated[str | None, typer.Option(help="Average this column, over rows unless --of says otherwise.")],
    "variance": Annotated[
        str | None, typer.Option(help="How far this column's totals lie apart over the people present: their variance.")
    ],
    "histogram": Annotated[str | None, typer.Option(help="Count people, or --of rows, by bins of this column.")],
    "quantiles": Annotated[
        str | None, typer.Option(help="Tell quantiles of this column, of people or --of rows, by --fractions.")
    ],
    "active": Annotated[
        str | None, typer.Option(help="Count people with a row in the last days at every period: `7D`, `28D`.")
    ],
    "max_stays": Annotated[
        int | None,
        typer.Option(
            help="With --active and unit `user`: how many stays of one person count, runs of periods without a gap."
        ),
    ],
    "of": Annotated[
        str | None,
        typer.Option(
            help="What a mean is of: `rows` (default), `people` (their own means) or `totals` (people's totals in a "
            "period); a histogram, or quantiles: `people` (default) or `rows`."
        ),
    ],
    "clip": Annotated[
        tuple[float, float] | None,
        typer.Option(help="Least and most of one person in a period, or of a row in a mean of rows: two numbers."),
    ],
    "norm": Annotated[
        str | None,
        typer.Option(
            help="With --sum, unit `user` and a delta, in place of --clip: the largest l2 norm of one person's whole "
            "series, or `find`."
        ),
    ],
    "signed": Annotated[
        bool | None, typer.Option("--signed/--no-signed", help="With --norm: whether totals below 0 count.")
    ],
    "at_most": Annotated[
        int | None, typer.Option(help="Most rows (or bins) of one person in a period; of means, their weight.")
    ],
    "edges": Annotated[str | None, typer.Option(help="Edges of bins, such as `0,1,2,5`.")],
    "fractions": Annotated[str | None, typer.Option(help="Which quantiles, such as `0.1,0.5,0.9`.")],
    "people": Annotated[int | None, typer.Option(help="Public number of people, for means under `/replace`.")],
    "by": Annotated[
        list[str] | None, typer.Option(help="Split by public keys: `region=north,south`. May be repeated.")
    ],
    "places": Annotated[
        Path | None,
        typer.Option(help="A CSV or Parquet file of public places, every level of --levels of which is released."),
    ],
    "levels": Annotated[
        str | None,
        typer.Option(help="Its columns from the top down; the last is the data's column: `country,state,county`."),
    ],
    "place_column": Annotated[
        str | None, typer.Option(help="The data's column with the place, if not called as the last of --levels.")
    ],
    "focus": Annotated[
        str | None,
        typer.Option(
            help="For which levels errors are made small: weights such as `county=2`, 1 for others; `nodes`: every "
            "place counts alike; `largest`: the largest error of a level is least."
        ),
    ],
    "total": Annotated[str | None, typer.Option(help="Add up longer periods, such as `1D` of hours.")],
    "peak": Annotated[str | None, typer.Option(help="Take the largest within longer periods, such as `1D` of hours.")],
    "trough": Annotated[str | None, typer.Option(help="Take the least within longer periods.")],
    "max_groups": Annotated[int | None, typer.Option(help="In how many groups one person counts in a period.")],
    "discover": Annotated[
        str | None,
        typer.Option(help="Split by this column, whose keys nobody declared: those that enough people hold are found."),
    ],
    "max_keys": Annotated[
        int | None,
        typer.Option(help="With --discover and unit `user`: how many keys of one person count, over the whole series."),
    ],
    "discover_share": Annotated[
        float | None,
        typer.Option(
            help="Part of the price that finds keys; 0.2 if not given. 0, with --count and one period: published "
            "counts decide themselves."
        ),
    ],
    "discover_delta": Annotated[
        float | None,
        typer.Option(
            help="Probability that a key of one person alone is published; 0.4 of --delta if not given, needed without."
        ),
    ],
    "most_keys": Annotated[int | None, typer.Option(help="How many keys are published at most; 5000 if not given.")],
    "longest_key": Annotated[
        int | None,
        typer.Option(help="Bytes of the longest key; rows with a longer one are left out. 256 if not given."),
    ],
    "find": Annotated[
        list[str] | None,
        typer.Option(
            help="Find a bound privately: `clip`, `at_most`, `norm`, `max_periods` or `max_groups`. May be repeated."
        ),
    ],
    "find_share": Annotated[float | None, typer.Option(help="Part of the price that finds bounds; 0.05 if not given.")],
    "find_between": Annotated[
        tuple[float, float] | None,
        typer.Option(help="Public ends of the largest size of one person in a period: two positive numbers."),
    ],
    "find_from_zero": Annotated[
        bool | None,
        typer.Option("--find-from-zero", help="Totals below 0 count as 0: only the most of a person is found."),
    ],
    "missing": Annotated[
        float | None,
        typer.Option(help="Part of the price that releases what bounds took away, such as 0.05."),
    ],
    "missing_assume": Annotated[
        str | None,
        typer.Option(help="`even-loss` (default): intervals for every period; `none`: for the mean of all periods."),
    ],
    "epsilon": Annotated[float | None, typer.Option(help="Epsilon of the release.")],
    "delta": Annotated[float | None, typer.Option(help="Delta of the release; 0 for a pure guarantee.")],
}
FILE_OPTIONS = {name: anything() for name in OPTIONS}
"""The same in a TOML file; `TimeSeries` and its queries check what they say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, by option name."""

    options: dict[str, Any]

    def query(self) -> Query[Plan]:
        """Return the question about the series."""
        from chronodp.dataset import TimeSeries, ask_question

        options, find = self.options, self._find()
        series = TimeSeries(
            self.needed("data"),
            time=self.needed("time"),
            user=options.get("user"),
            every=self.needed("every"),
            start=self.needed("start"),
            end=self.needed("end"),
            timezone=options.get("timezone", "UTC"),
            unit=parse_record_unit(options.get("unit", "user")),
            max_periods=find.instead_of("max_periods", options.get("max_periods")),
            reading=self._reading(),
            where=options.get("where"),
            columns=_derived(options.get("column")),
        )
        blocks = [name for name in _BLOCKS if options.get(name)]
        if len(blocks) > 1:
            raise InvalidArgument("blocks", " and ".join(blocks), "one of --total, --peak, --trough")
        by: dict[str, Any] = {**_groups(options.get("by")), **self._discover()}
        places = self._places()
        return ask_question(
            series,
            self._measure(find),
            by=by,
            places=places,
            focus=read_focus(options.get("focus")),
            # Several queries of a file share their options, and not all of them are split.
            max_groups=options.get("max_groups") if by or places is not None else None,
            max_periods=options.get("max_periods"),
            block=(blocks[0], options[blocks[0]]) if blocks else None,
            find=find,
        )

    def plan(self) -> Plan:
        """Return its plan."""
        from chronodp.series.discovery import DELTA

        query, missing = self.query(), self._missing()
        named = {"discover_delta": DELTA}
        if self.options.get("discover") is not None:
            named["discover_share"] = "share"
        with _as_written(named):
            return query.plan(epsilon=self.needed("epsilon"), delta=self.options.get("delta", 0.0), missing=missing)

    def _find(self) -> FindBounds:
        """Return which bounds are found."""
        from chronodp.dataset import FindBounds

        given = self.options.get("find")
        names = (given,) if isinstance(given, str) else tuple(given or ())
        if self.options.get("norm") == _FOUND and "norm" not in names:
            names = (*names, "norm")
        said = self._said(_FIND)
        if said and not names:
            raise InvalidArgument("find", None, "given beside options of finding, such as --find clip")
        with _as_written(_FIND):
            return FindBounds(tuple(map(str, names)), **said)

    def _places(self) -> Places | None:
        """Return the tree of places, if there is one."""
        if self.options.get("places") is not None:
            return read_places(self.options["places"], self.needed("levels"), self.options.get("place_column"))
        for name in ("levels", "place_column", "focus"):
            if self.options.get(name) is not None:
                raise InvalidArgument(name, self.options[name], "left out unless --places is given")
        return None

    def _discover(self) -> dict[str, Discover]:
        """Return the column whose keys are found, if there is one."""
        from chronodp.series import Discover

        column, said = self.options.get("discover"), self._said(_DISCOVER)
        if column is None:
            if said:
                raise InvalidArgument("discover", None, "given beside options of finding keys, such as --discover page")
            return {}
        if not isinstance(column, str) or not column:
            raise InvalidArgument("discover", column, "one column, such as --discover page")
        if column in _groups(self.options.get("by")):
            raise InvalidArgument("discover", column, "a column that --by does not name: keys are given or found")
        with _as_written(_DISCOVER):
            return {column: Discover(**said)}

    def _said(self, options: dict[str, str]) -> dict[str, Any]:
        """Return what was given of some options, by the arguments that they stand for."""
        return {argument: self.needed(name) for name, argument in options.items() if self.options.get(name) is not None}

    def _missing(self) -> Missing | None:
        """Return the figure of what bounds took away, if it is asked for."""
        from chronodp.series import Missing

        share, assume = self.options.get("missing"), self.options.get("missing_assume")
        if share is None:
            if assume is not None:
                raise InvalidArgument("missing_assume", assume, "left out unless --missing is given")
            return None
        if assume is not None and str(assume) not in _ASSUMED:
            raise InvalidArgument("missing_assume", assume, f"one of {', '.join(_ASSUMED)}")
        try:
            return Missing(share) if assume is None else Missing(share, _ASSUMED[str(assume)])
        except InvalidArgument as error:
            raise error.renamed("missing") from None

    def _reading(self) -> Reading:
        """Return what was declared about how cells are written."""
        from chronodp.engines import Reading

        names = ("time_format", "decimal", "separator", "encoding", "line_breaks")
        given = {name: self.options[name] for name in names if self.options.get(name) is not None}
        return Reading(**given)

    def _measure(self, find: FindBounds) -> dict[str, Any]:
        """Return the measure in words, with the options that it has."""
        from chronodp.series.measures import ASKABLE

        options = self.options
        asked = [name for name in ASKABLE if options.get(name)]
        if len(asked) != 1:
            allowed = f"one of {', '.join(f'--{name}' for name in ASKABLE)}"
            raise InvalidArgument("measure", " and ".join(asked) or None, allowed)
        asking = ASKABLE[asked[0]]
        question: dict[str, Any] = {"kind": asking.kind}
        for argument in asking.arguments:
            if argument.kind in ("column", "length"):  # what the kind's own option says
                question[argument.name] = options[asking.kind]
            elif options.get(argument.name) is not None or (argument.needed and argument.name not in find.bounds):
                given = self.needed(argument.name)
                if given != _FOUND or argument.name != "norm":
                    question[argument.name] = _read_argument(argument, given)
        if asking.kind == "mean" and "of" not in question:
            # As in Python: rows. In JSON a mean without a word is that of totals, since 0.1.0 wrote it so.
            question["of"] = "totals" if "people" in question else "rows"
        return question

    def needed(self, name: str) -> Any:
        """Return an option that must be given."""
        if self.options.get(name) is None:
            raise InvalidArgument(name, None, f"given, as --{name.replace('_', '-')} or in the file of --config")
        value = self.options[name]
        return tuple(value) if isinstance(value, list) else value


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a question; it receives them as one argument, ``asked``."""
    return asking()(command)


def asking(**instead: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what gives a command the options of a question, some of them told in other words."""
    return functools.partial(_with_options, OPTIONS | instead)


def _with_options(options: dict[str, Any], command: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(command, eval_str=True)
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in options.items()
    ]
    own = [
        part.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for part in signature.parameters.values()
        if part.name != "asked"
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        flags = {name: given.pop(name) for name in OPTIONS}
        options = {name: value for name, value in flags.items() if value is not None and name != "config"}
        with contextlib.ExitStack() as around:
            if flags["config"] is not None or str(flags["data"] or "").endswith(".toml"):
                around.enter_context(closed_file())
            if flags["config"] is not None:
                said = read_options(flags["config"])
                around.enter_context(said.pointing(but=options))
                options = {**said, **options}
            command(asked=Asked(options), **given)

    parameters = [*shared, *own]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by inspect
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run


@contextlib.contextmanager
def _as_written(options: dict[str, str]) -> Iterator[None]:
    """Name options as they were written where an argument that one stands for is refused."""
    written = {argument: name for name, argument in options.items()}
    try:
        yield
    except InvalidArgument as error:
        if written.get(error.name, error.name) == error.name:
            raise
        raise error.renamed(written[error.name]) from None


def read_options(path: Path) -> Section:
    """Return the options in the file of --config."""
    return load_settings("config", path, FILE_OPTIONS)


def _groups(by: object) -> dict[str, list[object]]:
    if isinstance(by, dict):
        return by
    groups: dict[str, list[object]] = {}
    for text in by if isinstance(by, list | tuple) else []:
        column, _, keys = str(text).partition("=")
        if not column or not keys:
            raise InvalidArgument("by", text, "a column and its keys, such as region=north,south")
        groups[column] = list(keys.split(","))
    return groups


def _derived(columns: object) -> dict[str, str]:
    if isinstance(columns, dict):
        return columns
    derived: dict[str, str] = {}
    for text in columns if isinstance(columns, list | tuple) else []:
        name, _, expression = str(text).partition("=")
        name = name.strip()
        if not name or not expression or name in derived:
            raise InvalidArgument("column", text, "a name, once, and an expression, such as late='dep_delay > 15'")
        derived[name] = expression
    return derived


def _read_argument(argument: Argument, given: object) -> object:
    """Return what an option says; flags of some arguments are texts."""
    if argument.kind in ("edges", "fractions"):
        return _numbers(argument.name, given)
    if argument.kind == "number" and isinstance(given, str):
        try:
            return float(given)
        except ValueError:
            raise InvalidArgument(argument.name, given, f"a number above 0, or {_FOUND}") from None
    return given


def _numbers(name: str, text: object) -> tuple[float, ...]:
    if isinstance(text, tuple):
        return text
    try:
        return tuple(float(part) for part in str(text).split(","))
    except ValueError:
        raise InvalidArgument(name, text, "numbers with commas between them, such as 0.1,0.5,0.9") from None
