"""Places of a public hierarchy: a tree of keys, how precisely each level is measured, and numbers that add up.

``docs/explanation/proofs/places.md`` has the argument.
"""

from chronodp.series.places.change import level_changes as level_changes, level_sensitivity as level_sensitivity
from chronodp.series.places.levels import (
    PLACE_COLUMNS as PLACE_COLUMNS,
    PlaceLevels as PlaceLevels,
    weights_of as weights_of,
)
from chronodp.series.places.noise import covariance_of as covariance_of, shares_of as shares_of, spread_of as spread_of
from chronodp.series.places.places import Places as Places
from chronodp.series.places.split import LevelShape as LevelShape, split_levels as split_levels

__all__: list[str] = []
