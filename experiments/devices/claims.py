"""What we expect of reports from devices: of one, and of many over time."""

from __future__ import annotations

from experiments.claims import Claim, Given
from experiments.devices.one_report import report_claims
from experiments.devices.over_time import history_claims

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return the rows; none of them reads a file."""
    del given
    return sorted([*report_claims(), *history_claims()], key=lambda claim: claim.id)
