"""Which cells are shown, what their intervals cover, and that other noise may decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow
import pytest
from tests.series.readings.towns import DAYS, released

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.series import View

BASELINE = ("2026-01-05", "2026-02-08")


@pytest.fixture(scope="module")
def town() -> dict[str, cdp.Release]:
    return released()


def half(view: View) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    table = view.to_pandas()
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = (table["upper"] - table["lower"]).to_numpy() / 2
    return found


@pytest.mark.parametrize("name", ["laplace", "gaussian", "tree", "shaped"])
def test_cells_are_shown_where_the_rule_says(name: str, town: dict[str, cdp.Release]) -> None:
    release = town[name]
    before = release.each_period()
    view = release.publish(relative=0.5)
    told = view.to_pandas()
    shown = half(before) <= 0.5 * np.abs(before.to_pandas()["value"].to_numpy())
    assert (told["value"].notna() == shown).all()
    assert 0 < shown.sum() < 3 * DAYS
    assert told.loc[~shown, ["value", "lower", "upper", "kind", "not_above", "not_below"]].isna().all().all()
    assert (told.loc[~shown, "why"] == "unreliable").all()
    assert told.loc[shown, "why"].isna().all()
    assert (told.loc[shown, "kind"] == "interval").all()
    step = view.certificate.processing[-1]
    assert "the interval of 95 % is within 50 % of the value" in step
    assert f"{shown.sum():,} of {3 * DAYS} cells" in step
    assert f"intervals at level {1 - 0.05 * shown.sum() / (3 * DAYS):.6g} (published: false coverage rate, " in step
    shared = name in ("tree", "shaped")
    assert ("proved where no two cells share noise: some of these do" in step) == shared
    assert "at most 5 % are expected to miss (false coverage rate" in view.note
    assert ("proved where no two share noise: some of these do" in view.note) == shared
    assert f"{(~shown).sum():,} of {3 * DAYS} have no value: unreliable" in view.note
    # Fewer shown, wider told: the level of those that are is of the false coverage rate.
    assert (half(view)[shown] >= half(before)[shown]).all()
    each = release.publish(relative=0.5, coverage="each")
    assert half(each)[shown] == pytest.approx(half(before)[shown], rel=0.2 if name == "tree" else 1e-9)
    assert "miss more often" in each.note


def test_points_and_chance(town: dict[str, cdp.Release]) -> None:
    view = town["gaussian"].change(baseline=BASELINE, match="weekday")
    shown = view.publish(points=100, chance=0.1).to_pandas()["value"].notna().to_numpy()
    wide = town["gaussian"].change(baseline=BASELINE, match="weekday", level=0.9).to_pandas()
    near = (wide["value"] - wide["lower"] <= 100) & (wide["upper"] - wide["value"] <= 100)
    assert (shown == near.to_numpy()).all()
    assert 0 < shown.sum() < 3 * DAYS
    assert "more than 100 off is at most 10 %" in view.publish(points=100, chance=0.1).certificate.processing[-1]


@pytest.mark.slow
def test_what_shares_noise_is_said_to(town: dict[str, cdp.Release]) -> None:
    release, shared = town["laplace"], "some of these do"
    alone: list[View] = [release.each_period(), release.resample("1W"), release.over(), town["mean"].each_period()]
    for view in alone:
        assert shared not in view.publish(relative=0.9).note
    both = release + town["tree"]
    for view in (release.rolling(3), release.running_total(), release.share(), release.change(baseline=BASELINE), both):
        published = view.publish(relative=0.9)
        assert shared in published.note
        assert shared in published.certificate.processing[-1]
    assert not both.apart
    with pytest.raises(InvalidArgument, match="rows must not share their noise"):
        cdp.series.smooth_view(both, method=cdp.postprocess.RandomWalk())


def test_given_that_it_is_shown(town: dict[str, cdp.Release]) -> None:
    release = town["gaussian"]
    view, plain = release.publish(relative=0.5, coverage="given"), release.publish(relative=0.5, coverage="each")
    told, before = view.to_pandas().dropna(subset="value"), plain.to_pandas().dropna(subset="value")
    assert len(told) == len(before)
    assert (told["lower"] <= before["lower"] + 1e-9).all()  # noise that lifted a number over the rule is taken off
    assert "given that it is shown" in view.note
    with pytest.raises(InvalidArgument, match=r"coverage must be .* nothing bounds it from below"):
        town["laplace"].publish(relative=0.5, coverage="given")
    with pytest.raises(InvalidArgument, match="no ratios, and a relative rule"):
        release.share().publish(relative=0.5, coverage="given")


def test_other_noise_decides(town: dict[str, cdp.Release]) -> None:
    release, earlier = town["laplace"], town["another"]
    by = earlier.resample("10W")  # one row: whole series are shown or not
    view = release.publish(relative=0.02, decided_on=by)
    table = view.to_pandas()
    assert table.groupby("county")["value"].count().tolist() == [DAYS, DAYS, 0]
    assert half(view)[:2] == pytest.approx(half(release.each_period())[:2])
    assert "decided on other noise" in view.certificate.processing[-1]
    assert "other noise decided" in view.note
    change = release.change(baseline=BASELINE)
    assert len(change.publish(relative=0.5, decided_on=by).to_pandas()) == 3 * DAYS
    weekly = release.resample("1W").change(baseline=("2026-01-01", "2026-02-01"))
    for shared in (release, release.over(), weekly, release.at(county="a")):
        with pytest.raises(InvalidArgument, match="enters no number shown"):
            change.publish(relative=0.5, decided_on=shared)
    with pytest.raises(InvalidArgument, match="enters no number shown"):
        town["shaped"].publish(relative=0.5, decided_on=town["shaped"])
    # White noise of other groups is other noise.
    a, b = release.at(county="a"), release.at(county="b")
    assert a.publish(relative=0.5, decided_on=b).to_pandas()["value"].notna().any()


def test_tables_keep_kinds_and_reasons(town: dict[str, cdp.Release]) -> None:
    view = town["laplace"].ratio(town["laplace"].at(county="c"), level=0.99)
    arrow = view.to_arrow()
    names = ["time", "county", "value", "lower", "upper", "kind", "not_above", "not_below", "why"]
    assert arrow.column_names == names
    assert pyarrow.types.is_dictionary(arrow.schema.field("kind").type)
    kinds = view.to_pandas()["kind"].value_counts()
    assert kinds["outside"] > 0
    gap = view.to_pandas().query("kind == 'outside'")
    assert (gap["not_above"] < gap["not_below"]).all()
    assert gap["value"].isna().all()
    text = view.to_pandas().to_csv(index=False)
    assert "denominator near 0" in text
    assert (town["laplace"].to_pandas().columns == ["time", "county", "value", "lower", "upper"]).all()


Ask = Callable[[dict[str, cdp.Release]], object]
REFUSED: dict[str, tuple[Ask, str]] = {
    "no rule": (lambda r: r["laplace"].publish(), "relative must be given"),
    "two rules": (lambda r: r["laplace"].publish(relative=0.2, points=3), "relative must be given"),
    "relative with chance": (lambda r: r["laplace"].publish(relative=0.2, chance=0.1), "chance must be left out"),
    "relative 0": (lambda r: r["laplace"].publish(relative=0), "relative must be"),
    "points of words": (lambda r: r["laplace"].publish(points="ten"), "points must be"),  # type: ignore[arg-type]
    "chance 1": (lambda r: r["laplace"].publish(points=10, chance=1), "chance must be"),
    "other coverage": (lambda r: r["laplace"].publish(relative=1, coverage="all"), "'published', 'each' or 'given'"),  # type: ignore[arg-type]
    "decided by nothing": (lambda r: r["laplace"].publish(relative=1, decided_on=1.0), "decided_on must be a release"),
    "decided by a mean": (lambda r: r["laplace"].publish(relative=1, decided_on=r["mean"]), "enters no number shown"),
    "decided on other rows": (
        lambda r: r["laplace"].publish(relative=1, decided_on=r["another"].rolling(7)),
        "decided_on must be 1 row or 70",
    ),
    "decided on other groups": (
        lambda r: r["laplace"].over().publish(relative=1, decided_on=r["another"]),
        "summed out by over('county')",
    ),
    "published twice": (lambda r: r["laplace"].publish(relative=1).publish(relative=1), "publish last"),
    "ratio of published": (lambda r: r["laplace"].publish(relative=1).ratio(r["laplace"]), "publish last"),
}


def test_what_cannot_be_published_is_refused(town: dict[str, cdp.Release], subtests: pytest.Subtests) -> None:
    for name in [*REFUSED]:
        with subtests.test(name=name):
            ask, said = REFUSED[name]
            with pytest.raises(InvalidArgument) as caught:
                ask(town)
            assert said in str(caught.value)
