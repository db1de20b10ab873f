"""Writes each script of this folder as a notebook that has been run: `python -m examples.notebooks.write [NAME...]`.

A script is made of cells: its docstring and each `# %% [markdown]` are text, each `# %%` is code. Scripts of the folder
above are made of the same cells; the documentation shows them.
"""

import ast
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["cells", "notebook", "run", "scripts", "sources"]

HERE = Path(__file__).parent
_MARK = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
_KEPT = ("text/html", "text/plain")  # what every reader of notebooks shows, without a script


def scripts() -> list[Path]:
    """Return the examples' scripts, by name."""
    return sorted(HERE.parent.glob("[!_]*.py"))


def sources() -> list[Path]:
    """Return the scripts that notebooks are written from, by name."""
    return sorted(path for path in HERE.glob("[!_]*.py") if path.name != Path(__file__).name)


def cells(script: str) -> Iterator[tuple[str, str]]:
    """Return the kind and the text of each cell: "markdown" or "code", and what stands in it."""
    title = ast.get_docstring(ast.parse(script))
    if title:
        yield "markdown", title
    _, *parts = _MARK.split(script)
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        if mark:
            yield "markdown", re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)
        else:
            yield "code", text.strip()


def notebook(script: str) -> dict[str, Any]:
    """Return the script as a notebook, in the format's version 4.5 and without outputs."""
    made = []
    for number, (kind, text) in enumerate(cells(script)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell | {"source": text.splitlines(keepends=True)})
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def run(script: str) -> dict[str, Any]:
    """Return the script as a notebook with what its cells show, run from top to bottom in an empty folder."""
    import nbclient
    import nbformat

    made = notebook(script)
    with tempfile.TemporaryDirectory() as folder:
        told = nbformat.reads(json.dumps(made), as_version=4)  # type: ignore[no-untyped-call]
        place = {"metadata": {"path": folder}}
        # What a cell prints may come in any number of pieces.
        options: dict[str, Any] = {"kernel_name": "python3", "resources": place, "coalesce_streams": True}
        done = nbclient.NotebookClient(told, timeout=300, **options).execute()
    for cell, seen in zip(made["cells"], done.cells, strict=True):
        if cell["cell_type"] == "code":
            cell |= {"execution_count": seen.execution_count, "outputs": [_kept(one) for one in seen.outputs]}
    return made


def _kept(output: Any) -> dict[str, Any]:
    """Return an output without what only some programs show, and without anything of the machine that it ran on."""
    if output.output_type == "stream":
        return {"name": output.name, "output_type": "stream", "text": output.text.splitlines(keepends=True)}
    data = {kind: output.data[kind].splitlines(keepends=True) for kind in _KEPT if kind in output.data}
    number = {"execution_count": output.execution_count} if output.output_type == "execute_result" else {}
    return {"data": data, "metadata": {}, "output_type": output.output_type, **number}


def _write(path: Path) -> None:
    made = run(path.read_text(encoding="utf-8"))
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    path.with_suffix(".ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for source in sources():
        if source.stem in sys.argv[1:] or len(sys.argv) == 1:
            _write(source)
