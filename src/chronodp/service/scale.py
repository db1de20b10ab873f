"""About how large the numbers of a question are, by public declarations alone: what an error is to be held against.

People, and what one of them usually has, are declared by the owner; no data is read, and nothing is promised of it.
"""

from __future__ import annotations

import math

from chronodp.engines import derived_as
from chronodp.series import DiscoverPlan, FindPlan, Plan, QuantilePlan, Table
from chronodp.service.bound_rules import length_of, usual_of
from chronodp.service.policy import Dataset

__all__ = ["declared_scale"]


def declared_scale(dataset: Dataset, plan: Plan | FindPlan | DiscoverPlan | QuantilePlan) -> float | None:
    """Return about how large one number of a plan is; None where the owner declared nothing to tell it by.

    Of a sum people times what one usually has in a period, of a mean or a quantile the latter, of a count the people;
    of groups their declared people on average. Nobody is taken to have more periods than is usual.
    """
    table: Table = plan.design.table
    if table.where is not None:
        return None  # nobody declared what a filter leaves
    measure = table.periods.measure
    people, usual = _people(dataset, table), _usual(dataset, table)
    match measure.to_question()["kind"]:
        case "mean" | "quantiles":
            return usual
        case "count" if measure.reach == 1:
            each = people
        case "active":
            return people
        case "histogram" if measure.row_weight is None and people is not None:
            each = people / measure.bins
        case "sum" if people is not None and usual is not None:
            each = people * abs(usual)
        case _:
            return None
    if each is None:
        return None
    return each * _attendance(dataset, table) * _periods_of_one(table)


def _people(dataset: Dataset, table: Table) -> float | None:
    """Return how many people are behind a group, on average over those asked for, as declared."""
    people = float(dataset.people)
    for grouping in table.groupings:
        known = dataset.groups.get(grouping.column)
        declared = known is not None and known.people and not derived_as(table.columns or (), grouping.column)
        if known is None or not declared or not dataset.people:
            return None
        people *= math.fsum(known.people[key] for key in grouping.keys) / len(grouping.keys) / dataset.people
    return people or None


def _usual(dataset: Dataset, table: Table) -> float | None:
    """Return what one person usually has in a period, as declared of the column that is read."""
    name = table.periods.measure.read_column
    if name is None or derived_as(table.columns or (), name) or name not in dataset.columns:
        return None
    return usual_of(dataset, dataset.columns[name], table)


def _attendance(dataset: Dataset, table: Table) -> float:
    """Return which part of the periods one person usually has anything in; all of them where nothing is declared."""
    every = length_of(dataset, table)
    usual = dataset.usual_periods.get(every)
    return 1.0 if usual is None else min(1.0, usual / max(1, len(dataset.calendar.divided(every)) - 1))


def _periods_of_one(table: Table) -> float:
    """Return how many periods are added up in one number: several in totals over longer ones."""
    block = table.measure.block
    return 1.0 if block is None or block.extreme else table.periods.horizon / table.horizon
