"""The routes of the API, one module a subject."""

__all__: list[str] = []
