"""The tiers of a registry of deployments: how much a record says of itself.

A tier above the first is earned by saying all that it and the tiers below it ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["TIERS", "tier_of"]

TIERS: dict[int, tuple[str, ...]] = {
    1: (
        "basic.name",
        "basic.data_curators",
        "basic.intended_use",
        "basic.data_product_type",
        "basic.data_product_region",
        "basic.description",
        "basic.publication_date",
        "basic.data_product_sector",
        "administrative.sources",
        "administrative.notes",
    ),
    2: (
        "dp_variant.variant_name",
        "privacy_loss.privacy_unit",
        "privacy_loss.privacy_parameters",
        "deployment_model.model_name",
        "deployment_model.release_type",
        "deployment_model.data_source_type",
        "deployment_model.access_type",
    ),
    3: (
        "dp_variant.data_domain",
        "dp_variant.unprotected_quantities",
        "privacy_loss.privacy_unit_details",
        "privacy_loss.privacy_parameters_details",
        "deployment_model.actors",
        "deployment_model.data_source_type_details",
        "deployment_model.access_type_details",
        "accounting.post_processing",
        "accounting.composition",
        "implementation.preprocessing_and_hyperparameter_tuning",
        "implementation.mechanisms",
        "implementation.justification",
    ),
}
"""What each tier asks for, by section and field."""


def tier_of(deployment: Mapping[str, Mapping[str, Any]]) -> int:
    """Return the highest tier that a deployment's description earns; the first is that of any record."""
    said = {f"{section}.{field}" for section, fields in deployment.items() for field in fields}
    earned = 1
    for tier, asked in TIERS.items():
        if not said.issuperset(asked):
            break
        earned = max(earned, tier)
    return earned
