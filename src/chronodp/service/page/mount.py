"""Where the page's files are found: nothing comes from elsewhere, and nothing is copied into the project."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, select_autoescape

__all__ = ["mount_page"]

_HERE = Path(__file__).parent
_CACHED = {"Cache-Control": "public, max-age=86400"}


def mount_page(app: FastAPI) -> None:
    """Serve the page at ``/``, its own files below ``/static/``, and Plotly's script at ``/plotly.js``.

    The page holds no data: its script signs in and asks the API, under the same rules as everyone.
    """
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(default=True), auto_reload=False
    )

    @app.get("/", include_in_schema=False)
    def index(request: Request) -> HTMLResponse:
        title = request.app.state.curator.policy.running.title
        return HTMLResponse(templates.get_template("index.html").render(title=title))

    @app.get("/plotly.js", include_in_schema=False)
    def plotly() -> Response:
        return Response(_plotly(), media_type="text/javascript", headers=_CACHED)

    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")


@lru_cache(maxsize=1)
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text
