"""Where the page's files are found: nothing comes from elsewhere, and nothing is copied into the project."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from os import PathLike, stat_result
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.types import Scope

from chronodp.report import house_style
from chronodp.series import ASKABLE
from chronodp.service.sessions import COOKIE

__all__ = ["mount_page"]

_HERE = Path(__file__).parent
_VIEWS = ("sign-in", "datasets", "ask", "releases", "release", "budget", "live", "claims", "check", "desk")


def mount_page(app: FastAPI) -> None:
    """Serve the page at ``/``, its own files below ``/static/``, and Plotly's script at ``/plotly.js``.

    The page holds no data: its script signs in and asks the API, under the same rules as everyone.
    """
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(default=True), auto_reload=False
    )

    @app.get("/", include_in_schema=False)
    def index(request: Request) -> HTMLResponse:
        content = {
            "title": request.app.state.curator.policy.running.title,
            "views": _VIEWS,
            "askable": ASKABLE,
            "plotly": _plotly_version(),
            "unwanted_styles": _plotly_styles(),
            "signed_in": COOKIE in request.cookies,  # whether it still holds, the API tells
        }
        return HTMLResponse(templates.get_template("index.html").render(content))

    @app.get("/plotly.js", include_in_schema=False)
    def plotly(request: Request) -> Response:
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(_packed_plotly(), media_type="text/javascript", headers=headers)
        return Response(_plotly(), media_type="text/javascript", headers=headers)

    @app.get("/static/house.css", include_in_schema=False)
    def style() -> Response:
        return Response(house_style(), media_type="text/css", headers={"Cache-Control": "no-cache"})

    app.mount("/static", _OwnFiles(directory=_HERE / "static"), name="static")


class _OwnFiles(StaticFiles):
    """Our own files; a browser keeps them and asks each time whether they have changed."""

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "no-cache"
        return response


@lru_cache(maxsize=1)
def _packed_plotly() -> bytes:
    return gzip.compress(_plotly(), compresslevel=6)


@lru_cache(maxsize=1)
def _plotly() -> bytes:
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text.encode()


@lru_cache(maxsize=1)
def _plotly_styles() -> tuple[str, ...]:
    """Return the ids of the style elements that Plotly brings along for maps, unless elements with them are there."""
    return tuple(re.findall(r'getElementById\("([0-9a-f]{64})"\)', _plotly().decode()))


@lru_cache(maxsize=1)
def _plotly_version() -> str:
    from plotly.offline import get_plotlyjs_version

    version: str = get_plotlyjs_version()
    return version
