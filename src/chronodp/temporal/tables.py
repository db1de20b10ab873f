"""Whole tables with blurred times: every person's rows at once, paid for and signed where there is a promise."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnsuitableColumn
from chronodp.ledger import Ledger, SignedLink, check_ledger
from chronodp.privacy import Certificate, dump, moment_at
from chronodp.randomness import Entropy, check_entropy
from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Promise
from chronodp.temporal.cuts import Cut, Moment, cover, find_cut, segments
from chronodp.temporal.damage import Damage, average_damage, count_damage
from chronodp.temporal.grids import PeopleTable, arrange, with_gaps
from chronodp.temporal.mechanisms import Causal, Mechanism, Private, promise_of
from chronodp.temporal.noisy_sort import NoisySort

if TYPE_CHECKING:
    import pandas

__all__ = ["BlurredTable", "blur_times", "read_blurred", "release_times"]


@dataclass(frozen=True, eq=False)
class BlurredTable:
    """A table with its times blurred.

    Attributes:
        frame: what may be published: time, user and values, in order of person and time.
        promise: what holds of it.
        before: the table as it was, in the same order. FOR THE OWNER ONLY.
        damage: what was lost and moved. FOR THE OWNER ONLY; None for a release that was stored before.
        signed: the link in the dataset's chain, if the ledger paid.
    """

    frame: pandas.DataFrame
    promise: Promise
    before: PeopleTable = field(repr=False)
    damage: Damage | None = field(default=None, repr=False)
    signed: SignedLink | None = field(default=None, repr=False)

    def write(self, path: str | Path) -> Path:
        """Write the published table to a CSV or Parquet file."""
        place = Path(path)
        if place.suffix.lower() not in (".csv", ".parquet"):
            raise InvalidArgument("path", str(path), "a file that ends in .csv or .parquet")
        try:
            if place.suffix.lower() == ".csv":
                self.frame.to_csv(place, index=False)
            else:
                self.frame.to_parquet(place, index=False)
        except OSError:
            raise InvalidArgument("path", str(path), "a place that can be written") from None
        return place

    def __repr__(self) -> str:
        return f"BlurredTable({len(self.frame):,} rows)"


def blur_times(
    data: object,
    mechanism: Mechanism,
    *,
    time: str,
    user: str | None = None,
    values: Sequence[str],
    start: Moment | None = None,
    end: Moment | None = None,
    entropy: Entropy | None = None,
) -> BlurredTable:
    """Return a table in which every person's values stand at blurred times; nothing is paid, see `release_times`.

    A person's value columns move together. Where nothing is released the cell is empty. Blocks are counted from
    1970-01-01 UTC (from time 0 where times are whole numbers), the same for every table and person; a person who begins
    or ends inside a block has a shorter one.

    Guarantee: that of the mechanism, for every person alike: the rows of one reveal nothing of another's. Two releases
    compose only where each block is released whole and alike. Without ``start`` and ``end`` the first and last block
    are as the table happens to cover them: such a release stands alone, and its values must not be released again.

    Args:
        data: a path or glob of Parquet or CSV files, a pandas, polars or Arrow table, or a DuckDB relation.
        mechanism: BlockShuffle, NoisySort, Backward, Forward or Threshold.
        time: the column with the time: ISO 8601, or a whole number. Evenly spaced; see `resample`.
        user: the column with the person; None if all rows are one person's.
        values: the columns to move.
        start: the first time to release; on the border of a block. Rows before it are left out.
        end: the first time no longer to release; on the border of a block.
        entropy: of the draws; secure unless a test says otherwise.

    >>> import pandas
    >>> from chronodp.randomness import seeded
    >>> from chronodp.temporal import BlockShuffle
    >>> table = pandas.DataFrame({"at": [1, 2, 3, 4], "pulse": [70, 90, 71, 72]})
    >>> made = blur_times(table, BlockShuffle(4, 0.5), time="at", values=["pulse"], entropy=seeded(5))
    >>> made.frame["at"].tolist(), sorted(made.frame["pulse"])
    ([1, 2, 3, 4], [70, 71, 72, 90])
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", mechanism, "BlockShuffle, NoisySort, Backward, Forward or Threshold")
    bits = check_entropy(entropy)
    table = arrange(data, time=time, user=user, values=values)
    cut = find_cut(table, _block(mechanism), start, end)
    return _blurred(cover(table, cut), mechanism, cut, bits)


def release_times(
    data: object,
    mechanism: Private,
    *,
    time: str,
    user: str | None = None,
    values: Sequence[str],
    ledger: Ledger,
    dataset: str,
    request: str,
    start: Moment | None = None,
    end: Moment | None = None,
    analyst: str = "",
    entropy: Entropy | None = None,
) -> BlurredTable:
    """Debit the cost, blur the times, store and sign; the same request returns the same table again.

    Only mechanisms that are differentially private can be paid for. See `blur_times` for the other arguments.

    Guarantee: ε-differential privacy for the mechanism's `Swap`, with the blocks of `blur_times`; exact in finite
    precision. Costs of two releases add up only where each block is released whole and alike: give ``start`` and
    ``end``, and every row between them. Without them a release stands alone; a block that was released in part must
    never be released a second time with other rows. The argument stands in ``docs/explanation/proofs/temporal.md``.

    Args:
        data: as for `blur_times`.
        mechanism: BlockShuffle or NoisySort.
        time: the column with the time.
        user: the column with the person.
        values: the columns to move.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each release.
        start: as for `blur_times`.
        end: as for `blur_times`.
        analyst: whose part of the budget pays.
        entropy: of the draws; secure unless a test says otherwise.
    """
    if isinstance(mechanism, Causal):
        raise InvalidArgument(
            "mechanism", str(mechanism), "BlockShuffle or NoisySort: a marginal dispatch budget cannot be paid for"
        )
    if not isinstance(mechanism, Private):
        raise InvalidArgument("mechanism", mechanism, "BlockShuffle or NoisySort")
    check_ledger(ledger)
    bits = check_entropy(entropy)
    table = arrange(data, time=time, user=user, values=values)
    cut = find_cut(table, _block(mechanism), start, end)
    before = cover(table, cut)
    _check_storable(before.frame)
    made: list[BlurredTable] = []

    def produce() -> tuple[str, Certificate]:
        made.append(_blurred(before, mechanism, cut, bits))
        return _to_text(made[0].frame), _with_cut(mechanism.certificate(seeded=bits.seeded), cut)

    key = ledger.keys.derive("times", dataset, request)
    content = hashlib.sha256(before.frame.to_csv(index=False).encode()).digest()
    fulfilled = ledger.fulfil(
        dataset,
        request=request,
        cost=mechanism.claim.cost,
        unit=mechanism.claim.unit,
        plan=json.dumps([dump(mechanism), time, user, *values, [cut.start, cut.end]]),
        source=hmac.digest(key, content, "sha256").hex(),
        produce=produce,
        analyst=analyst,
        dates=_dates(before),
    )
    damage = made[0].damage if made else None
    promise = fulfilled.signed.link.certificate
    return BlurredTable(read_blurred(fulfilled.release), promise, before, damage, fulfilled.signed)


def _block(mechanism: Mechanism) -> int:
    match mechanism:
        case BlockShuffle(block=block):
            return block
        case NoisySort(window=window):
            return window + 1
    return mechanism.window


def _with_cut(certificate: Certificate, cut: Cut) -> Certificate:
    return replace(certificate, mechanism=f"{certificate.mechanism}; cut: {cut}")


def _blurred(before: PeopleTable, mechanism: Mechanism, cut: Cut, entropy: Entropy) -> BlurredTable:
    frame = before.frame.copy()
    origin = np.empty(len(frame), dtype=np.int64)
    parts = []
    begins, lengths = before.starts, before.lengths
    if isinstance(mechanism, BlockShuffle):
        begins, lengths = segments(before, mechanism.block)
    # Stretches of one length are blurred together.
    for length in np.unique(lengths):
        rows = begins[lengths == length][:, None] + np.arange(length)
        source = mechanism.perturb_panel(rows, entropy=entropy).source
        origin[rows] = np.where(source < 0, -1, rows[:, :1] + source)
        parts.append((count_damage(source), source.size))
    for name in before.columns:
        frame[name] = _moved(before.frame[name], origin)
    promise = promise_of(mechanism, seeded=entropy.seeded)
    if isinstance(promise, Certificate):
        promise = _with_cut(promise, cut)
    return BlurredTable(frame, promise, before, average_damage(parts) if parts else None)


def _moved(column: pandas.Series[Any], origin: NDArray[np.int64]) -> pandas.Series[Any]:
    import pandas

    filled = with_gaps(column) if np.any(origin < 0) else column
    # Filled while taking: a cell that is only masked would keep a value that was never released.
    moved: pandas.Series[Any] = pandas.Series(filled.array.take(origin, allow_fill=True))
    # The list of categories would name values of rows that are not here.
    return moved.cat.remove_unused_categories() if isinstance(moved.dtype, pandas.CategoricalDtype) else moved


def _dates(table: PeopleTable) -> tuple[dt.datetime, dt.datetime] | None:
    """Return when the data begin and end, if times are clock times."""
    if not table.clock or not len(table.frame):
        return None
    first, last = (moment_at(int(edge) // 1000) for edge in (table.instants.min(), table.instants.max()))
    return first, last + dt.timedelta(microseconds=1)


def _check_storable(frame: pandas.DataFrame) -> None:
    """Raise before anything is spent if the table could not be stored in the end."""
    import pyarrow

    try:
        pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError):
        # The library's own message may quote a value.
        raise UnsuitableColumn("a column mixes types: give each column one type") from None


def _to_text(frame: pandas.DataFrame) -> str:
    content = io.BytesIO()
    frame.to_parquet(content, index=False)
    return json.dumps({"kind": "blurred_times", "parquet": base64.b64encode(content.getvalue()).decode("ascii")})


def read_blurred(text: str) -> pandas.DataFrame:
    """Return the table that a stored release of blurred times holds."""
    import pandas

    return pandas.read_parquet(io.BytesIO(base64.b64decode(json.loads(text)["parquet"])))
