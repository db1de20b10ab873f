"""Numbers of a tree of places that add up: the best estimate, its covariance, and rounding that keeps the sums.

The argument stands in ``docs/explanation/proofs/places.md``.
"""

from chronodp.postprocess.hierarchy.covariance import TreeCovariance as TreeCovariance
from chronodp.postprocess.hierarchy.passes import add_up_leaves as add_up_leaves, add_up_tree as add_up_tree
from chronodp.postprocess.hierarchy.rounding import round_leaves as round_leaves
from chronodp.postprocess.hierarchy.tree import PlaceTree as PlaceTree

__all__: list[str] = []
