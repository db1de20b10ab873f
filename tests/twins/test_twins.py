"""What every feature comes to under every unit is what it was: designs, exact totals, drawn noise, tables of views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.twins.cases import FEATURES, cases_of
from tests.twins.digests import PARTS, found, stored


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_comes_to_what_it_came_to(feature: str, trials: Any, tmp_path: Path) -> None:
    """All cases at stated counts; otherwise one of the feature alone, and one of it with another, by turns."""
    before, place = stored(), FEATURES.index(feature)
    alone, pairs = ([one for one in cases_of(feature) if len(one.features) == n] for n in (1, 2))
    # Those that are refused come last, so that a few are numbers wherever there are any.
    asked = [
        case
        for cases in (alone, pairs)
        for turn in [7 * place % max(1, len(cases))]
        for case in trials.some(sorted(cases[turn:] + cases[:turn], key=lambda one: before[one][1] == "-"), 50)
    ]
    wrong = {
        f"{' with '.join(case.features)}, {case.unit}, {case.price}, {case.reading}": changed
        for case, parts in found(asked, tmp_path).items()
        if (changed := [name for name, one, was in zip(PARTS, parts, before[case], strict=True) if one != was])
    }
    assert not wrong, f"{len(wrong)} of {len(asked)} cases differ from tests/golden/twins in these parts: {wrong}"
