"""Applications: budgets of a smart grid, heat and beat of buildings, and what anonymised trajectories tell."""
