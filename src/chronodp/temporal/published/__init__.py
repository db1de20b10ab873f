"""The mechanisms of the publication on temporal perturbation: Backward, Forward and Threshold.

They give no differential privacy. Each says what it does promise, and what an observer can rule out.
"""

__all__: list[str] = []
