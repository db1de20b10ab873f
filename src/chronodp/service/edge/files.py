"""Room for connections: each is an open file of the process."""

from __future__ import annotations

from chronodp.errors import InvalidArgument

__all__ = ["allow_files"]

_SPARE = 256  # beside connections: databases, tables, the page's own


def allow_files(connections: int) -> None:
    """Let this process, and those it starts, hold so many connections; or say that the system does not."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _SPARE
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        allowed = f"at most {max(0, hard - _SPARE)}, or more open files allowed (ulimit -n)"
        raise InvalidArgument("service.edge.connections", connections, allowed)
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
