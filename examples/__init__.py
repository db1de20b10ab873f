"""Six whole jobs, each in one file; nothing of the library imports them."""
