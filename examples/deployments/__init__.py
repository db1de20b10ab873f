"""Public deployments of differential privacy, made again by the front door."""
