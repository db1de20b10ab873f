"""A person's whole life: one price, paid once, for a series that is published for ever."""
