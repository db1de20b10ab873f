"""A plan whose keys are found, in words: what a data owner reads before anything is spent."""

from __future__ import annotations

from dataclasses import replace

from chronodp.selection.keys import PublishedCounts
from chronodp.series.describe import describe
from chronodp.series.discovery.design import DiscoverDesign, refuse_published

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
    if isinstance(rule, PublishedCounts):
        how = f"the published counts find keys of {design.column} themselves"
        needed, lone, other = _counted(design, rule, who), rule.lone(design.count_noise), ""
    else:
        how, lone = f"{100 * design.discover.share:.3g} % of the price finds keys of {design.column}", rule.lone
        held = design.chosen or 1
        many = f" ({rule.people_needed(held):,} if each holds {held:,})" if held > 1 else ""
        needed, other = f"{rule.people_needed(1):,} {who} it and nothing else{many}", _other_words(design, who)
    return (
        f"{how}, at most {design.most:,}. One is published half of the time if {needed}; one held by a single "
        f"{called or 'person'}, with probability at most {lone:.2g}{other}"
    )


def _counted(design: DiscoverDesign, rule: PublishedCounts, who: str) -> str:
    return f"{rule.people_needed(design.count_noise):,} {who} it, whatever else they hold"


def _other_words(design: DiscoverDesign, who: str) -> str:
    """Return how many people a key would need if published counts decided, where they could."""
    if refuse_published(design.table, design.discover) is not None:
        return ""
    other = replace(design, discover=replace(design.discover, share=0.0))
    if not isinstance(other.finding, PublishedCounts):
        raise AssertionError("without a share published counts decide")
    return f". With share=0 the counts themselves decide: half of the time if {_counted(other, other.finding, who)}"
