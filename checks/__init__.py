"""What ``make quick``, ``make test`` and ``make verify`` run, side by side, with what held at the end."""
