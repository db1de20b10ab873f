"""A plan whose keys are found, in words: what a data owner reads before anything is spent."""

from __future__ import annotations

from chronodp.series.describe import describe
from chronodp.series.discovery.design import DiscoverDesign

__all__ = ["describe_discover", "finding_words"]


def describe_discover(design: DiscoverDesign) -> list[tuple[str, str]]:
    """Return the plan as labelled sentences."""
    table, facts = design.table, dict(describe(design.typical, design.delta))
    listed = " and ".join(grouping.column for grouping in table.groupings)
    facts["Releases"] = f"{table.released}; {table.calendar}; by {listed}; keys of {design.column} are found"
    facts["Error"] = f"{facts['Error']}; of every key that is found"
    after = list(facts)
    after.insert(after.index("One unit") + 1, "Keys")
    facts["Keys"] = finding_words(design)
    return [(label, facts[label]) for label in after]


def finding_words(design: DiscoverDesign) -> str:
    """Return how many people a key needs, and how likely that of one person alone is published."""
    rule, called = design.finding, design.table.unit.called
    who = "people hold" if called is None else f"of them (each a {called}) hold"
    alone, held = rule.people_needed(1), design.chosen or 1
    many = ""
    if held > 1:
        many = f" ({rule.people_needed(held):,} if each holds {held:,})"
    return (
        f"{100 * design.discover.share:.3g} % of the price finds keys of {design.column}, at most {design.most:,}. One "
        f"is published half of the time if {alone:,} {who} it and nothing else{many}; one held by a single "
        f"{called or 'person'}, with probability at most {rule.lone:.2g}"
    )
