"""A question on the command line: what its flags, or a TOML file, or flags over a TOML file ask for."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chronodp.cli.place_file import read_focus, read_places
from chronodp.cli.question_options import OPTIONS, read_options
from chronodp.cli.question_texts import read_clips, read_derived, read_groups, read_numbers
from chronodp.errors import InvalidArgument
from chronodp.privacy import parse_record_unit
from chronodp.reading import closed_file

if TYPE_CHECKING:
    from chronodp.dataset import FindBounds, Query
    from chronodp.engines import Reading
    from chronodp.series import Discover, Missing, Places, Plan
    from chronodp.series.measures import Argument

__all__ = ["Asked", "asking", "asks"]

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
            columns=read_derived(options.get("column")),
        )
        blocks = [name for name in _BLOCKS if options.get(name)]
        if len(blocks) > 1:
            raise InvalidArgument("blocks", " and ".join(blocks), "one of --total, --peak, --trough")
        by: dict[str, Any] = {**read_groups(options.get("by")), **self._discover()}
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

    def plan(self, *, expect: float | None = None) -> Plan:
        """Return its plan; with a guess of a number's size it says how far off such a number comes out."""
        from chronodp.series.discovery import DELTA

        query, missing = self.query(), self._missing()
        named = {"discover_delta": DELTA}
        if self.options.get("discover") is not None:
            named["discover_share"] = "share"
        with _as_written(named):
            delta = self.options.get("delta", 0.0)
            return query.plan(epsilon=self.needed("epsilon"), delta=delta, missing=missing, expect=expect)

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
        if column in read_groups(self.options.get("by")):
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
        from chronodp.series import ASKABLE

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
            elif argument.kind == "clips" and options.get("clip_of") is not None:
                if options.get("clip") is not None:
                    raise InvalidArgument("clip_of", options["clip_of"], "left out beside --clip, one for all groups")
                question[argument.name] = read_clips(options["clip_of"])
            elif options.get(argument.name) is not None or (argument.needed and argument.name not in find.bounds):
                given = self.needed(argument.name)
                if given != _FOUND or argument.name != "norm":
                    question[argument.name] = _read_argument(argument, given)
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


def _read_argument(argument: Argument, given: object) -> object:
    """Return what an option says; flags of some arguments are texts."""
    if argument.kind in ("edges", "fractions"):
        return read_numbers(argument.name, given)
    if argument.kind == "number" and isinstance(given, str):
        try:
            return float(given)
        except ValueError:
            raise InvalidArgument(argument.name, given, f"a number above 0, or {_FOUND}") from None
    return given
