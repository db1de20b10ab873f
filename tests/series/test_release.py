"""From a small table through a plan and a ledger to a release, and what can be read from it for free."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.errors import (
    BudgetExhausted,
    CertificateInvalid,
    InvalidArgument,
    RequestConflict,
    UnitMismatch,
    UnknownBudget,
    UnknownDocument,
)
from chronodp.ledger import Keys, SignedLink, verify
from chronodp.randomness import KeystreamEntropy, SeededKeystream, Shape, seeded
from chronodp.series import Plan, View

BERLIN = "Europe/Berlin"
EDGES = (0.0, 1.0, 2.0, 4.0)


class Silent(KeystreamEntropy):
    """No noise at all, so that what went in can be read off."""

    def __init__(self) -> None:
        super().__init__(SeededKeystream(0))

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:  # noqa: ARG002
        return np.zeros(size, dtype=np.int64)

    gaussian = laplace


class Forbidden(Silent):
    """Entropy that nobody may touch."""

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:  # noqa: ARG002
        raise AssertionError("noise was drawn")

    gaussian = laplace


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("meters", unit=cdp.User(), epsilon=100.0, delta=1e-3)
        opened.open("panel", unit=cdp.User("replace"), epsilon=100.0, delta=1e-3)
        yield opened


def readings() -> pd.DataFrame:
    """A few rows on the night that clocks go back: half past two comes twice."""
    rows = [
        ("ann", "2026-10-25T00:30+02:00", 1.0, "north"),
        ("ann", "2026-10-25T00:45+02:00", 2.5, "north"),
        ("bo", "2026-10-25T00:10+02:00", 9.0, "south"),
        ("bo", "2026-10-25T02:30+02:00", 2.0, "south"),
        ("cy", "2026-10-25T02:30+01:00", 1.5, "north"),
        ("cy", "2026-10-25T23:59+01:00", 0.5, "west"),
        ("cy", "2026-10-26T00:00+01:00", 3.0, "north"),  # after the end
    ]
    table = pd.DataFrame(rows, columns=["who", "at", "kwh", "region"])
    return table.assign(at=pd.to_datetime(table["at"], utc=True))


def night(data: object = None, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at",
        "user": "who",
        "every": "1h",
        "start": "2026-10-25",
        "end": "2026-10-26",
        "timezone": BERLIN,
        "unit": cdp.User(),
        "max_periods": 25,
    }
    return cdp.TimeSeries(readings() if data is None else data, **(options | changes))


def crowd(periods: int = 73, people: int = 30) -> pd.DataFrame:
    """Somebody's reading for most hours, over three days of which one has 25 hours."""
    dice = np.random.default_rng(7)
    times = pd.date_range("2026-10-24", periods=periods, freq="h", tz=BERLIN)
    table = pd.DataFrame([(f"p{who}", time) for who in range(people) for time in times], columns=["who", "at"])
    table["kwh"] = dice.uniform(0.0, 4.0, len(table))
    table["region"] = dice.choice(["north", "south"], len(table))
    return table[dice.random(len(table)) < 0.7]


def three_days(**changes: Any) -> cdp.TimeSeries:
    return night(crowd(), **({"start": "2026-10-24", "end": "2026-10-27", "max_periods": 73} | changes))


def made(plan: Plan, ledger: cdp.Ledger, request: str = "one", **more: Any) -> cdp.Release:
    options: dict[str, Any] = {"dataset": "meters", "progress": lambda _: None, "entropy": seeded(request)}
    return plan.release(ledger, request=request, **(options | more))


def values(view: View | cdp.Release, places: int = 1) -> NDArray[np.float64]:
    found: NDArray[np.float64] = view.to_pandas()["value"].to_numpy(dtype=np.float64).reshape(-1, places)
    return found


def hours(**known: float) -> list[float]:
    """Values of the 25 hours of the night: h0=..., h24=...; nothing elsewhere."""
    return [known.get(f"h{hour}", 0.0) for hour in range(25)]


def test_totals_are_those_of_the_table(ledger: cdp.Ledger) -> None:
    series = night()

    def exact(query: Any, request: str, dataset: str = "meters") -> list[float]:
        release = made(query.plan(epsilon=1.0), ledger, request, entropy=Silent(), dataset=dataset)
        return release.to_pandas()["value"].tolist()

    assert exact(series.count(), "people") == hours(h0=2, h2=1, h3=1, h24=1)
    assert exact(series.count(at_most=5), "rows") == hours(h0=3, h2=1, h3=1, h24=1)
    total = series.sum("kwh", clip=(0.0, 4.0))
    assert exact(total, "sum") == pytest.approx(hours(h0=3.5 + 4.0, h2=2.0, h3=1.5, h24=0.5), abs=1e-6)
    by_region = exact(total.by(region=["north", "south"]), "regions")
    assert by_region[0::2] == pytest.approx(hours(h0=3.5, h3=1.5), abs=1e-6)
    assert by_region[1::2] == pytest.approx(hours(h0=4.0, h2=2.0), abs=1e-6)
    nobody = dict.fromkeys((f"h{hour}" for hour in range(25)), 2.0)  # the middle of the clip
    means = exact(series.mean("kwh", clip=(0.0, 4.0)), "mean")
    assert means == pytest.approx(hours(**nobody | {"h0": 3.75, "h2": 2.0, "h3": 1.5, "h24": 0.5}), abs=1e-6)
    panel = night(unit=cdp.User("replace")).mean("kwh", clip=(0.0, 4.0), people=3)
    assert exact(panel, "panel", "panel") == pytest.approx(hours(h0=2.5, h2=2 / 3, h3=0.5, h24=0.5 / 3), abs=1e-6)
    bins = exact(series.histogram("kwh", edges=EDGES, at_most=2), "bins")
    assert bins[0::3] == hours(h24=1)
    assert bins[1::3] == hours(h0=1, h3=1)
    assert bins[2::3] == hours(h0=1, h2=1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_is_the_stated_one(delta: float, ledger: cdp.Ledger) -> None:
    plan = three_days().sum("kwh", clip=(0.0, 4.0)).by(region=["north", "south"]).plan(epsilon=1.0, delta=delta)
    (noise,) = plan.design.noises
    quiet = values(made(plan, ledger, "quiet", entropy=Silent()), 2)
    loud = values(made(plan, ledger, "loud", entropy=seeded("noise")), 2)
    draw = getattr(seeded("noise"), noise.law)
    expected = draw(noise.scale / noise.step, 146).reshape(73, 2) * noise.step
    # A person's limit of periods holds all of them, so that the key of the choice does not matter.
    assert np.array_equal(loud - quiet, expected)
    assert noise.law == ("gaussian" if delta else "laplace")


def test_the_same_request_returns_the_same(ledger: cdp.Ledger) -> None:
    plan = night().count().plan(epsilon=1.0)
    first = plan.release(ledger, dataset="meters", request="october", progress=lambda _: None)
    again = night().count().plan(epsilon=1.0).release(ledger, dataset="meters", request="october", entropy=Forbidden())
    assert (again.text, again.signed) == (first.text, first.signed)
    assert ledger.status("meters").charges == 1
    other = plan.release(ledger, dataset="meters", request="october again", progress=lambda _: None)
    assert other.text != first.text
    assert ledger.status("meters").charges == 2
    assert len(ledger.chain("meters")) == 2


def test_anything_else_under_a_request_is_refused(ledger: cdp.Ledger) -> None:
    query = night().count()
    made(query.plan(epsilon=1.0), ledger, "october")
    before = ledger.status("meters")
    others = {
        "data": night(readings().iloc[1:].assign(who="dee")).count().plan(epsilon=1.0),
        "one row less": night(readings().drop(index=3)).count().plan(epsilon=1.0),
        "epsilon": query.plan(epsilon=0.5),
        "delta": night().count().by(region=["north", "south"]).plan(epsilon=1.0, delta=1e-6),
        "measure": night().count(at_most=2).plan(epsilon=1.0),
        "groups": query.by(region=["north"]).plan(epsilon=1.0),
        "limit": night(max_periods=24).count().plan(epsilon=1.0),
        "dates": night(start="2026-10-24T23:00", end="2026-10-25T23:00").count().plan(epsilon=1.0),
    }
    for plan in others.values():
        with pytest.raises(RequestConflict, match="'october' was made before for another plan, source or cost"):
            made(plan, ledger, "october", entropy=Forbidden())
    assert ledger.status("meters") == before
    # Rows that no bounded total sees are no other data.
    unseen = pd.concat([readings(), readings().assign(at=pd.Timestamp("2030-01-01", tz="UTC"))])
    assert made(night(unseen).count().plan(epsilon=1.0), ledger, "october").link.request == "october"


def test_a_budget_that_is_too_small_refuses_before_any_noise(ledger: cdp.Ledger) -> None:
    ledger.open("small", unit=cdp.User(), epsilon=0.5)
    plan = night().count().plan(epsilon=1.0)
    rows = night(unit=cdp.Event(), max_periods=None).count().plan(epsilon=0.1)
    refused: list[tuple[Plan, str, type[Exception]]] = [
        (plan, "small", BudgetExhausted),
        (rows, "small", UnitMismatch),
        (plan, "nowhere", UnknownBudget),
    ]
    for asked, dataset, error in refused:
        with pytest.raises(error):
            made(asked, ledger, dataset=dataset, entropy=Forbidden())
    assert ledger.status("small").charges == 0
    assert ledger.status("small").unreleased == ()
    made(night().count().plan(epsilon=0.5), ledger, dataset="small")
    with pytest.raises(BudgetExhausted):
        made(night().count().plan(epsilon=0.001), ledger, "two", dataset="small", entropy=Forbidden())


def test_an_analysts_part_pays(ledger: cdp.Ledger) -> None:
    ledger.allot("meters", "eve", epsilon=1.0)
    made(night().count().plan(epsilon=1.0), ledger, analyst="eve")
    with pytest.raises(BudgetExhausted):
        made(night().count().plan(epsilon=1.0), ledger, "two", analyst="eve", entropy=Forbidden())
    assert ledger.status("meters", analyst="eve").charges == 1


def test_saved_loaded_and_verified(ledger: cdp.Ledger, tmp_path: Path) -> None:
    release = made(three_days().mean("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0, delta=1e-6), ledger)
    place = release.save(tmp_path / "release.json")
    again = cdp.Release.load(place)
    assert (again.text, again.signed, again.design) == (release.text, release.signed, release.design)
    pd.testing.assert_frame_equal(again.to_pandas(), release.to_pandas())
    link = verify(again.signed, ledger.keys.public, release=again.text)
    assert (link.dataset, link.request, link.number) == ("meters", "one", 1)
    assert link.certificate == again.certificate == release.certificate
    assert again.certificate.claim.cost == release.design.cost
    assert [entry.name for entry in tmp_path.iterdir() if "release" in entry.name] == ["release.json"]
    with pytest.raises(CertificateInvalid, match="signature does not match"):
        verify(again.signed, Keys.create().public, release=again.text)


def test_a_changed_file_is_refused(ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = night().count().plan(epsilon=1.0)
    place = made(plan, ledger).save(tmp_path / "release.json")
    other = made(plan, ledger, "two")
    document = json.loads(place.read_text(encoding="utf-8"))

    def changed(**parts: Any) -> cdp.Release:
        place.write_text(json.dumps(document | parts), encoding="utf-8")
        return cdp.Release.load(place)

    numbers = json.loads(document["release"])
    numbers["noisy"][0][0] += 1
    text = json.dumps(numbers, sort_keys=True, separators=(",", ":"))
    for release in (text, document["release"] + " ", other.text):
        with pytest.raises(CertificateInvalid, match="belongs to another release"):
            changed(release=release)
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        changed(link=other.signed.to_dict())
    # A smaller epsilon in the certificate can be read, and does not verify.
    forged = document["link"]["body"].replace('"epsilon":1.0', '"epsilon":0.1')
    assert forged != document["link"]["body"]
    loaded = changed(link={"body": forged, "signature": document["link"]["signature"]})
    with pytest.raises(CertificateInvalid, match="signature does not match"):
        verify(loaded.signed, ledger.keys.public, release=loaded.text)
    for content in ("", "[]", "5", "no json", "{}", '{"release": "", "link": null}', '{"release": "", "link": {}}'):
        place.write_text(content, encoding="utf-8")
        with pytest.raises(UnknownDocument, match=r"release\.json does not hold a release"):
            cdp.Release.load(place)
    with pytest.raises(InvalidArgument, match="path must be a file that can be read"):
        cdp.Release.load(tmp_path / "nowhere.json")
    with pytest.raises(InvalidArgument, match="path must be a place that can be written"):
        other.save(tmp_path / "nowhere" / "release.json")


@pytest.mark.parametrize("text", [5, None, ["a"]])
def test_a_file_whose_release_is_no_text_holds_none(text: object, ledger: cdp.Ledger, tmp_path: Path) -> None:
    place = made(night().count().plan(epsilon=1.0), ledger).save(tmp_path / "release.json")
    document = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(document | {"release": text}), encoding="utf-8")
    with pytest.raises(UnknownDocument, match=r"release\.json does not hold a release"):
        cdp.Release.load(place)


def test_a_release_cannot_be_given_another_ones_certificate(ledger: cdp.Ledger) -> None:
    plan = night().count().plan(epsilon=1.0)
    one, two = made(plan, ledger), made(plan, ledger, "two")
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        cdp.Release(one.text, two.signed)
    with pytest.raises(CertificateInvalid, match="not a certificate"):
        cdp.Release(one.text, SignedLink("{}", one.signed.signature))


def test_a_seeded_run_says_so_everywhere(ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = night().count().plan(epsilon=1.0)
    warning = "SEEDED RUN, FOR TESTS ONLY"
    marked = made(plan, ledger)
    assert marked.certificate.seeded
    assert str(marked.certificate).startswith(warning)
    assert warning in str(marked)
    assert warning in marked.report(tmp_path / "seeded.html").read_text(encoding="utf-8")
    assert marked.running_total().certificate.seeded
    real = plan.release(ledger, dataset="meters", request="real", progress=lambda _: None)
    assert not real.certificate.seeded
    assert warning not in str(real)
    assert warning not in real.report(tmp_path / "real.html").read_text(encoding="utf-8")


def test_the_page_tells_the_promise_and_the_numbers(ledger: cdp.Ledger, tmp_path: Path) -> None:
    release = made(night().count().by(region=["north", "south"]).plan(epsilon=1.0), ledger)
    place = release.report(tmp_path / "page.html", title="Meters <at> night")
    page = place.read_text(encoding="utf-8")
    assert place == tmp_path / "page.html"
    assert "Meters &lt;at&gt; night" in page
    assert "This release is 1-differentially private for everything of one person" in page
    assert "region" in page
    for query in (night().histogram("kwh", edges=EDGES), night().mean("kwh", clip=(0.0, 4.0))):
        other = made(query.plan(epsilon=1.0), ledger, str(query)[:40])
        assert other.report(tmp_path / "other.html").stat().st_size > 10_000
    with pytest.raises(InvalidArgument, match="path must be"):
        release.report(tmp_path / "nowhere" / "page.html")


def test_tables_have_times_groups_and_bins(ledger: cdp.Ledger) -> None:
    plain = made(night().count().plan(epsilon=1.0), ledger).to_pandas()
    assert list(plain.columns) == ["time", "value", "lower", "upper"]
    assert str(plain["time"].dtype) == f"datetime64[us, {BERLIN}]"
    assert [time.isoformat() for time in plain["time"][2:4]] == [
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
    ]
    assert (plain[["value", "lower", "upper"]].dtypes == np.float64).all()
    query = night().histogram("kwh", edges=EDGES).by(region=["north", "south"], who=["ann", 7], max_groups=4)
    release = made(query.plan(epsilon=1.0), ledger, "bins")
    table = release.to_pandas()
    assert list(table.columns) == ["time", "region", "who", "bin_low", "bin_high", "value", "lower", "upper"]
    assert len(table) == 25 * 2 * 2 * 3
    assert table["region"][:12].tolist() == ["north"] * 6 + ["south"] * 6
    assert table["who"][:6].tolist() == ["ann"] * 3 + ["7"] * 3
    assert table["bin_low"][:4].tolist() == [0.0, 1.0, 2.0, 0.0]
    assert table["bin_high"][:4].tolist() == [1.0, 2.0, 4.0, 1.0]
    arrow = release.to_arrow()
    assert arrow.column_names == list(table.columns)
    assert arrow.schema.field("time").type == pyarrow.timestamp("us", tz=BERLIN)
    assert arrow.schema.field("value").type == pyarrow.float64()
    assert pyarrow.types.is_string(arrow.schema.field("region").type) or pyarrow.types.is_large_string(
        arrow.schema.field("region").type
    )
    assert arrow.column("value").to_pylist() == table["value"].tolist()
    median = release.quantile(0.5).to_pandas()
    assert list(median.columns) == ["time", "region", "who", "value", "lower", "upper"]
    assert len(median) == 25 * 4
    numbered = cdp.Aggregate([1.0, 2.0, 3.0], change=1.0, unit=cdp.User(), max_periods=2)
    table = made(numbered.plan(epsilon=1.0), ledger, "numbered").to_pandas()
    assert list(table.columns) == ["period", "value", "lower", "upper"]
    assert table["period"].tolist() == [0, 1, 2]
    assert (table["lower"] < table["value"]).all()
    assert (table["value"] < table["upper"]).all()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_running_rolling_and_resampled_are_numpys(delta: float, ledger: cdp.Ledger) -> None:
    query = three_days().sum("kwh", clip=(0.0, 4.0)).by(region=["north", "south"])
    release = made(query.plan(epsilon=1.0, delta=delta), ledger)
    numbers = values(release, 2)
    days = np.array([0, 24, 49])  # the second day has 25 hours
    starts = release.to_pandas()["time"].to_numpy()[::2]
    views = {
        "running totals": (release.running_total(), np.cumsum(numbers, axis=0), starts),
        "rolling means over 5 periods": (
            release.rolling(5),
            sliding_window_view(numbers, 5, axis=0).mean(axis=-1),
            starts[4:],
        ),
        "added up to periods of 1D": (release.resample("1D"), np.add.reduceat(numbers, days), starts[days]),
    }
    for step, (view, expected, times) in views.items():
        assert values(view, 2) == pytest.approx(expected, rel=1e-12, abs=1e-9)
        table = view.to_pandas()
        assert np.array_equal(table["time"].to_numpy()[::2], times)
        assert (table["upper"] - table["value"]).to_numpy() == pytest.approx(
            (table["value"] - table["lower"]).to_numpy(), rel=1e-9
        )
        assert view.certificate == release.certificate.after(step)
        assert view.certificate.guarantee == release.certificate.guarantee
        assert len(view.plot().data) > 0
    assert values(release.rolling(1), 2) == pytest.approx(numbers, rel=1e-12)
    assert values(release.rolling(73), 2) == pytest.approx(numbers.mean(axis=0)[None, :], rel=1e-12)
    assert values(release.resample("3D"), 2) == pytest.approx(numbers.sum(axis=0)[None, :], rel=1e-12)
    assert len(values(release.resample("2D"), 2)) == 1  # the third day fills no two
    assert values(release.each_period(), 2) == pytest.approx(numbers)
    widths = {level: release.to_pandas(level=level) for level in (0.5, 0.95, 0.999)}
    for low, high in ((0.5, 0.95), (0.95, 0.999)):
        assert (widths[low]["upper"] < widths[high]["upper"]).all()


def test_means_over_longer_periods_are_means_over_everyone(ledger: cdp.Ledger) -> None:
    table = crowd()
    totals = table.assign(day=table["at"].dt.strftime("%Y-%m-%d"))  # one reading an hour at most, on the hour
    release = made(three_days().mean("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0), ledger, entropy=Silent())
    expected = totals.groupby("day")["kwh"].mean().to_numpy()
    assert values(release.resample("1D"))[:, 0] == pytest.approx(expected, abs=1e-6)
    per_hour = totals.groupby("at")["kwh"].agg(["sum", "count"])
    window = per_hour.rolling(4).sum().dropna()
    assert values(release.rolling(4))[:, 0] == pytest.approx((window["sum"] / window["count"]).to_numpy(), abs=1e-6)
    panel = three_days(unit=cdp.User("replace")).mean("kwh", clip=(0.0, 4.0), people=30)
    over_all = made(panel.plan(epsilon=1.0), ledger, "panel", dataset="panel", entropy=Silent())
    daily = totals.groupby("day")["kwh"].sum() / 30 / np.array([24, 25, 24])
    assert values(over_all.resample("1D"))[:, 0] == pytest.approx(daily.to_numpy(), abs=1e-6)


def test_quantiles_of_a_histogram(ledger: cdp.Ledger) -> None:
    edges = np.linspace(0.0, 4.0, 41)
    query = three_days(every="1D", max_periods=3).histogram("kwh", edges=edges.tolist(), at_most=40)
    release = made(query.plan(epsilon=1.0), ledger, entropy=Silent())
    table = crowd()
    for q in (0.1, 0.5, 0.9):
        view = release.quantile(q, every="3D")
        counts = values(release, 40).sum(axis=0)
        share = np.concatenate(([0.0], np.cumsum(counts))) / counts.sum()
        assert values(view)[0, 0] == pytest.approx(float(np.interp(q, share, edges)), abs=1e-9)
        found = view.to_pandas()
        assert found["lower"][0] <= found["value"][0] <= found["upper"][0]
        assert values(view)[0, 0] == pytest.approx(float(table["kwh"].quantile(q)), abs=0.3)
        assert view.certificate.processing == (f"quantile {q:g} of the histogram",)
    assert len(release.quantile(0.5).to_pandas()) == 3


REFUSED: dict[str, tuple[Callable[[dict[str, cdp.Release]], object], str]] = {
    "running total of a mean": (lambda made: made["mean"].running_total(), "release must be a count, a sum or totals"),
    "running total of a panel": (lambda made: made["panel"].running_total(), "release must be a count"),
    "quantile of a sum": (lambda made: made["sum"].quantile(0.5), "release must be a histogram"),
    "quantile of a mean": (lambda made: made["mean"].quantile(0.5), "release must be a histogram"),
    "quantile 0": (lambda made: made["bins"].quantile(0.0), "q must be a number strictly between 0 and 1"),
    "quantile 1": (lambda made: made["bins"].quantile(1), "q must be a number strictly between 0 and 1"),
    "quantile nan": (lambda made: made["bins"].quantile(math.nan), "q must be a number strictly between 0 and 1"),
    "resampled without dates": (lambda made: made["numbered"].resample("1D"), "every must be used only where periods"),
    "resampled to shorter": (lambda made: made["sum"].resample("30min"), "every must be a period that periods of 1h"),
    "resampled to longer": (lambda made: made["sum"].resample("1W"), "every must be no longer than the series"),
    "resampled to nothing": (lambda made: made["sum"].resample("1 day"), "every must be a period such as"),
    "quantile of nothing": (lambda made: made["bins"].quantile(0.5, every="x"), "every must be a period such as"),
    "rolling 0": (lambda made: made["sum"].rolling(0), "n must be a whole number from 1 to 25"),
    "rolling beyond": (lambda made: made["sum"].rolling(26), "n must be a whole number from 1 to 25"),
    "rolling half": (lambda made: made["sum"].rolling(2.5), "n must be a whole number from 1 to 25"),  # type: ignore[arg-type]
}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, cdp.Release]]:
    with cdp.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=100.0)
        ledger.open("panel", unit=cdp.User("replace"), epsilon=100.0)
        series, clip = night(), (0.0, 4.0)
        panel = night(unit=cdp.User("replace")).mean("kwh", clip=clip, people=3).plan(epsilon=1.0)
        numbered = cdp.Aggregate([1.0, 2.0], change=1.0, unit=cdp.User(), max_periods=2).plan(epsilon=1.0)
        yield {
            "sum": made(series.sum("kwh", clip=clip).plan(epsilon=1.0), ledger, "sum"),
            "mean": made(series.mean("kwh", clip=clip).plan(epsilon=1.0), ledger, "mean"),
            "bins": made(series.histogram("kwh", edges=EDGES).plan(epsilon=1.0), ledger, "bins"),
            "panel": made(panel, ledger, "panel", dataset="panel"),
            "numbered": made(numbered, ledger, "numbered"),
        }


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_release_cannot_tell_is_refused(name: str, several: dict[str, cdp.Release]) -> None:
    ask, said = REFUSED[name]
    with pytest.raises(InvalidArgument) as caught:
        ask(several)
    assert said in str(caught.value)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2.0, math.nan, math.inf, "0.9", None, True])
def test_levels_lie_between_0_and_1(level: Any, several: dict[str, cdp.Release]) -> None:
    release = several["sum"]
    for ask in (
        lambda: release.to_pandas(level=level),
        lambda: release.to_arrow(level=level),
        lambda: release.running_total(level=level),
        lambda: release.rolling(3, level=level),
        lambda: release.resample("5h", level=level),
        lambda: several["bins"].quantile(0.5, level=level),
        lambda: night().count().plan(epsilon=1.0).half_width(level),
    ):
        with pytest.raises(InvalidArgument, match="level must be a number strictly between 0 and 1"):
            ask()


def january(data: object, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"start": "2026-01-01", "end": "2026-02-01", "timezone": "UTC", "max_periods": 24}
    return night(data, **(options | changes))


def month(start: str, hours: int) -> pd.DataFrame:
    times = pd.date_range(start, periods=hours, freq="h", tz="UTC")
    return pd.DataFrame({"at": times, "who": [f"p{hour}" for hour in range(hours)], "kwh": 1.0, "region": "north"})


def test_the_same_plan_for_the_next_month(ledger: cdp.Ledger) -> None:
    ledger.open("monthly", unit=cdp.User(), epsilon=1.0, renews="1mo")
    plan = january(month("2026-01-01", 744)).count().by(region=["north", "south"]).plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert (plan.design.table.horizon, later.design.table.horizon) == (744, 672)
    assert later.design.noises == plan.design.noises
    assert later.design.table.groupings == plan.design.table.groupings
    assert (later.design.epsilon, later.delta) == (plan.design.epsilon, plan.delta)
    first = made(plan, ledger, "january", dataset="monthly", entropy=Silent())
    second = made(later, ledger, "february", dataset="monthly", entropy=Silent())
    assert values(first, 2)[:, 0].tolist() == [1.0] * 744
    assert values(second, 2)[:, 0].tolist() == [1.0] * 600 + [0.0] * 72
    assert second.to_pandas()["time"].iloc[0] == pd.Timestamp("2026-02-01", tz="UTC")
    # January is spent, February was, and neither pays for the other.
    assert [ledger.status("monthly", period=period).charges for period in ("2026-01", "2026-02")] == [1, 1]
    with pytest.raises(BudgetExhausted):
        made(later, ledger, "february again", dataset="monthly", entropy=Forbidden())
    with pytest.raises(RequestConflict):
        made(later, ledger, "january", dataset="monthly", entropy=Forbidden())
    with pytest.raises(InvalidArgument, match="end must be after the start"):
        plan.on(month("2026-02-01", 600), start="2026-02-01")
    same = plan.on(month("2026-01-01", 24))
    assert same.design == plan.design


def test_everyday_of_a_month_carries_over_to_a_shorter_one() -> None:
    plan = january(month("2026-01-01", 744), every="1D", max_periods=31).count().plan(epsilon=1.0)
    later = plan.on(month("2026-02-01", 600), start="2026-02-01", end="2026-03-01")
    assert later.design.noises[0].sensitivity == 28


def test_totals_of_someone_else_with_dates(ledger: cdp.Ledger) -> None:
    totals = [120.5, 95.0, -101.25]
    days = cdp.Aggregate(
        totals, change=5.0, unit=cdp.User(), max_periods=3, every="1D", start="2026-10-24", timezone=BERLIN, name="load"
    )
    plan = days.plan(epsilon=1.0)
    release = made(plan, ledger, entropy=Silent())
    assert values(release)[:, 0] == pytest.approx(totals, abs=1e-6)
    assert release.to_pandas()["time"].astype(str).tolist() == [
        "2026-10-24 00:00:00+02:00",
        "2026-10-25 00:00:00+02:00",
        "2026-10-26 00:00:00+01:00",
    ]
    assert "load" in str(plan)
    assert values(release.running_total())[-1, 0] == pytest.approx(sum(totals), abs=1e-6)
    later = plan.on([1.0, 2.0, 3.0, 4.0], start="2026-11-01")
    assert later.design.table.calendar is not None
    assert len(later.design.table.calendar) == 4
    assert later.design.table.calendar.start.startswith("2026-11-01")
    for wrong, name in (({"every": "1D"}, "every"), ({"start": "2026-01-01"}, "every")):
        with pytest.raises(InvalidArgument) as caught:
            cdp.Aggregate(totals, change=5.0, unit=cdp.Event(), **wrong)  # type: ignore[arg-type]
        assert caught.value.name == name
    by_day = cdp.Aggregate([1.0] * 48, change=5.0, unit=cdp.UserPeriod("1D"), every="1h", start="2026-01-01")
    assert by_day.plan(epsilon=1.0).design.noises[0].sensitivity == pytest.approx(24 * 5, rel=1e-6)


def test_totals_of_someone_else_without_dates(ledger: cdp.Ledger) -> None:
    plan = cdp.Aggregate(np.arange(5), change=2, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert values(made(plan, ledger, entropy=Silent()))[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(InvalidArgument, match="end must be left out: the number of totals tells it"):
        plan.on([1.0], end="2026-01-01")
    with pytest.raises(InvalidArgument, match="plan must be about a table of records"):
        plan.diagnose()
    longer = plan.on([1.0] * 9)
    assert longer.design.table.horizon == 9
    far = cdp.Aggregate([1e300, -1e300, 0.0], change=1.0, unit=cdp.User(), max_periods=1).plan(epsilon=1.0)
    assert np.all(np.isfinite(values(made(far, ledger, "far"))))


SECRET_NAME, SECRET_VALUE = "zaphod", 424242.125


def test_nothing_of_the_data_is_printed(ledger: cdp.Ledger) -> None:
    table = readings().assign(who=SECRET_NAME, kwh=SECRET_VALUE)
    series = night(table)
    query = series.sum("kwh", clip=(0.0, 5.0)).by(region=["north", "south"])
    plan = query.plan(epsilon=1.0, delta=1e-6)
    totals = cdp.Aggregate([SECRET_VALUE, 1.0], change=1.0, unit=cdp.User(), max_periods=1)
    made(plan, ledger)
    with pytest.raises(RequestConflict) as conflict:
        made(series.count().plan(epsilon=1.0), ledger)
    with pytest.raises(InvalidArgument) as refused:
        cdp.Aggregate([str(SECRET_VALUE), SECRET_NAME], change=1.0, unit=cdp.Event())
    things = [series, query, query.records, plan, plan.origin, plan.design, totals, totals.plan(epsilon=1.0)]
    things += [totals.plan(epsilon=1.0).origin, conflict.value, refused.value, plan.alternatives]
    for thing in things:
        for text in (str(thing), repr(thing)):
            assert SECRET_NAME not in text
            assert "424242" not in text
            assert "4.24242" not in text


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    "unit", [cdp.Event(), cdp.Event("replace"), cdp.User("replace"), cdp.UserPeriod("1D"), cdp.Window(3)], ids=str
)
def test_every_plan_tells_price_error_and_promise(unit: cdp.privacy.Unit, delta: float) -> None:
    series = night(unit=unit, max_periods=4 if isinstance(unit, cdp.User) else None)
    queries = [
        series.count(),
        series.count().by(region=["north", "south"]),
        series.sum("kwh", clip=(0.0, 4.0)),
        series.mean("kwh", clip=(0.0, 4.0)),
        series.histogram("kwh", edges=EDGES),
    ]
    if unit.relation == "replace":
        queries.append(series.mean("kwh", clip=(0.0, 4.0), people=10))
    for query in queries:
        plan = query.plan(epsilon=0.5, delta=delta)
        text = str(plan)
        for label in ("Releases", "Protects", "Does not", "One unit", "Noise", "Error", "Price", "Adversary"):
            assert f"\n{label} " in f"\n{text}"
        assert max(map(len, text.splitlines())) <= 100
        assert "ε" in text
        table = plan.alternatives
        assert len(table) == (2 if delta else 1)
        assert table["rmse_mean"].is_monotonic_increasing
        assert table["noise"][0] == plan.design.law
        assert plan.half_width(0.95) == pytest.approx(table["half_width"][0])
        assert plan.half_width(0.5) < plan.half_width() < plan.half_width(0.999)
        assert plan.claim.cost == plan.design.cost


def test_what_bounding_takes_away_is_for_the_owner(ledger: cdp.Ledger) -> None:
    plan = night(max_periods=1).sum("kwh", clip=(0.0, 4.0)).plan(epsilon=1.0)
    diagnosis = plan.diagnose(progress=lambda _: None)
    assert str(diagnosis).startswith("FOR THE OWNER ONLY")
    assert (diagnosis.tally.people, diagnosis.tally.people_over) == (3, 2)
    assert (diagnosis.tally.cells, diagnosis.tally.cells_kept) == (5, 3)
    assert ledger.status("meters").charges == 0
