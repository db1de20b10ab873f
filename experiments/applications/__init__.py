"""Applications: budgets of a smart grid, and what anonymised trajectories tell."""
