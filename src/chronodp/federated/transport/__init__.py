"""Holders in several places: a server and its clients over HTTP, with TLS, tokens and state that survives.

`run_file` reads what all agree on, `server` keeps rounds going, `participant` takes part in them.
"""

from typing import TYPE_CHECKING

from chronodp.extras import late

if TYPE_CHECKING:
    from chronodp.federated.transport.participant import take_part as take_part
    from chronodp.federated.transport.run_file import read_run as read_run
    from chronodp.federated.transport.server import serve as serve
    from chronodp.federated.transport.tokens import issue_token as issue_token, read_token as read_token

__all__: list[str] = []

if not TYPE_CHECKING:  # what serves and what trains needs libraries that not everyone has
    __getattr__ = late(
        __name__,
        {
            "issue_token": "tokens",
            "read_run": "run_file",
            "read_token": "tokens",
            "serve": "server",
            "take_part": "participant",
        },
    )
