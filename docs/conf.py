"""How the documentation is built: `make docs`; warnings are errors.

The reference is written anew by every build: a page a room from its docstrings, and one of the command line from its
help. So are the examples, a page a script, and the claims. What takes minutes is computed by `make figures` (verdicts
and figures of the publications, what goes with what, notebooks as they ran); without it a note stands there.
"""

import gc
import json
import pkgutil
import subprocess
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import chronodp

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # before packages that are installed: others are called examples, too

from docs.pictures import growth  # noqa: E402
from examples.notebooks.write import cells, notebook, scripts, sources  # noqa: E402

project = "chronodp"
author = "The chronodp authors"
project_copyright = author
version = release = installed("chronodp")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_custom_sections = ["Guarantee"]
napoleon_use_ivar = True
default_role = "code"
suppress_warnings = ["ref.python"]  # a built-in type such as range is also the name of several attributes
# Where pages are only checked (`make test`), nobody sees what is around them: the tree beside each page, and pages of
# source code, take longer than everything that can be wrong.
html_theme = "basic" if tags.has("checked") else "furo"  # noqa: F821  # Sphinx puts it there
if tags.has("checked"):  # noqa: F821
    # Nodes of all pages stay until the end: to look for some that could go takes a fourth of the time.
    gc.disable()
    smartquotes = False  # the shape of quotes cannot be wrong
else:
    extensions += ["sphinx.ext.viewcode", "sphinx_copybutton"]
    templates_path = ["_templates"]
    html_static_path = ["_static"]
    html_css_files = ["chronodp.css"]
    html_favicon = "_static/icon.svg"
    html_js_files = ["scrolling.js"]
html_copy_source = False
html_title = f"chronodp {release}"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def write_reference(folder: Path) -> None:
    """Write a page for each public room, and one for the command line."""
    folder.mkdir(exist_ok=True)
    rooms = [info.name for info in pkgutil.iter_modules(chronodp.__path__) if info.ispkg and info.name != "cli"]
    for room in [*rooms, "errors"]:
        # What people call on a ledger and on a table of records is made of parts, each with some of the methods.
        parts = "   :inherited-members: object\n" if room in ("ledger", "dataset") else ""
        text = f"# chronodp.{room}\n\n```{{eval-rst}}\n.. automodule:: chronodp.{room}\n{parts}```\n"
        _write(folder / f"{room}.md", text)
    told = [sys.executable, "-m", "typer", "chronodp.cli.shell", "utils", "docs", "--name", "chronodp"]
    made = subprocess.run([*told, "--title", "The command line"], check=True, capture_output=True, text=True)
    _write(folder / "command-line.md", made.stdout)


def write_examples(folder: Path) -> None:
    """Write each example's script as a page."""
    folder.mkdir(exist_ok=True)
    for path in scripts():
        (_, title), *rest = cells(path.read_text(encoding="utf-8"))
        told = f"Run it with `python examples/{path.name}`."
        parts = [text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in rest]
        _write(folder / f"{path.stem}.md", "\n\n".join([title, told, *parts]) + "\n")


def write_notebooks(folder: Path) -> None:
    """Write each notebook as a page, with what its cells showed if it was run."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sources():
        run = path.with_suffix(".ipynb")
        text = path.read_text(encoding="utf-8")
        made = json.loads(run.read_text(encoding="utf-8")) if run.is_file() else notebook(text)
        title, *rest = made["cells"]
        command = f"`python -m examples.notebooks.write {path.stem}`"
        parts = ["".join(title["source"]), f"{command} makes and runs it as `examples/notebooks/{path.stem}.ipynb`."]
        for cell in rest:
            text = "".join(cell["source"])
            parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
            parts += [_output(one) for one in cell.get("outputs", [])]
        _write(folder / f"{path.stem}.md", "\n\n".join(parts) + "\n")


def _output(shown: dict[str, Any]) -> str:
    """Return what a cell showed: as HTML where there is some, else as text."""
    data = shown.get("data", {})
    if "text/html" in data:
        html = "".join(data["text/html"]).replace("<th></th>", "<td></td>")  # pandas heads columns without a name
        return f'````{{raw}} html\n<div class="output">{html}</div>\n````'
    return f"````text\n{''.join(shown.get('text') or data['text/plain']).rstrip()}\n````"


def _write(path: Path, text: str) -> None:
    """Write a page unless it says that already: Sphinx reads again whatever was written."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_computed(folder: Path) -> None:
    """Write the claims, how cost was seen to grow, and a note for every page that was not computed."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.audit.claims"]
    claims = subprocess.run(command, cwd=HERE.parent, check=True, capture_output=True, text=True)
    _write(folder / "claims.md", claims.stdout)
    _write(folder / "growth.svg", growth.draw())
    picture = "![What a release costs as its table grows, by rows](../generated/growth.svg)"
    _write(folder / "growth.txt", f"{picture}\n\n{growth.table()}\n")
    for name, title in (
        ("combinations", "What goes with what"),
        ("verdicts", "What the sources say, and what we find"),
        ("verdict-coverage", "Which computation decides which verdict"),
        ("figures-of-the-papers", "Figures of the papers"),
        ("figures-found", "Figures of what we find"),
    ):
        page = folder / f"{name}.md"
        if not page.is_file():
            _write(page, f"# {title}\n\nNot computed for this build: `make figures` computes this page, in minutes.\n")


def setup(app: Any) -> None:
    """Write the tree of all pages once a folder for pages of source code, which stand nowhere in it.

    For them it differs by the way back to the top alone, and it takes longer to write than everything else on a page.
    """
    written: dict[object, str] = {}

    def share(_app: Any, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
        if "toctree" in context and page.startswith("_modules/"):
            whole, folder = context["toctree"], page.rpartition("/")[0]

            def tree(**asked: Any) -> str:
                key = (folder, *sorted(asked.items()))
                if key not in written:
                    written[key] = whole(**asked)
                return written[key]

            context["toctree"] = tree

    app.connect("html-page-context", share, priority=400)  # before the theme's, which asks for the tree
    if tags.has("checked"):  # noqa: F821
        app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))  # nobody looks for a word


write_computed(HERE / "generated")
write_reference(HERE / "reference" / "generated")
write_examples(HERE / "examples" / "generated")
write_notebooks(HERE / "examples" / "generated" / "notebooks")
