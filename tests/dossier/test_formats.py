"""Every dossier in the formats of others, each read by its own tool or checked by its own schema."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import chronodp as cdp
from chronodp.dossier import Facts, Owner, gather, write_dossier
from chronodp.dossier.formats import FORMATS
from chronodp.dossier.formats.tiers import TIERS
from chronodp.randomness import seeded
from tests.dossier.everything import KINDS, QUIET, meters
from tests.ledger.conftest import fresh_database
from tests.rounding import FUNCTION

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "golden"
SCHEMA = json.loads((GOLDEN / "registry/fields.json").read_text(encoding="utf-8"))
DATASETS = ("meters", "watch", "renewed", "building", "empty")
SHORT = Owner(
    name="Load of Mill Town",
    curators=("Mill Town Utility",),
    description="Daily load of households.",
    intended_use="Planning of the grid",
    region="Mill Town",
    unit_of_measurement="kWh",
)
LONG = replace(
    SHORT,
    sector="Energy",
    source="https://mill.example/load",
    contact="privacy@mill.example",
    collection="Read from meters every hour.",
    access="Two people of the utility.",
    justification="Small enough for a household.",
    population="About forty households.",
    preprocessing="None; bounds are those of the fuse.",
    source_type="Static",
    access_type="Non-interactive",
)


@dataclass(frozen=True)
class Written:
    """Dossiers of every dataset of one ledger, and what they were made from."""

    folders: dict[str, Path]
    facts: dict[str, Facts]

    def read(self, dataset: str, path: str) -> Any:
        return json.loads((self.folders[dataset] / path).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written(everything: cdp.Ledger, tmp_path_factory: pytest.TempPathFactory) -> Written:
    place = tmp_path_factory.mktemp("formats")
    folders = {name: write_dossier(everything, name, place / name, owner=LONG) for name in DATASETS}
    return Written(folders, {name: gather(everything, name, owner=LONG) for name in DATASETS})


def made(name: str, facts: Facts) -> Any:
    pieces = FORMATS[name](facts)
    assert pieces is not None
    return json.loads("".join(pieces))


def test_every_dataset_has_every_format_with_a_place_for_it(written: Written) -> None:
    numbers = {"formats/sdmx.csv", "formats/sdmx-structure.json"}
    nowhere = {
        "watch": numbers,
        "building": {*numbers, "formats/statement.dsse.json"},
        "empty": {*numbers, "formats/statement.dsse.json", "formats/registry.json"},
    }
    for dataset, folder in written.folders.items():
        assert {name for name in FORMATS if not (folder / name).exists()} == nowhere.get(dataset, set())


# Registries of deployments


def tiers_in(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, int]]:
    for name, field in schema.get("properties", {}).items():
        if "tier" in field:
            yield f"{path}{name}", field["tier"]
        elif field.get("type") == "object":
            yield from tiers_in(field, f"{path}{name}.")


def check_record(record: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    validator.validate(record)
    assert record["status"] == "Draft"


def test_tiers_are_the_registrys_own() -> None:
    asked = {path.removeprefix("deployment."): tier for path, tier in tiers_in(SCHEMA) if path != "tier"}
    assert {path: tier for tier, paths in TIERS.items() for path in paths} == asked


def test_records_fit_the_registrys_schema_at_the_tier_they_earn(written: Written) -> None:
    records = {name: written.read(name, "formats/registry.json") for name in DATASETS if name != "empty"}
    for record in records.values():
        check_record(record)
    assert {name: record["tier"] for name, record in records.items()} == dict.fromkeys(records, 3)
    meters = records["meters"]["deployment"]
    assert meters["privacy_loss"]["privacy_parameters"] == {"epsilon": 1e4, "delta": 1e-2}
    assert meters["dp_variant"]["variant_name"] == "Approximate DP"
    assert meters["deployment_model"]["data_source_type"] == "Dynamic"  # which streams show, whatever the owner says
    assert records["watch"]["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert records["watch"]["deployment"]["basic"]["data_product_type"] == "Dataset"
    assert "period of 1mo" in records["renewed"]["deployment"]["privacy_loss"]["privacy_unit"]


def test_a_record_claims_no_tier_that_it_does_not_earn(written: Written) -> None:
    tiers = {"justification": 2, "population": 2, "preprocessing": 2, "access_type": 1, "sector": 1, "source": 1}
    for left_out, tier in tiers.items():
        without: Any = {left_out: ""}
        facts = replace(written.facts["watch"], owner=replace(LONG, **without))
        record = made("formats/registry.json", facts)
        check_record(record)
        assert record["tier"] == tier, left_out


def test_a_record_is_not_written_without_what_every_one_must_hold(written: Written) -> None:
    for left_out in ["name", "curators", "description", "intended_use", "region"]:
        facts = replace(written.facts["meters"], owner=replace(LONG, **{left_out: type(getattr(LONG, left_out))()}))
        assert FORMATS["formats/registry.json"](facts) is None, left_out
        assert f"does not say {left_out}" in "".join(FORMATS["formats/README.txt"](facts) or ()), left_out


def test_a_record_of_one_release_states_its_own_price(written: Written) -> None:
    facts = gather(written.facts["meters"].ledger, "meters", request="found", owner=LONG)
    record = made("formats/registry.json", facts)
    check_record(record)
    deployment = record["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 20.0, "delta": 1e-6}
    assert deployment["deployment_model"]["release_type"] == "One release"
    assert record["tier"] == 3


def test_a_seed_voids_what_a_record_could_state(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        plan = meters().count().plan(epsilon=1.0)
        plan.release(ledger, dataset="meters", request="a", entropy=seeded(1), **QUIET)
        record = made("formats/registry.json", gather(ledger, "meters", owner=LONG))
    check_record(record)
    assert record["tier"] == 1
    assert "privacy_parameters" not in record["deployment"]["privacy_loss"]
    assert "variant_name" not in record["deployment"]["dp_variant"]
    assert "seed" in record["deployment"]["administrative"]["notes"]


def test_analysts_who_ask_make_a_deployment_interactive_whatever_its_owner_says(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        meters().count().plan(epsilon=1.0).release(ledger, dataset="meters", request="ana/load", **QUIET)
        record = made("formats/registry.json", gather(ledger, "meters", owner=LONG))
    check_record(record)
    assert record["deployment"]["deployment_model"]["access_type"] == "Interactive"


# in-toto and DSSE


def read_statement(envelope: dict[str, Any], public_key: str) -> dict[str, Any]:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer._key import SSlibKey

    raw = base64.b64decode(public_key)
    key = SSlibKey(hashlib.sha256(raw).hexdigest(), "ed25519", "ed25519", {"public": raw.hex()})
    read = Envelope.from_dict(envelope)
    assert list(read.verify([key], 1)) == [key.keyid]
    content: dict[str, Any] = json.loads(read.payload)
    return content


def test_statements_are_verified_by_securesystemslib(written: Written) -> None:
    from securesystemslib.exceptions import VerificationError

    for dataset in ("meters", "watch", "renewed"):
        folder, facts = written.folders[dataset], written.facts[dataset]
        content = read_statement(written.read(dataset, "formats/statement.dsse.json"), facts.public_key)
        assert content["_type"] == "https://in-toto.io/Statement/v1", dataset
        for subject in content["subject"]:
            digest = hashlib.sha256((folder / subject["name"]).read_bytes()).hexdigest()
            assert subject["digest"]["sha256"] == digest, dataset
        assert [subject["name"] for subject in content["subject"]] == [one.file for one in facts.published], dataset
        changed = written.read(dataset, "formats/statement.dsse.json")
        changed["payload"] = base64.b64encode(
            base64.b64decode(changed["payload"]).replace(b"sha256", b"sha257", 1)
        ).decode()
        with pytest.raises(VerificationError):
            read_statement(changed, facts.public_key)


@pytest.mark.slow
def test_without_the_key_at_hand_a_statement_says_that_it_is_not_signed(postgres: str, tmp_path: Path) -> None:
    address = fresh_database(postgres)
    with cdp.Ledger(address, keys=tmp_path / "keys") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        meters().count().plan(epsilon=1.0).release(ledger, dataset="meters", request="a", **QUIET)
    with cdp.Ledger(address) as ledger:
        envelope = made("formats/statement.dsse.json", gather(ledger, "meters"))
    assert envelope["signatures"] == []
    assert "not signed" in json.loads(base64.b64decode(envelope["payload"]))["predicate"]["notes"][-1]


# SDMX


def observations(written: Written, dataset: str) -> pd.DataFrame:
    from pysdmx.io import read_sdmx
    from pysdmx.io.pd import PandasDataset

    message = read_sdmx(written.folders[dataset] / "formats/sdmx.csv")
    (found,) = message.data or ()
    assert isinstance(found, PandasDataset)
    return found.data


def test_observations_are_read_by_pysdmx(written: Written) -> None:
    frame = observations(written, "meters")
    series = [one for one in written.facts["meters"].published if one.columns[:1] == ("time",)]
    assert set(frame["RELEASE"].astype(int)) == {one.number for one in series}
    for one in series:
        rows = frame[frame["RELEASE"].astype(int) == one.number]
        assert one.table is not None
        values = one.table[list(one.columns[-3:])].to_numpy(float)
        read = rows[["OBS_VALUE", "LOWER_BOUND", "UPPER_BOUND"]].to_numpy().astype(float)
        # Some versions of pandas, by which pysdmx reads, are off in a decimal's last place.
        np.testing.assert_allclose(read, values, rtol=FUNCTION, atol=0, equal_nan=False)
    keys = frame[["RELEASE", "SERIES", "TIME_PERIOD"]]
    assert not keys.duplicated().any()  # one observation a key, as SDMX wants it
    units = dict(zip(frame["RELEASE"].astype(int), frame["UNIT_MEASURE"], strict=True))
    told = {KINDS[number - 1]: unit for number, unit in units.items()}
    assert told["plain"] == told["quantiles"] == told["mean"] == "kWh"
    assert told["histogram"] == told["keys"] == told["issue"] == "people"
    lengths = dict(zip(frame["SERIES"], frame["PERIOD_LENGTH"], strict=True))
    assert (lengths["query=load"], lengths["query=peak"], lengths["query=total"]) == ("P1D", "P2D", "P2D")


def test_the_structure_that_observations_name_is_read_by_pysdmx(written: Written) -> None:
    from pysdmx.io.json.sdmxjson2.reader.structure import read

    text = (written.folders["meters"] / "formats/sdmx-structure.json").read_text(encoding="utf-8")
    (structure,) = read(text, validate=True).get_data_structure_definitions()
    frame = observations(written, "meters")
    assert [one.id for one in structure.components] == list(frame.columns)
    assert f"{structure.agency}:{structure.id}({structure.version})" == "CHRONODP:NUMBERS(1.0)"


def test_a_unit_that_could_be_of_several_columns_is_not_stated(tmp_path: Path) -> None:
    units = []
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        for name in ("load", "volts"):
            totals: dict[str, Any] = {"change": 1.0, "max_periods": 2, "every": "1W", "start": "2026-01-05"}
            plan = cdp.Aggregate([1.0, 2.0], unit=cdp.User(), name=name, **totals).plan(epsilon=1.0)
            plan.release(ledger, dataset="meters", request=name, **QUIET)
            lines = "".join(FORMATS["formats/sdmx.csv"](gather(ledger, "meters", owner=SHORT)) or ()).splitlines()
            units.append({line.split(",")[-2] for line in lines[1:]})
    assert units == [{"kWh"}, {"_U"}]
