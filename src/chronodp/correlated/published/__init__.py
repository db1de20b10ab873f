"""What publications on coupled sequences define: formulas, baselines and neighbouring definitions.

Nothing here backs a guarantee. Each stands under its true promise, beside what this room computes itself.
"""

__all__: list[str] = []
