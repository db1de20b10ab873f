"""The contracts that rooms meet at their faces, and that no circle of files import each other.

What a package's ``__init__`` names is its face: all of it that others may import.
"""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

__all__ = ["CirclesContract", "FacesContract", "face_of"]


class FacesContract(Contract):
    """Refuse imports of another room's modules past its packages: their ``__init__`` is their face.

    Attributes:
        container: the package whose subpackages are the rooms.
    """

    container = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return whether every import between rooms ends at a package, or at a name that a package shows."""
        del verbose
        container = str(self.container)
        past = []
        for room in sorted(graph.find_children(container)):
            inner = graph.find_descendants(room)
            for module in sorted(inner):
                package, _, name = module.rpartition(".")
                if graph.find_children(module) or name in face_of(package):
                    continue
                importers = graph.find_modules_that_directly_import(module) - inner - {room, container}
                past += [(importer, module) for importer in sorted(importers)]
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import, and the mend."""
        for importer, module in check.metadata["past"]:
            output.print_error(f"{importer} imports {module}: take it from the face, {module.rpartition('.')[0]}")


class CirclesContract(Contract):
    """Refuse files that import each other in a circle, be it for types alone."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return whether files can be put in an order in which each imports only earlier ones."""
        del verbose
        order = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
        try:
            order.prepare()
        except CycleError as error:
            return ContractCheck(kept=False, metadata={"circle": error.args[1]})
        return ContractCheck(kept=True)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name one circle."""
        output.print_error(" is imported by ".join(check.metadata["circle"]))


@cache
def face_of(package: str) -> frozenset[str]:
    """Return all names that a package's ``__init__`` imports from its own modules."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise AssertionError(f"{package} is in the graph, and cannot be found")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return frozenset(alias.asname or alias.name for node in froms for alias in node.names)
