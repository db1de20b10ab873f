"""The textbook chapter on private time series: every formula and example, checked."""
