"""A whole series of aged answers as one release: paid, drawn, stored and signed at once.

"A stream" of ``docs/explanation/proofs/correlated.md``: it is the stream of the same design, run to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.chain import Floats, Integers
from chronodp.correlated.fit import check_series
from chronodp.correlated.fran.advance import advance
from chronodp.correlated.fran.design import FranDesign
from chronodp.correlated.fran.promise import certificate_of, stated
from chronodp.correlated.fran.state import begin
from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_LISTED, Dates, Ledger, SignedLink, Written, check_ledger, check_signed, save_release
from chronodp.privacy import Certificate, canonical, check_kind, dump, load, load_parts, to_document
from chronodp.randomness import Entropy, check_entropy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AgedSeries", "release_aged"]


@dataclass(frozen=True, repr=False)
class AgedSeries:
    """Aged answers of a whole series, public and signed. Made by `release_aged`.

    Attributes:
        text: what was stored and signed.
        signed: its link in the dataset's chain of certificates.
    """

    text: str
    signed: SignedLink

    def __post_init__(self) -> None:
        check_signed(self.signed.link, self.text)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "aged_series", "design", "answers")

    @cached_property
    def design(self) -> FranDesign:
        """Everything public about it."""
        found: FranDesign = load(self._content["design"], FranDesign)
        return found

    @cached_property
    def values(self) -> Floats:
        """The answers, as periods × outputs; not a number while nothing is old enough."""
        answers = self._content["answers"]
        young = np.full((self.design.oldest, len(self.design.table)), np.nan)
        return np.concatenate([young, np.asarray(answers, dtype=np.float64).reshape(-1, young.shape[1])])

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.signed.link.certificate

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each answer: its period, from 0, which output, its value; none while all is too young."""
        import pandas as pd

        periods, outputs = np.nonzero(np.isfinite(self.values))
        return pd.DataFrame({"period": periods, "output": outputs, "value": self.values[periods, outputs]})

    def to_dict(self) -> dict[str, Any]:
        """Return what `chronodp verify` reads: the answers and their signed link."""
        return {"release": self.text, "link": self.signed.to_dict()}

    def save(self, path: str | Path) -> Path:
        """Write the answers with their signed certificate as JSON, which `chronodp verify` reads."""
        return save_release(path, Written(self.text), self.signed)

    def __repr__(self) -> str:
        return f"AgedSeries({self.design.query}, {self.design.horizon} periods)"


def release_aged(
    series: ArrayLike,
    design: FranDesign,
    *,
    ledger: Ledger,
    dataset: str,
    request: str,
    analyst: str = "",
    dates: Dates | None = None,
    entropy: Entropy | None = None,
) -> AgedSeries:
    """Release aged answers of a whole series at once; the same request again returns the same answers.

    Guarantee: that of `Fran` with the same design: all answers together are (``design.epsilon``, 0)-differentially
    private for the unit, whatever the data are. The argument stands in ``docs/explanation/proofs/correlated.md``.

    Args:
        series: states from 0, as length × sequences; as long as the design's horizon.
        design: what design_fran(..., horizon=...) returns.
        ledger: what pays.
        dataset: whose budget pays.
        request: an id of your choice, once for each release. Under the same id other data are refused.
        analyst: whose part of the budget pays.
        dates: days of the data, for a budget that renews.
        entropy: of the noise; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.correlated import CouplingMarkovChain, Mean, design_fran
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=1.0)
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> design = design_fran(model, query=Mean(), ages=2, epsilon=1.0, horizon=4)
    >>> made = release_aged([[0, 1], [1, 1], [1, 0], [0, 0]], design, ledger=ledger, dataset="ward", request="may")
    >>> made.values.shape, int(np.isnan(made.values).sum())
    ((4, 1), 2)
    >>> ledger.close_connection()
    """
    check_kind("design", design, FranDesign, "what design_fran(...) returns")
    stated(design)
    rows = _check_rows(series, design)
    check_ledger(ledger)
    bits = check_entropy(entropy)

    def produce() -> tuple[str, Certificate]:
        state, answers = begin(design), []
        for row in rows:
            state, made = advance(design, state, row, bits)
            answers += [] if made is None else [made.tolist()]
        content = {"kind": "aged_series", "design": to_document(replace(design, present=None)), "answers": answers}
        return canonical(content), certificate_of(design, seeded=bits.seeded)

    made = ledger.fulfil(
        dataset,
        request=request,
        cost=design.cost,
        unit=design.unit,
        plan=dump(replace(design, present=None)),
        source=ledger.keys.fingerprint(rows.tobytes(), of=("aged series", dataset, request)),
        produce=produce,
        analyst=analyst,
        dates=dates,
    )
    return AgedSeries(made.release, made.signed)


def _check_rows(series: ArrayLike, design: FranDesign) -> Integers:
    """Return the snapshots, all of which the design can read: what fails later would fail after the debit."""
    if design.horizon is None or design.horizon * len(design.table) > MOST_LISTED:
        raise InvalidArgument("horizon", design.horizon, f"given, for at most {MOST_LISTED:,} answers; or run a Fran")
    rows = check_series(series, design.states)
    if rows.shape != (1, design.horizon, design.sequences):
        allowed = f"{design.horizon:,} periods × {design.sequences:,} sequences, as the design says"
        raise InvalidArgument("series", rows.shape[1:], allowed)
    snapshots: Integers = rows[0]
    return snapshots
