"""The page in the browser: templates, our own script and style, and Plotly's script from its installed wheel."""

from chronodp.service.page.mount import mount_page

__all__ = ["mount_page"]
