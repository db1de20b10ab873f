"""Lets ``python -m chronodp`` be the command line."""

from chronodp.cli import main

if __name__ == "__main__":
    main()
