"""``chronodp read``: sums, ratios, shares and changes from a saved release; what is not reliable is left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.table_files import TABLES, write_table
from chronodp.cli.terminal import print_json, print_written, rows_of, show_view, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.privacy import text_kind

if TYPE_CHECKING:
    from chronodp.postprocess import Method
    from chronodp.series import Release, View

__all__ = ["parse_smooth", "read"]

_READ = ("release", "quantiles", "together")


def read(
    file: Annotated[
        Path, typer.Argument(help="A saved release, .json or .arrow.", exists=True, dir_okay=False, readable=True)
    ],
    *,
    part: Annotated[str | None, typer.Option(help="Which query, of several released together.")] = None,
    places: Annotated[str | None, typer.Option(help="One level of places, such as state.")] = None,
    at: Annotated[list[str] | None, typer.Option(help="One key of a grouping, as county=c12. May be repeated.")] = None,
    over: Annotated[list[str] | None, typer.Option(help="A grouping to add up. May be repeated.")] = None,
    over_all: Annotated[bool, typer.Option("--over-all", help="Add up all groupings.")] = False,
    resample: Annotated[str | None, typer.Option(help="Add up to longer periods, such as 1W.")] = None,
    quantile: Annotated[
        float | None, typer.Option(help="A quantile of a histogram; with --resample, of longer periods.")
    ] = None,
    rolling: Annotated[int | None, typer.Option(help="Means over so many rows.")] = None,
    running_total: Annotated[bool, typer.Option("--running-total", help="Totals up to each row.")] = False,
    share: Annotated[bool, typer.Option("--share", help="What part of all groups together each one is.")] = False,
    ratio_to: Annotated[
        str | None,
        typer.Option(help="Divide by another query released together, or by a saved release (.json, .arrow)."),
    ] = None,
    ratio_at: Annotated[
        list[str] | None, typer.Option(help="Divide by one key, as county=c12, of that or of the same release.")
    ] = None,
    within: Annotated[
        tuple[float, float] | None, typer.Option(help="Where the ratio is known to be: low and high.")
    ] = None,
    change: Annotated[
        tuple[str, str] | None, typer.Option(help="Show the change from a baseline: its first and last day.")
    ] = None,
    match: Annotated[str | None, typer.Option(help="weekday: compare with the same weekday.")] = None,
    statistic: Annotated[str, typer.Option(help="Of the baseline: mean or median.")] = "mean",
    scale: Annotated[str, typer.Option(help="percent, or index with 100 at the baseline.")] = "percent",
    smooth: Annotated[
        str | None,
        typer.Option(
            help="What is known or assumed about the true values: `nonnegative`, `growing` (of --running-total), each "
            "with `:whole` for whole numbers; `walk` or `trend` where they change little from row to row."
        ),
    ] = None,
    publish_relative: Annotated[
        float | None,
        typer.Option(help="Show cells whose interval is narrower than this part of the value, such as 0.2."),
    ] = None,
    publish_points: Annotated[
        float | None, typer.Option(help="Show cells that are, with high probability, at most this far off.")
    ] = None,
    chance: Annotated[
        float | None, typer.Option(help="The probability with which they may be; 0.05 if not given.")
    ] = None,
    coverage: Annotated[str, typer.Option(help="Of shown cells: published, each or given.")] = "published",
    level: Annotated[float, typer.Option(help="How often intervals hold the value before noise.")] = 0.95,
    simultaneous: Annotated[bool, typer.Option("--simultaneous", help="All intervals hold at once.")] = False,
    out: Annotated[list[Path] | None, typer.Option(help="Where to write: .csv or .parquet. May be repeated.")] = None,
    page: Annotated[Path | None, typer.Option(help="Where to write the page, .html.")] = None,
    as_json: Json = False,
) -> None:
    """Read a saved release: add up, divide, compare with a baseline, and leave out what is not reliable. Free.

    Steps are taken in this order: keys, sums over groups, longer periods, rolling means or totals, then the ratio, or
    the smoothing.

    **Examples**

    `chronodp read visits.json --resample 1W --share`

    `chronodp read visits.json --over county --change 2026-01-05 2026-02-01 --match weekday --publish-points 10`

    `chronodp read trips.json --part stay --ratio-to all --within 0 1 --json`

    `chronodp read lengths.json --quantile 0.5 --resample 1W`

    `chronodp read visits.json --over-all --running-total --smooth growing:whole`
    """
    for path in out or ():
        check_place("out", path, *TABLES)
    check_place("page", page, ".html")

    from chronodp.series import ReadingRequest, read_view, smooth_view

    method = None if smooth is None else parse_smooth(smooth)
    shown_elsewhere = (change, ratio_to, ratio_at, publish_relative, publish_points)
    if method is not None and (share or any(one is not None for one in shown_elsewhere)):
        raise InvalidArgument("smooth", smooth, "left out with ratios, shares, changes and --publish-...")
    request = ReadingRequest(
        places=places,
        at=at or (),
        over=over or (),
        over_all=over_all,
        resample=resample if quantile is None else None,
        rolling=rolling,
        running_total=running_total,
        share=share,
        ratio_at=ratio_at or (),
        within=within,
        change=change,
        match=match,
        statistic=statistic,
        scale=scale,
        relative=publish_relative,
        points=publish_points,
        chance=chance,
        coverage=coverage,
        level=level,
        simultaneous=simultaneous,
    )
    other = None if ratio_to is None else _other(file, ratio_to, level)
    view = read_view(_opened(file, part, level, quantile, resample), request, other=other)
    if method is not None:
        try:
            view = smooth_view(view, method=method)
        except InvalidArgument as error:
            raise InvalidArgument("smooth", smooth, error.allowed) from None
    _tell(view, out or [], page, as_json=as_json)


def parse_smooth(text: str) -> Method:
    """Return what is known or supposed of the truth, from a text such as ``growing:whole``."""
    from chronodp.postprocess import Growing, NonNegative, RandomWalk, Trend

    methods: dict[str, Method] = {
        "nonnegative": NonNegative(),
        "nonnegative:whole": NonNegative(whole=True),
        "growing": Growing(),
        "growing:whole": Growing(whole=True),
        "walk": RandomWalk(),
        "trend": Trend(),
    }
    if text not in methods:
        raise InvalidArgument("smooth", text, f"one of {', '.join(methods)}")
    return methods[text]


def _tell(view: View, out: list[Path], page: Path | None, *, as_json: bool) -> None:
    for path in out:
        write_table((stretch.to_pandas() for stretch in view.stretches()), path)
    if page is not None:
        view.report(page)
    if as_json:
        frame = view.to_pandas()
        content = {
            "title": view.title,
            "level": view.level,
            "note": view.note,
            "steps": list(view.certificate.processing),
            "series": rows_of(frame),
        }
        print_json(content)
        return
    console = terminal()
    show_view(console, view)
    for step in view.certificate.processing:
        console.print(shown(f"Step: {step}"))
    print_written(console, *out, page)


def _opened(
    file: Path, part: str | None, level: float, quantile: float | None = None, every: str | None = None
) -> Release | View:
    """Return what a file holds: a part's periods, or those of the whole; or a quantile of them."""
    from chronodp.dataset import ReleaseTogether
    from chronodp.ledger import load_release
    from chronodp.series import QuantileRelease, Release, open_release

    written, signed = load_release(file)
    kind = text_kind(written.text)
    if kind not in _READ:
        raise InvalidArgument("file", kind or "unknown", "a saved release of a series, of quantiles or of several")
    if kind != "together" and part is not None:
        raise InvalidArgument("part", part, "left out: the file holds one release")
    made: Release | QuantileRelease | View
    if kind == "together":
        together = ReleaseTogether(written.text, signed, parts=written.parts)
        if part is None:
            raise InvalidArgument("part", None, f"one of {', '.join(together.names)}")
        made = together.part(part, level=level)
    else:
        made = open_release(written.text, signed, parts=written.parts)
    if quantile is not None and isinstance(made, Release | QuantileRelease):
        return made.quantile(quantile, every=every, level=level)
    return made.each_period(level=level) if isinstance(made, QuantileRelease) else made


def _other(file: Path, named: str, level: float) -> Release | View:
    """Return the view of another saved release, or of another query in the same file."""
    if named.endswith((".json", ".arrow")):
        path = Path(named)
        if not path.is_file():
            raise InvalidArgument("ratio-to", named, "a query released together, or a file that is there")
        return _opened(path, None, level)
    try:
        return _opened(file, named, level)
    except InvalidArgument as error:
        if error.name != "part":
            raise
        raise InvalidArgument("ratio-to", named, "another saved release, or a query of several in the file") from None
