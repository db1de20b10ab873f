"""One parser under Hypothesis: right texts with a few changes."""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial

from hypothesis import HealthCheck, given, seed as seeded, settings, strategies as st

from tests.fuzz.edits import KINDS, Edit, apply
from tests.fuzz.findings import Findings, limit_memory, parse_run
from tests.fuzz.target import Target, judge
from tests.fuzz.targets import make_targets

__all__ = ["main", "texts"]

_EDITS = st.lists(
    st.builds(
        Edit,
        st.sampled_from(KINDS),
        st.floats(0.0, 1.0, exclude_max=True),
        st.sampled_from((1, 2, 4, 16, 64)),
        st.integers(0, 999),
    ),
    max_size=4,
)


def texts(target: Target) -> st.SearchStrategy[bytes]:
    """Return seeds of a target with up to four changes."""
    return st.builds(lambda edits, seed: apply(edits, seed, target.seeds), _EDITS, st.sampled_from(target.seeds))


def main(arguments: list[str]) -> None:
    """Give a target so many texts, and write what was found to a file."""
    told = parse_run(arguments)
    warnings.simplefilter("error")
    target = make_targets(told.out.parent, told.target)[told.target]
    for text in target.seeds:
        judge(target, text)  # which loads what is needed
    limit_memory()
    found, part = Findings(told.target, partial(judge, target)), 0
    while found.cases < told.cases:  # it ends early where it believes to have seen all
        part += 1

        @seeded(1000 * told.seed + part)
        @settings(
            max_examples=told.cases - found.cases,
            database=None,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(texts(target))
        def run(content: bytes) -> None:
            found.give(content)

        run()
    told.out.write_text(json.dumps(found.to_dict()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
