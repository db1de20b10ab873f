"""Several queries through one ledger: one debit, one signature, and each query to be read by itself."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.dataset.joint.queries import households, load_of, month

import chronodp as cdp
from chronodp.alerts import AlertDesign, Exponential, Laplace, design_alert
from chronodp.audit.exact import examine
from chronodp.dataset import PlanTogether, ReleaseTogether
from chronodp.dataset.joint import Prepared
from chronodp.dataset.joint.series import SeriesPart
from chronodp.engines import Progress
from chronodp.errors import BudgetExhausted, CertificateInvalid, InvalidArgument, RequestConflict, StreamConflict
from chronodp.ledger import verify
from chronodp.privacy import SequenceCost
from chronodp.randomness import Entropy, KeystreamEntropy, SeededKeystream, Shape, seeded
from chronodp.series import Release, View
from chronodp.spectrum import Lowest, Spectrum, SpectrumRelease, Strongest

BUDGET = {"dataset": "meters", "unit": cdp.User(), "epsilon": 4.0, "delta": 1e-6}

DAYS = 3
HOUSES = households(20, DAYS)


class Silent(KeystreamEntropy):
    """No noise at all, so that what went in can be read off."""

    def __init__(self) -> None:
        super().__init__(SeededKeystream(0))

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:  # noqa: ARG002
        return np.zeros(size, dtype=np.int64)

    gaussian = laplace


def alarm(**changes: Any) -> AlertDesign:
    options: dict[str, Any] = {"above": 60.0, "change": 5.0, "unit": cdp.User(), "max_alerts": 2, "epsilon": 1.0}
    return design_alert(**(options | changes))


def six(data: object = HOUSES) -> dict[str, Any]:
    """Five kinds of series, a spectrum and an alert."""
    hours = month(cdp.User(), data, days=DAYS)
    load = load_of(hours)
    whole = month(cdp.User(), data, days=DAYS, every="3D", max_periods=1)
    return {
        "load": load, "peak": load.peak(every="1D"), "trough": load.trough(every="1D"), "total": load.total(every="1D"),
        "mean": whole.mean("kwh", clip=(0.0, 100.0), of="totals"),
        "spectrum": spectrum(data).plan(Lowest(4), epsilon=1.0), "alarm": alarm(),
    }  # fmt: skip


def spectrum(data: object) -> Spectrum:
    """The spectrum of the same load, bounded by hand."""
    assert isinstance(data, pd.DataFrame)
    hours = data.assign(kwh=data["kwh"].clip(0.0, 5.0)).groupby("at")["kwh"].sum()
    return Spectrum(hours, change=5.0, unit=cdp.User(), max_periods=24 * DAYS)


def release(plan: PlanTogether, ledger: cdp.Ledger, request: str = "june", **more: Any) -> ReleaseTogether:
    return plan.release(ledger, dataset="meters", request=request, **more)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_all_kinds_are_paid_once_and_read_apart(ledger: cdp.Ledger, delta: float, tmp_path: Path) -> None:
    plan = cdp.plan_together(six(), epsilon=2.0, delta=delta)
    made = release(plan, ledger)
    (entry,) = ledger.history("meters")
    assert entry.cost == plan.cost
    assert isinstance(plan.cost, SequenceCost)
    assert made.certificate.claim.cost == plan.cost
    assert made.certificate.guarantee == cdp.privacy.Guarantee(cdp.User(), 2.0, plan.delta)
    assert verify(made.signed, ledger.keys.public, release=made.text) == made.link
    assert made.names == ("load", "mean", "peak", "spectrum", "total", "trough")
    for name in made.names:
        part = made[name]
        kind = View if name in plan.chosen.sources else SpectrumRelease if name == "spectrum" else Release
        assert isinstance(part, kind)
        assert part.certificate.guarantee == plan.guarantee
    table = made.to_pandas()
    rows = {"load": 72, "mean": 1, "peak": 3, "spectrum": 4, "total": 3, "trough": 3}
    assert table["query"].value_counts().to_dict() == rows
    loaded = ReleaseTogether.load(made.save(tmp_path / "june.json"))
    pd.testing.assert_frame_equal(loaded.to_pandas(level=0.5), made.to_pandas(level=0.5))
    narrow = made.to_pandas(level=0.5)
    assert (table["upper"] - table["lower"]).sum() > (narrow["upper"] - narrow["lower"]).sum()


@pytest.mark.slow
def test_without_noise_every_query_is_what_it_says(ledger: cdp.Ledger) -> None:
    plan = cdp.plan_together(six(), epsilon=2.0, delta=1e-6)
    made = release(plan, ledger, entropy=Silent())
    hours = HOUSES.assign(kwh=HOUSES["kwh"].clip(0.0, 5.0)).groupby("at")["kwh"].sum()
    for name, expected in (
        ("load", hours), ("peak", hours.resample("1D").max()), ("trough", hours.resample("1D").min()),
        ("total", hours.resample("1D").sum()),
    ):  # fmt: skip
        found = made.view(name).to_pandas().set_index("time")["value"]
        np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-3)
        assert (found.index == expected.index).all()
    coefficients = made["spectrum"]
    assert isinstance(coefficients, SpectrumRelease)
    np.testing.assert_allclose(coefficients.coefficients, np.fft.rfft(hours)[:4], rtol=1e-3, atol=1e-3)
    assert made.certificate.seeded


def test_a_total_that_is_answered_from_the_load_is_its_sum(ledger: cdp.Ledger) -> None:
    load = load_of(month(cdp.User(), HOUSES, days=DAYS))
    plan = cdp.plan_together({"load": load, "total": load.total(every="1D"), "again": load}, epsilon=1.0)
    assert len(plan.parts) == 1
    made = release(plan, ledger)
    values = made.view("load").to_pandas()["value"].to_numpy()
    np.testing.assert_allclose(made["total"].to_pandas()["value"], values.reshape(DAYS, 24).sum(axis=1))
    np.testing.assert_allclose(made["again"].to_pandas()["value"], values)
    assert "free: post-processing" in str(made["total"].certificate)


@pytest.mark.slow
def test_the_same_request_is_the_same_release(ledger: cdp.Ledger) -> None:
    plan = cdp.plan_together(six(), epsilon=1.0, delta=1e-6)
    first = release(plan, ledger)
    again = release(cdp.plan_together(six(), epsilon=1.0, delta=1e-6), ledger)
    assert again.text == first.text
    assert len(ledger.history("meters")) == 1
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        release(cdp.plan_together(six(households(20, DAYS, seed=2)), epsilon=1.0, delta=1e-6), ledger)
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        release(cdp.plan_together(six(), epsilon=0.9, delta=1e-6), ledger)


@pytest.mark.slow
def test_an_alert_goes_on_where_it_stood(ledger: cdp.Ledger) -> None:
    made = release(cdp.plan_together(six(), epsilon=4.0), ledger)
    assert made.alerts == ("alarm",)
    watching = made.alert(ledger, "alarm")
    assert [bool(watching.step(value)) for value in (-1e6, 1e6, -1e6)] == [False, True, False]
    assert cdp.Alert.resume(ledger, "june/alarm").alerts == 1
    assert release(cdp.plan_together(six(), epsilon=4.0), ledger).alert(ledger, "alarm").alerts == 1
    assert len(ledger.history("meters")) == 1


def test_an_alert_at_its_share_keeps_its_proportions() -> None:
    for noise, monotone, value_epsilon in itertools.product((Exponential(), Laplace()), (True, False), (0.0, 0.3)):
        design = alarm(noise=noise, monotone=monotone, value_epsilon=value_epsilon)
        plan = cdp.plan_together([design], epsilon=0.5)
        (part,) = plan.parts.values()
        assert part.cost.epsilon == pytest.approx(0.5, rel=1e-9)  # type: ignore[union-attr]
        assert part.cost.epsilon <= 0.5  # type: ignore[union-attr]
        assert part.rmse == pytest.approx(plan.chosen.rmse["1"], rel=1e-4)


def test_what_the_budget_refuses_leaves_nothing_behind(ledger: cdp.Ledger) -> None:
    with pytest.raises(BudgetExhausted):
        release(cdp.plan_together(six(), epsilon=5.0), ledger)
    with pytest.raises(StreamConflict, match="no stream"):
        cdp.Alert.resume(ledger, "june/alarm")
    release(cdp.plan_together([alarm()], epsilon=1.0), ledger, "one")
    name = "one/1"
    cdp.Alert(
        above=1.0, change=1.0, unit=cdp.User(), max_alerts=1, epsilon=0.1, ledger=ledger, dataset="meters", name="two/1"
    )
    spent = len(ledger.history("meters"))
    with pytest.raises(StreamConflict, match="two/1"):
        release(cdp.plan_together([alarm()], epsilon=1.0), ledger, "two")
    assert len(ledger.history("meters")) == spent
    assert cdp.Alert.resume(ledger, name).alerts == 0


def test_parts_belong_to_the_whole_that_was_signed(ledger: cdp.Ledger, tmp_path: Path) -> None:
    made = release(cdp.plan_together(six(), epsilon=1.0), ledger)
    part = made["peak"]
    assert isinstance(part, Release)
    with pytest.raises(InvalidArgument, match="signed as one"):
        part.save(tmp_path / "peak.json")
    with pytest.raises(CertificateInvalid):
        Release(part.text.replace("peak", "trough", 1), made.signed, whole=made.text)
    with pytest.raises(CertificateInvalid):
        Release(part.text, made.signed)
    with pytest.raises(CertificateInvalid):
        ReleaseTogether(made.text.replace("1", "2", 1), made.signed)
    for name in ("nothing", "alarm"):
        with pytest.raises(InvalidArgument, match="load, mean, peak"):
            made[name]
    with pytest.raises(InvalidArgument, match="alarm"):
        made.alert(ledger, "load")
    with pytest.raises(InvalidArgument, match="of a spectrum"):
        made.view("spectrum")
    coefficients = made["spectrum"]
    assert isinstance(coefficients, SpectrumRelease)
    with pytest.raises(InvalidArgument, match="signed as one"):
        coefficients.save(tmp_path / "spectrum.json")
    with pytest.raises(CertificateInvalid):
        SpectrumRelease(coefficients.text.replace("[0,1", "[1,0", 1), made.signed, made.text)


@pytest.mark.slow
def test_a_budget_that_renews_is_charged_for_the_days_of_all_parts(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, renews="1D")
        queries = six()
        queries.pop("alarm")
        queries.pop("spectrum")
        release(cdp.plan_together(queries, epsilon=0.5), ledger)
        assert {entry.period for entry in ledger.history("meters")} == {"2026-06-01", "2026-06-02", "2026-06-03"}
        with pytest.raises(InvalidArgument, match="dates"):
            release(cdp.plan_together(six(), epsilon=0.5), ledger, "with an alert")
        more = (dt.date(2026, 6, 2), dt.date(2026, 6, 5))
        release(cdp.plan_together(six(), epsilon=0.5), ledger, "with days", dates=more)
        assert "2026-06-04" in {entry.period for entry in ledger.history("meters")}


def test_harmonics_are_chosen_with_laplace_noise_only() -> None:
    chosen = spectrum(HOUSES).plan(Strongest(2, among=6), epsilon=1.0)
    plan = cdp.plan_together({"spectrum": chosen, "load": six()["load"]}, epsilon=1.0, delta=1e-6)
    assert set(plan.strategies["noise"]) == {"laplace"}


NAMES = itertools.count()


@dataclass(frozen=True)
class ReadOnce(SeriesPart):
    """A series whose data is read once for many draws."""

    @functools.cached_property
    def _prepared(self) -> Prepared:
        return SeriesPart(self.plan).prepare(key="", progress=lambda _: None)

    def prepare(self, *, key: str, progress: Progress) -> Prepared:  # noqa: ARG002
        return self._prepared


@functools.cache
def two_days(visits: tuple[tuple[str, int], ...], thin: float) -> PlanTogether:
    """The busiest of two days and both together, on a grid of whole people that can be walked."""
    table = pd.DataFrame({"at": pd.to_datetime([f"2026-06-0{day}" for _, day in visits], utc=True)})
    table["who"] = pd.Series([person for person, _ in visits], dtype=str)
    days = month(cdp.User(), table, days=2, every="1D", max_periods=2).count()
    queries = {"peak": days.peak(every="2D"), "total": days.total(every="2D")}
    plan = cdp.plan_together(queries, epsilon=36.0)
    parts = {}
    for name, part in plan.parts.items():
        assert isinstance(part, SeriesPart)
        design = part.plan.design
        (noise,) = design.noises
        noises = (replace(noise, step=1.0, scale=noise.scale * thin),)
        parts[name] = ReadOnce(replace(part.plan, design=replace(design, noises=noises)))
    return replace(plan, parts=parts)


@pytest.mark.slow
@pytest.mark.parametrize(("thin", "caught"), [(1.0, False), (0.9, True)])
def test_the_whole_release_keeps_its_epsilon(thin: float, caught: bool, tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1e9)

        def mechanism(visits: tuple[tuple[str, int], ...], *, entropy: Entropy) -> tuple[int, ...]:
            made = release(two_days(visits, thin), ledger, f"{next(NAMES)}", entropy=entropy, progress=lambda _: None)
            parts = json.loads(made.text)["parts"]
            return tuple(parts[name]["noisy"][0][0] for name in ("peak", "total"))

        stays = (("ann", 1), ("ann", 2))
        finding = examine(mechanism, [((*stays, ("bo", 1), ("bo", 2)), stays)])
    assert finding.refutes(36.0) is caught
    assert finding.epsilon > 35.9


@pytest.mark.slow
def test_a_seeded_release_can_be_repeated_and_says_so(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "one.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
    for ending in ("db", "db.keys"):  # which periods count is decided by the keys
        shutil.copy(tmp_path / f"one.{ending}", tmp_path / f"two.{ending}")
    texts = []
    for place in ("one", "two"):
        with cdp.Ledger(tmp_path / f"{place}.db") as ledger:
            made = release(cdp.plan_together(six(), epsilon=1.0), ledger, entropy=seeded(5))
            texts.append(made.text)
            assert str(made.certificate).startswith("SEEDED RUN")
    assert texts[0] == texts[1]
