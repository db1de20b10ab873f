"""Lets ``python -m chronodp`` be the command line."""

from __future__ import annotations

from chronodp.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
