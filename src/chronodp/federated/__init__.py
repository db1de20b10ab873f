"""Training across holders that keep their data: private updates, added up without being seen.

A `Holder` turns parameters into an update that is private already; a `Federation` adds updates up, round by round, in
this process. `chronodp.federated.aggregation` hides single updates from the server; `chronodp.federated.transport`
brings holders in other places together over HTTP.
"""

from typing import TYPE_CHECKING

from chronodp.extras import late
from chronodp.federated.holder import Holder, Task, load_holder
from chronodp.federated.rounds import Federation, Round

if TYPE_CHECKING:
    from chronodp.federated.choosing import choose_model as choose_model
    from chronodp.federated.forecasts import choose_band as choose_band

__all__ = [
    "Federation",
    "Holder",
    "Round",
    "Task",
    "load_holder",
]

if not TYPE_CHECKING:  # what serves and what trains needs libraries that not everyone has
    __getattr__ = late(__name__, {"choose_band": "forecasts", "choose_model": "choosing"})
