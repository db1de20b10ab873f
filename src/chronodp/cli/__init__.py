"""The command line: a thin shell over the library."""

from chronodp.cli.shell import main

__all__ = ["main"]
