"""What goes with what: every pair of features tried at every door, and the page that tells it.

``python -m tests.contracts.combinations`` prints the page of what goes with what. A new feature is a line in
``features.py``.
"""
