"""The dossier as a record of a registry of deployments of differential privacy.

What the ledger knows is filled in by us, what only the owner knows by the owner, and nothing by anyone else: a field
that nobody can vouch for is left out, and the tier is what the rest earns. A record is a draft until a registry takes
it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.tiers import tier_of
from chronodp.dossier.owner import Owner
from chronodp.dossier.streams import PublishedStream
from chronodp.dossier.words import described, slug
from chronodp.ledger import asker_of
from chronodp.privacy import History, Report

__all__ = ["registry", "unsaid"]

_NEEDED = ("name", "curators", "description", "intended_use", "region")
_ABOUT_BOUNDS = ("One unit", "Rows", "Found", "Keys")


def registry(facts: Facts) -> list[str] | None:
    """Return the record; None where nothing was released, or the owner does not say what every record must hold."""
    if unsaid(facts.owner) or not (facts.published or facts.streams):
        return None
    sections = {name: dict(fields(facts)) for name, fields in _SECTIONS.items()}
    deployment = {name: fields for name, fields in sections.items() if fields}
    record = {
        "url_slug": slug(facts.owner.name),
        "status": "Draft",
        "tier": tier_of(deployment),
        "deployment": deployment,
    }
    return [json.dumps(record, ensure_ascii=False, indent=1)]


def unsaid(owner: Owner) -> tuple[str, ...]:
    """Return what a record must hold and the owner does not say, by its name in the owner's file."""
    return tuple(name for name in _NEEDED if not getattr(owner, name))


def _basic(facts: Facts) -> Iterator[tuple[str, Any]]:
    owner = facts.owner
    yield "name", owner.name
    yield "data_curators", list(owner.curators)
    yield "intended_use", owner.intended_use
    tables = facts.published and all(one.kind == "blurred_times" for one in facts.published)
    yield "data_product_type", "Dataset" if tables else owner.product
    yield "data_product_region", owner.region
    yield "description", owner.description
    first = facts.published[0].issued if facts.published else facts.charges[0].made
    yield "publication_date", first.date().isoformat()
    yield from _given("data_product_sector", owner.sector)


def _variant(facts: Facts) -> Iterator[tuple[str, Any]]:
    promised = _promised(facts)
    if promised is not None:
        yield "variant_name", "Approximate DP" if promised[1] else "Pure DP"
    yield from _given("data_domain", facts.owner.population)
    yield "unprotected_quantities", _sentences([*facts.not_protects, "Periods, keys and bounds that were declared"])


def _loss(facts: Facts) -> Iterator[tuple[str, Any]]:
    budget, promised = facts.status.budget, _promised(facts)
    unit = budget.unit if facts.whole else facts.certificates[0].guarantee.unit
    renewed = f", in data dated in one period of {budget.renews} ({budget.zone})" if budget.renews else ""
    yield "privacy_unit", f"{unit}{renewed}"
    within = ", within each period" if renewed else ""
    yield "privacy_unit_details", f"Protected{within}: {_sentences(facts.protects)} {budget.lifetime}"
    if promised is None:
        return
    yield "privacy_parameters", {"epsilon": promised[0], "delta": promised[1]}
    lost = facts.lost
    so_far = f"Charged so far to the whole budget: (ε, δ) = {lost}, by: {lost.theorem}. {lost.note}"
    assumed = f" Assumed: {_sentences(facts.assumptions)}" if facts.assumptions else ""
    accepted = f" The budget accepts costs that assume {', '.join(budget.accepts)}." if budget.accepts else ""
    yield "privacy_parameters_details", f"{_meaning(facts)} {so_far}{assumed}{accepted}"


def _model(facts: Facts) -> Iterator[tuple[str, Any]]:
    owner, streams = facts.owner, _streams(facts)
    units = [one.guarantee.unit for one in facts.certificates]
    # Rounds of a training and reports of devices are drawn elsewhere: where, a ledger does not say.
    if all(one.readable for one in streams) and not any(isinstance(unit, Report | History) for unit in units):
        yield "model_name", "Central"
        yield "model_name_details", "The noise was drawn by a process that read the records as they are."
    yield from _given("actors", owner.access)
    yield "release_type", "Many releases" if len(facts.published) > 1 or streams else "One release"
    more = f" and {len(streams):,} streams, alerts or series for ever" if streams else ""
    yield "release_type_details", f"{len(facts.published):,} of the signed chain{more}, up to {facts.made:%Y-%m-%d}."
    grows = bool(streams) or (facts.whole and facts.status.budget.renews is not None)
    yield from _given("data_source_type", "Dynamic" if grows else owner.source_type)
    yield from _given("data_source_type_details", owner.collection)
    askers = {asker_of(one.link.request) for one in facts.published} - {""}
    yield from _given("access_type", "Interactive" if askers else owner.access_type)
    who = f"{len(askers):,} analysts asked for releases" if askers else "The holder of the ledger made all releases"
    yield "access_type_details", f"{who}; every one was charged to the budget before it was drawn."


def _accounting(facts: Facts) -> Iterator[tuple[str, Any]]:
    steps = dict.fromkeys(step for one in facts.certificates for step in one.processing)
    yield "post_processing", _sentences(steps) or "None before the releases were signed."
    yield "composition", f"By the {facts.status.budget.rule} rule of the budget: {facts.lost.theorem}."


def _implementation(facts: Facts) -> Iterator[tuple[str, Any]]:
    if facts.owner.preprocessing:
        said = (text for one in facts.published for label, text in described(one) if label in _ABOUT_BOUNDS)
        yield "preprocessing_and_hyperparameter_tuning", _sentences([facts.owner.preprocessing, *dict.fromkeys(said)])
    used = dict.fromkeys(f"{one.mechanism} ({one.precision})" for one in facts.certificates)
    yield "mechanisms", _sentences([*used, *(f"{one.kind}: {one.cost}" for one in _streams(facts) if one.cost)])
    yield from _given("justification", facts.owner.justification)


def _administrative(facts: Facts) -> Iterator[tuple[str, Any]]:
    owner = facts.owner
    yield from _given("sources", owner.source)
    dates = "The date is when the ledger signed the first release, and not when it was made public."
    seeded = "A release was drawn with a seed, which voids its guarantee: no parameters are stated." * facts.seeded
    wrote = f"Written by chronodp {facts.version} from a ledger of public key {facts.public_key}."
    yield "notes", " ".join(filter(None, [wrote, dates, seeded, *facts.notes]))
    yield "registry_authors", list(owner.authors or owner.curators)


_SECTIONS = {
    "basic": _basic,
    "dp_variant": _variant,
    "privacy_loss": _loss,
    "deployment_model": _model,
    "accounting": _accounting,
    "implementation": _implementation,
    "administrative": _administrative,
}


def _promised(facts: Facts) -> tuple[float, float] | None:
    """Return (epsilon, delta) of what the record is about; None where a seed voids it, or nothing finite holds."""
    if facts.seeded:
        return None
    if not facts.whole:
        guarantee = facts.certificates[0].guarantee
        return guarantee.epsilon, guarantee.delta
    budget, lost = facts.status.budget, facts.lost
    if budget.renews is not None:
        return budget.epsilon, budget.delta
    found = lost.most or (lost.epsilon, lost.delta)
    return found if math.isfinite(found[0]) else None


def _meaning(facts: Facts) -> str:
    if not facts.whole:
        return f"Of this release alone; the same budget paid for {len(facts.others):,} others."
    if facts.status.budget.renews is not None:
        return "Of everything that is ever released about one such period."
    return "Of everything that the budget ever pays for." if facts.lost.most else "What was charged, not a limit."


def _streams(facts: Facts) -> tuple[PublishedStream, ...]:
    """Return what the record is about beside signed releases; a record of one release is about that alone."""
    return facts.streams if facts.whole else ()


def _given(name: str, said: str) -> Iterator[tuple[str, str]]:
    if said:
        yield name, said


def _sentences(lines: Iterable[str]) -> str:
    return " ".join(f"{line.rstrip('.')}." for line in lines)
