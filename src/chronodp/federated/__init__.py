"""Training across holders that keep their data: private updates, added up without being seen.

A `Holder` turns parameters into an update that is private already; a `Federation` adds updates up, round by round, in
this process. `chronodp.federated.aggregation` hides single updates from the server; `chronodp.federated.protocol` is
the same between places, as messages in and messages out, which `chronodp.federated.flower` has Flower carry.
"""

from typing import TYPE_CHECKING

from chronodp.extras import late
from chronodp.federated import models as models
from chronodp.federated.holder import Holder, Task
from chronodp.federated.rounds import Federation, Round

if TYPE_CHECKING:
    from chronodp.federated.choosing import choose_model as choose_model
    from chronodp.federated.forecasts import choose_band as choose_band

__all__ = ["Federation", "Holder", "Round", "Task"]

if not TYPE_CHECKING:  # what trains needs libraries that not everyone has
    __getattr__ = late(__name__, {"choose_band": "forecasts", "choose_model": "choosing"})
