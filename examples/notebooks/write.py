"""Writes each example's script as a notebook, so that nothing is written twice: `python -m examples.notebooks.write`.

A script is made of cells: its docstring and each `# %% [markdown]` are text, each `# %%` is code.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["cells", "notebook", "scripts"]

HERE = Path(__file__).parent
_MARK = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


def scripts() -> list[Path]:
    """Return the examples' scripts, by name."""
    return sorted(HERE.parent.glob("[!_]*.py"))


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


def notebook(script: str) -> str:
    """Return the script as a notebook, in the format's version 4.5 and without outputs."""
    made = []
    for number, (kind, text) in enumerate(cells(script)):
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell | {"source": text.splitlines(keepends=True)})
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in scripts():
        (HERE / f"{path.stem}.ipynb").write_text(notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
