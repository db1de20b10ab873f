"""Whole tables with blurred times: every person's rows at once, paid for and signed where there is a promise."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnsuitableColumn
from chronodp.ledger import Ledger, SignedLink
from chronodp.privacy import Certificate, dump
from chronodp.randomness import Entropy, check_entropy, secure
from chronodp.temporal.blurred import Promise
from chronodp.temporal.damage import Damage, average_damage, count_damage
from chronodp.temporal.grids import PeopleTable, arrange, with_gaps
from chronodp.temporal.mechanisms import Causal, Mechanism, Private, promise_of

if TYPE_CHECKING:
    import pandas

__all__ = ["BlurredTable", "blur_times", "release_times"]


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
    entropy: Entropy | None = None,
) -> BlurredTable:
    """Return a table in which every person's values stand at blurred times; nothing is paid, see `release_times`.

    A person's value columns move together. Where nothing is released the cell is empty.

    Guarantee: that of the mechanism, for every person alike: the rows of one tell nothing of another's.

    Args:
        data: a path or glob of Parquet or CSV files, a pandas, polars or Arrow table, or a DuckDB relation.
        mechanism: BlockShuffle, NoisySort, Backward, Forward or Threshold.
        time: the column with the time: ISO 8601, or a whole number. Evenly spaced; see `resample`.
        user: the column with the person; None if all rows are one person's.
        values: the columns to move.
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
    bits = secure() if entropy is None else check_entropy(entropy)
    return _blurred(arrange(data, time=time, user=user, values=values), mechanism, bits)


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
    analyst: str = "",
    entropy: Entropy | None = None,
) -> BlurredTable:
    """Debit the cost, blur the times, store and sign; the same request returns the same table again.

    Only mechanisms that are differentially private can be paid for. See `blur_times` for the other arguments.

    Guarantee: ε-differential privacy for the mechanism's `Swap`; exact in finite precision. The argument stands in
    ``docs/explanation/proofs/temporal.md``.

    Args:
        data: as for `blur_times`.
        mechanism: BlockShuffle or NoisySort.
        time: the column with the time.
        user: the column with the person.
        values: the columns to move.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each release.
        analyst: whose part of the budget pays.
        entropy: of the draws; secure unless a test says otherwise.
    """
    if isinstance(mechanism, Causal):
        raise InvalidArgument(
            "mechanism", str(mechanism), "BlockShuffle or NoisySort: a marginal dispatch budget cannot be paid for"
        )
    if not isinstance(mechanism, Private):
        raise InvalidArgument("mechanism", mechanism, "BlockShuffle or NoisySort")
    if not isinstance(ledger, Ledger):
        raise InvalidArgument("ledger", ledger, "a Ledger")
    bits = secure() if entropy is None else check_entropy(entropy)
    before = arrange(data, time=time, user=user, values=values)
    _check_storable(before.frame)
    made: list[BlurredTable] = []

    def produce() -> tuple[str, Certificate]:
        made.append(_blurred(before, mechanism, bits))
        return _to_text(made[0].frame), mechanism.certificate(seeded=bits.seeded)

    key = ledger.keys.derive("times", dataset, request)
    content = hashlib.sha256(before.frame.to_csv(index=False).encode()).digest()
    fulfilled = ledger.fulfil(
        dataset,
        request=request,
        cost=mechanism.claim.cost,
        unit=mechanism.claim.unit,
        plan=json.dumps([dump(mechanism), time, user, *values]),
        source=hmac.digest(key, content, "sha256").hex(),
        produce=produce,
        analyst=analyst,
        dates=_dates(before),
    )
    damage = made[0].damage if made else None
    promise = fulfilled.signed.link.certificate
    return BlurredTable(_from_text(fulfilled.release), promise, before, damage, fulfilled.signed)


def _blurred(before: PeopleTable, mechanism: Mechanism, entropy: Entropy) -> BlurredTable:
    frame = before.frame.copy()
    origin = np.empty(len(frame), dtype=np.int64)
    parts = []
    # People with series of one length are blurred together.
    for length in np.unique(before.lengths):
        rows = before.starts[before.lengths == length][:, None] + np.arange(length)
        source = mechanism.perturb_panel(rows, entropy=entropy).source
        origin[rows] = np.where(source < 0, -1, rows[:, :1] + source)
        parts.append((count_damage(source), source.size))
    for name in before.columns:
        frame[name] = _moved(before.frame[name], origin)
    promise = promise_of(mechanism, seeded=entropy.seeded)
    return BlurredTable(frame, promise, before, average_damage(parts) if parts else None)


def _moved(column: pandas.Series[Any], origin: NDArray[np.int64]) -> pandas.Series[Any]:
    moved = column.take(np.maximum(origin, 0)).reset_index(drop=True)
    empty = origin < 0
    if not empty.any():
        return moved
    return with_gaps(moved).mask(empty)


def _dates(table: PeopleTable) -> tuple[dt.date, dt.date] | None:
    """Return the first day of the data and the first day after it, if times are clock times."""
    import pandas

    column = table.frame.iloc[:, 0]
    if not len(column) or column.dtype.kind in "iu" or column.astype(str).str.fullmatch("[0-9]+").all():
        return None
    first, last = (pandas.Timestamp(int(edge)).date() for edge in (table.instants.min(), table.instants.max()))
    return first, last + dt.timedelta(days=1)


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


def _from_text(text: str) -> pandas.DataFrame:
    import pandas

    return pandas.read_parquet(io.BytesIO(base64.b64decode(json.loads(text)["parquet"])))
