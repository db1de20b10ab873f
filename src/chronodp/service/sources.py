"""Whether the files of a policy are there and have its columns: told to the owner, before anybody asks."""

from __future__ import annotations

from collections.abc import Iterator

from chronodp.engines import Role, check_source
from chronodp.errors import ChronodpError
from chronodp.service.policy import Dataset, Policy

__all__ = ["source_warnings"]


def source_warnings(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with the files of each dataset now; no row of them is read.

    A warning and no refusal: the files of a dataset may come after its policy.
    """
    for name, dataset in policy.datasets.items():
        try:
            check_source(dataset.source, list(_named(dataset)), dataset.reading)
        except ChronodpError as error:
            yield f"datasets.{name}: {error}"


def _named(dataset: Dataset) -> Iterator[tuple[str, Role, str]]:
    """Yield the columns that a dataset is read by: its times and people, which every question needs."""
    yield "time", "time", dataset.time
    if dataset.user is not None:
        yield "user", "name", dataset.user
    for column in dataset.columns:
        yield f"columns.{column}", "number", column
    for column in dataset.groups:
        yield f"groups.{column}", "name", column
