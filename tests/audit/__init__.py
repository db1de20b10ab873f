"""Every claim attacked, and mutants that must be caught: ``python -m tests.audit`` prints all of it."""
