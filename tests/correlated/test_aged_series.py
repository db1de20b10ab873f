"""Aged answers of a whole series in one release: those of the stream, paid and signed at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.correlated import CouplingMarkovChain, Fran, Maximum, Mean, Several, design_fran, release_aged, simulate
from chronodp.errors import BudgetExhausted, InvalidArgument, RequestConflict
from chronodp.ledger import verify
from chronodp.randomness import seeded

MODEL = CouplingMarkovChain([[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.2], [0.3, 0.7]])
SERIES = simulate(MODEL, 9, seed=1)[0]
DESIGN = design_fran(MODEL, query=Several((Mean(), Maximum())), ages=(0, 2), epsilon=(0.5, 1.0), horizon=9)


def ledger_at(folder: Path) -> cdp.Ledger:
    opened = cdp.Ledger(folder / "budget.db")
    opened.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=2.5)
    return opened


def test_a_series_is_the_stream_run_to_its_end(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward"}
        made = release_aged(SERIES, DESIGN, request="all", entropy=seeded(3), **paid)
        live = Fran.open(DESIGN, name="all", entropy=seeded(3), **paid)
        told = [live.step(row).value for row in SERIES]
        assert [value is None for value in told] == np.isnan(made.values[:, 0]).tolist() == [True] * 2 + [False] * 7
        assert np.array_equal(made.values[2:], np.stack(told[2:]))
        assert made.certificate == live.certificate
        assert made.certificate.seeded
        assert ledger.status("ward").sums[0].spent == pytest.approx(2 * DESIGN.epsilon)


def test_it_is_paid_once_and_other_data_are_refused(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward", "request": "all"}
        made = release_aged(SERIES, DESIGN, **paid)
        again = release_aged(SERIES.tolist(), DESIGN, **paid)
        assert (again.text, again.signed) == (made.text, made.signed)
        assert ledger.status("ward").charges == 1
        verify(made.signed, ledger.public_key, release=made.text)
        assert made.save(tmp_path / "aged.json").exists()
        assert repr(made) == "AgedSeries(the mean, the maximum, 9 periods)"
        with pytest.raises(RequestConflict):
            release_aged(1 - SERIES, DESIGN, **paid)
        with pytest.raises(BudgetExhausted):
            release_aged(
                SERIES, design_fran(MODEL, query=Mean(), ages=0, epsilon=2.0, horizon=9), **paid | {"request": "b"}
            )


def test_whatever_cannot_be_read_is_refused_before_the_debit(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward", "request": "all"}
        for wrong in (SERIES[:8], SERIES[:, :1], SERIES + 1, SERIES - 1, SERIES * 0.5, "xy", [[0], [0, 1]]):
            with pytest.raises(InvalidArgument, match="series must be"):
                release_aged(wrong, DESIGN, **paid)
        with pytest.raises(InvalidArgument, match="horizon must be given"):
            release_aged(SERIES, replace(DESIGN, horizon=None), **paid)
        with pytest.raises(InvalidArgument, match="design must be"):
            release_aged(SERIES, replace(DESIGN, present=None), **paid)
        with pytest.raises(InvalidArgument, match="design must be"):
            release_aged(SERIES, MODEL, **paid)  # type: ignore[arg-type]
        assert ledger.status("ward").charges == 0
