"""How a release is told: its table and page in files, and one JSON object or words and bars on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronodp.cli.places import check_place
from chronodp.cli.table_files import TABLES, write_table
from chronodp.cli.terminal import print_json, print_written, rows_of, show_series, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, to_document

if TYPE_CHECKING:
    import pandas

    from chronodp.dataset import ReleaseTogether
    from chronodp.series import QuantileRelease, Release

__all__ = ["Level", "Out", "PageFile", "check_form", "check_places", "content_of", "tell_release", "write_release"]

_WRITERS = (*TABLES, ".json", ".arrow")

Out = Annotated[
    list[Path] | None,
    typer.Option(
        help="Where to write: .csv or .parquet for the table, .json (above a million numbers .arrow) with the "
        "certificate. May be repeated."
    ),
]
PageFile = Annotated[Path | None, typer.Option(help="Where to write the page, .html.")]
Level = Annotated[float, typer.Option(help="How often intervals hold the value before noise.")]


def check_places(out: Sequence[Path], page: Path | None, level: float) -> None:
    """Refuse, before anything is spent, files that could not be written and a level that is none."""
    check_fraction("level", level)
    for path in out:
        check_place("out", path, *_WRITERS)
    check_place("page", page, ".html")


def check_form(cells: int, out: Sequence[Path], *, as_json: bool) -> None:
    """Refuse, before anything is spent, a release in a form that cannot hold it, or that its name does not tell."""
    from chronodp.ledger import MOST_LISTED

    many = cells > MOST_LISTED
    wrong, right = (".json", ".arrow") if many else (".arrow", ".json")
    allowed = f"{right} for a release of {cells:,} numbers ({'more' if many else 'no more'} than {MOST_LISTED:,})"
    for path in out:
        if path.suffix.lower() == wrong:
            raise InvalidArgument("out", str(path), allowed)
    if many and as_json:
        raise InvalidArgument("json", True, f"left out: --out with {allowed}, and .parquet for its table")


def tell_release(
    made: Release | QuantileRelease, *, out: Sequence[Path], page: Path | None, level: float, as_json: bool
) -> None:
    """Write a release where it was asked for, and print it."""
    for path in out:
        write_release(made, path, level)
    if page is not None:
        made.report(page)
    if as_json:
        content = content_of(made, made.to_pandas(level=level))
        if made.found is not None:
            content["found"] = to_document(made.found)
        if made.keys is not None:
            content["keys"] = made.keys
        if (missing := made.missing_at(level)) is not None:
            content["missing"] = asdict(missing)
        print_json(content)
        return
    console = terminal()
    show_series(console, made)
    for label, text in made.beside:
        console.print(shown(f"{label}: {text}"))
    console.print(str(made.certificate))
    print_written(console, *out, page)


def content_of(made: Release | QuantileRelease | ReleaseTogether, frame: pandas.DataFrame) -> dict[str, Any]:
    """Return what one JSON object tells of any release: what was asked, its rows, its text and its signed link."""
    return {
        "dataset": made.link.dataset,
        "request": made.link.request,
        "series": rows_of(frame),
        "release": made.text,
        "link": made.signed.to_dict(),
    }


def write_release(made: Release | QuantileRelease | ReleaseTogether, path: Path, level: float) -> None:
    """Write a release as the ending of the path says: its table alone, or all of it with the certificate."""
    if path.suffix.lower() in TABLES:
        write_table(_frames(made, level), path)
    else:
        made.save(path)


def _frames(made: Release | QuantileRelease | ReleaseTogether, level: float) -> Iterator[pandas.DataFrame]:
    """Return the table in pieces that memory holds beside the release; of several queries, in one."""
    from chronodp.series import Release

    if not isinstance(made, Release):
        yield made.to_pandas(level=level)
        return
    for stretch in made.each_period(level=level).stretches():
        yield stretch.to_pandas()
