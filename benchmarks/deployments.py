"""Every deployment once: whom it protects at what price, and the error that it prints."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Topic, show

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples/deployments"
PROGRAMS = {path.stem: path for path in sorted(FOLDER.glob("[!_]*.py")) if path.stem != "made_up"}


def unit_and_price(program: Path) -> str:
    """Return the first sentence of what a program says of its unit and price."""
    told = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    (part,) = re.findall(r"\*\*Unit and price\.\*\* (.*?)\n\n", told, re.DOTALL)
    return re.split(r"(?<=[a-z0-9)])\.\s", " ".join(part.split()) + " ")[0]


def printed_errors(text: str) -> str:
    """Return the lines about true errors (of a model, how good it is): not those of plans, which are expectations."""
    lines = [line.strip() for line in text.splitlines() if re.match(r"\s*(Error( of|:)|Area under)", line)]
    return " ".join(lines)


def run(name: str) -> tuple[str, float]:
    """Run one deployment in a folder of its own, and return what it prints and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-m", f"examples.deployments.{name}"]
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout, time.perf_counter() - start


def measure() -> Topic:
    topic = Topic(
        f"The {len(PROGRAMS)} deployments: unit, price, and the error of what is published",
        "python -m benchmarks.deployments",
        ("deployment", "unit and price", "error that it prints", "seconds"),
    )
    for name, program in PROGRAMS.items():
        told, seconds = run(name)
        topic.rows.append((f"`{name}`", unit_and_price(program), printed_errors(told), f"{seconds:.1f}"))
    topic.notes = [
        "each program of `examples/deployments` once, on made-up people, the same each time; noise is drawn anew. "
        "Seconds with imports",
        "errors are against the truth, which only an example knows",
    ]
    return topic


if __name__ == "__main__":
    show(measure)
