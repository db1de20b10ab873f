"""Holders in several places: a server and its clients over HTTP, with TLS, tokens and state that survives.

`run_file` reads what all agree on, `server` keeps rounds going, `participant` takes part in them.
"""

__all__: list[str] = []
