"""Private model selection: which utilities find the right order, at which epsilon."""
