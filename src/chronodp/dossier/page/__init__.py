"""The page of a dossier: one file that needs no script and no network, in the light and in the dark."""

from chronodp.dossier.page.page import render as render
from chronodp.dossier.page.shelf import render_shelf as render_shelf

__all__: list[str] = []
