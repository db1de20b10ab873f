"""Training across holders that keep their data: private updates, added up without being seen.

A `Holder` turns parameters into an update that is private already; a `Federation` adds updates up, round by round, in
this process. `chronodp.federated.aggregation` hides single updates from the server; `chronodp.federated.transport`
brings holders in other places together over HTTP.
"""

from chronodp.federated.holder import Holder, Task, load_holder
from chronodp.federated.rounds import Federation, Round

__all__ = ["Federation", "Holder", "Round", "Task", "load_holder"]
