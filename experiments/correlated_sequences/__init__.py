"""The paper on correlated-sequence differential privacy, claim by claim."""
