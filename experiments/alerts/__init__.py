"""Alerts on room air: delay and false alarms against the budget, and what sources say of noisy comparisons."""
