"""What goes with what: every pair of features tried at every door, and the page that tells it.

``python -m tests.contracts.combinations`` writes the page for the documentation. A new feature is a line in
``features.py``.
"""
