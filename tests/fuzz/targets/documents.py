"""What was released and signed, read back: certificates, releases, choices, models."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import chronodp as cdp
from chronodp import selection
from chronodp.cli.account import read_releases
from chronodp.cli.verify import verify as verify_file
from chronodp.correlated.model_file import read_model
from chronodp.dataset import ReleaseTogether
from chronodp.ledger import Keys, SignedLink, verify
from chronodp.ledger.certificates import Link
from chronodp.privacy import Certificate, GaussianCost, PureCost, RepeatedCost, SequenceCost, dump, load
from chronodp.randomness import seeded
from chronodp.selection.choice import Choice
from chronodp.series import Release
from chronodp.spectrum import Lowest, Spectrum, SpectrumRelease
from tests.fuzz.target import Target, loose

__all__ = [
    "NAMES",
    "make_certificate",
    "make_chain",
    "make_choice",
    "make_costs",
    "make_document",
    "make_link",
    "make_model",
    "make_release",
    "make_saved",
    "make_spectrum",
    "make_together",
]

NAMES = (
    "document",
    "certificate",
    "link",
    "chain",
    "costs",
    "release",
    "saved",
    "spectrum",
    "choice",
    "together",
    "model",
)


def _quietly(call: Callable[[], object]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        call()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sign(keys: Keys, body: str) -> SignedLink:
    """Sign anything at all, as a careless issuer would."""
    return SignedLink(body, keys.sign(body.encode("utf-8", "surrogatepass")))


class _House:
    """A ledger with one release of each kind."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with cdp.Ledger(folder / "documents.db") as ledger:
            if not ledger.budgets():
                ledger.open("meters", unit=cdp.Event(), epsilon=100.0, delta=1e-3)
            paid: dict[str, Any] = {"ledger": ledger, "dataset": "meters", "entropy": seeded(1)}
            totals = cdp.Aggregate([1.0, 2.0, 3.0, 4.0], change=1.0, unit=cdp.Event(), every="1D", start="2026-01-01")
            self.release: Release = totals.plan(epsilon=1.0).release(request="one", **paid)
            shaped = totals.plan(epsilon=1.0, delta=1e-6, tuned_for=cdp.RunningTotal())
            self.shaped: Release = shaped.release(request="two", **paid)
            spectrum = Spectrum([1.0, 2.0, 3.0, 4.0], change=1.0, unit=cdp.Event()).plan(Lowest(2), epsilon=1.0)
            self.spectrum: SpectrumRelease = spectrum.release(request="three", **paid)
            self.choice: Choice = selection.choose(
                ["a", "b"],
                selection.Utilities([1.0, 2.0], change=1.0),
                epsilon=1.0,
                unit=cdp.Event(),
                request="four",
                **paid,
            )
            alert = cdp.alerts.design_alert(above=3.0, change=1.0, unit=cdp.Event(), epsilon=1.0, max_alerts=1)
            several = cdp.plan_together({"load": totals, "high": alert}, epsilon=2.0)
            self.together: ReleaseTogether = several.release(request="five", **paid)
            self.chain = ledger.export("meters")
            self.keys = ledger.keys


def _seed(item: object) -> bytes:
    return dump(item).encode()


def make_document(folder: Path) -> Target:
    house = _House(folder)
    costs = SequenceCost((RepeatedCost(GaussianCost(1.0, 2.0), 3), PureCost(0.5)))
    designs = [json.dumps(json.loads(one.text)["design"]).encode() for one in (house.release, house.shaped)]
    return Target("document", (_seed(costs), _seed(house.release.link), *designs), partial(load, expected=object))


def make_certificate(folder: Path) -> Target:
    def door(content: bytes) -> None:
        str(load(loose(content), Certificate))

    return Target("certificate", tuple(_seed(one.certificate) for one in (_House(folder).release,)), door)


def make_link(folder: Path) -> Target:
    house = _House(folder)

    def door(content: bytes) -> None:
        signed = _sign(house.keys, loose(content))
        str(verify(signed, house.keys.public).certificate)

    return Target("link", (house.release.signed.body.encode(), house.together.signed.body.encode()), door)


def make_chain(folder: Path) -> Target:
    """The command; bodies are signed anew, so that links without a meaning come through the signature."""
    house, file = _House(folder), folder / "chain.json"
    seeds = tuple(json.dumps(one).encode() for one in (house.chain, house.choice.to_dict()))

    def door(content: bytes) -> None:
        file.write_bytes(content)
        _quietly(lambda: verify_file(file, house.keys.public, None, as_json=True))
        with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
            told = json.loads(content)
            told["links"] = [_sign(house.keys, one["body"]).to_dict() for one in told["links"]]
            file.write_text(json.dumps(told), encoding="utf-8")
            content = b""
        if not content:
            _quietly(lambda: verify_file(file, house.keys.public, None, as_json=False))

    return Target("chain", seeds, door)


def make_costs(folder: Path) -> Target:
    file = folder / "costs.json"

    def door(content: bytes) -> None:
        file.write_bytes(content)
        read_releases(file)

    costs = GaussianCost(1.0, 2.0), RepeatedCost(PureCost(0.5), 10)
    return Target("costs", (_seed(costs[0]), b"[" + b",".join(map(_seed, costs)) + b"]"), door)


def _signed_for(house: _House, like: Link, text: str) -> SignedLink:
    return _sign(house.keys, dump(replace(like, release=_digest(text))))


def make_release(folder: Path) -> Target:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = Release(text, _signed_for(house, house.release.link, text))
        made.to_pandas()
        made.running_total().to_pandas()
        str(made)

    return Target("release", tuple(one.text.encode() for one in (house.release, house.shaped)), door)


def make_saved(folder: Path) -> Target:
    house, file = _House(folder), folder / "saved.json"
    house.release.save(file)

    def door(content: bytes) -> None:
        file.write_bytes(content)
        Release.load(file).to_pandas()

    return Target("saved", (file.read_bytes(),), door)


def make_spectrum(folder: Path) -> Target:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = SpectrumRelease(text, _signed_for(house, house.spectrum.signed.link, text))
        made.to_pandas()
        str(made)

    return Target("spectrum", (house.spectrum.text.encode(),), door)


def make_choice(folder: Path) -> Target:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        repr(Choice(text, _signed_for(house, house.choice.signed.link, text)))

    return Target("choice", (house.choice.text.encode(),), door)


def make_together(folder: Path) -> Target:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = ReleaseTogether(text, _signed_for(house, house.together.link, text))
        made.to_pandas()
        repr(made)

    return Target("together", (house.together.text.encode(),), door)


def make_model(folder: Path) -> Target:
    file = folder / "model.json"
    dense = {"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[1, 0], [0.5, 0.5]]}
    edges = {"sequences": 2, "edges": [[0, 0, 1.0], [1, 0, 1.0]], "transitions": np.eye(2).tolist()}

    def door(content: bytes) -> None:
        file.write_bytes(content)
        repr(read_model(file))

    return Target("model", tuple(json.dumps(one).encode() for one in (dense, edges)), door)
