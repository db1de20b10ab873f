"""The paper on temporal perturbation, claim by claim."""
