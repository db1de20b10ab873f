"""Speed and utility, side by side with peers in one run."""
