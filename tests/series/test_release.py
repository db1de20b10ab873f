"""From a small table through a plan and a ledger to a release, and what can be read from it for free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import EDGES, Forbidden, Silent, hours, made, night, readings, three_days, values

import chronodp as cdp
from chronodp.errors import BudgetExhausted, CertificateInvalid, InvalidArgument, RequestConflict, UnknownDocument
from chronodp.ledger import Keys, SignedLink, verify
from chronodp.randomness import seeded


@pytest.mark.slow
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
    of_rows = exact(series.mean("kwh", clip=(0.0, 4.0), of="people"), "mean of rows")
    assert of_rows == pytest.approx(hours(**nobody | {"h0": 2.875, "h2": 2.0, "h3": 1.5, "h24": 0.5}), abs=1e-6)
    means = exact(series.mean("kwh", clip=(0.0, 4.0), of="totals"), "mean")
    assert means == pytest.approx(hours(**nobody | {"h0": 3.75, "h2": 2.0, "h3": 1.5, "h24": 0.5}), abs=1e-6)
    spread = exact(series.variance("kwh", clip=(0.0, 4.0)), "variance")
    nobody = dict.fromkeys((f"h{hour}" for hour in range(25)), 2.0)  # half of the most that it can be
    lone = {"h0": 0.25**2, "h2": 0.0, "h3": 0.0, "h24": 0.0}
    assert spread == pytest.approx(hours(**nobody | lone), abs=1e-5)
    panel = night(unit=cdp.User("replace")).mean("kwh", clip=(0.0, 4.0), people=3, of="totals")
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


@pytest.mark.slow
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


def test_an_analysts_part_pays(ledger: cdp.Ledger) -> None:
    ledger.allot("meters", "eve", epsilon=1.0)
    made(night().count().plan(epsilon=1.0), ledger, analyst="eve")
    with pytest.raises(BudgetExhausted):
        made(night().count().plan(epsilon=1.0), ledger, "two", analyst="eve", entropy=Forbidden())
    assert ledger.status("meters", analyst="eve").charges == 1


def test_saved_loaded_and_verified(ledger: cdp.Ledger, tmp_path: Path) -> None:
    release = made(three_days().mean("kwh", clip=(0.0, 4.0), of="people").plan(epsilon=1.0, delta=1e-6), ledger)
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
    no_text = (json.dumps(document | {"release": text}) for text in (5, None, ["a"]))
    empty = ('{"release": "", "link": null}', '{"release": "", "link": {}}')
    for content in ("", "[]", "5", "no json", "{}", *empty, *no_text):
        place.write_text(content, encoding="utf-8")
        with pytest.raises(UnknownDocument, match=r"release\.json does not hold a release"):
            cdp.Release.load(place)
    with pytest.raises(InvalidArgument, match="path must be a file that can be read"):
        cdp.Release.load(tmp_path / "nowhere.json")
    with pytest.raises(InvalidArgument, match="path must be a place that can be written"):
        other.save(tmp_path / "nowhere" / "release.json")
    with pytest.raises(InvalidArgument, match="path must be"):
        other.report(tmp_path / "nowhere" / "page.html")


def test_a_release_cannot_be_given_another_ones_certificate(ledger: cdp.Ledger) -> None:
    plan = night().count().plan(epsilon=1.0)
    one, two = made(plan, ledger), made(plan, ledger, "two")
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        cdp.Release(one.text, two.signed)
    with pytest.raises(CertificateInvalid, match="not a certificate"):
        cdp.Release(one.text, SignedLink("{}", one.signed.signature))


@pytest.mark.slow
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
