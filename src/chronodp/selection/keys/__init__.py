"""Which keys are published: rules that decide by people counted, and know no engine and no file."""

from chronodp.selection.keys.largest import Peel as Peel
from chronodp.selection.keys.optimal import OptimalRule as OptimalRule
from chronodp.selection.keys.published import CountNoise as CountNoise, PublishedCounts as PublishedCounts
from chronodp.selection.keys.rounds import (
    Decided as Decided,
    Round as Round,
    Rounds as Rounds,
    Weigh as Weigh,
    decide as decide,
)
from chronodp.selection.keys.threshold import Held as Held, threshold_for as threshold_for
from chronodp.selection.keys.weights import weights_of as weights_of

__all__: list[str] = []
