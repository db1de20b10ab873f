"""Alerts on room air: delay and needless alarms against the budget, and what sources say of noisy comparisons."""
