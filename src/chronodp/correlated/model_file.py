"""A model as a JSON text: dense, or a list of edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.privacy import check_whole
from chronodp.reading import closed_file, parse_json, read_text

__all__ = ["model_from_json", "model_to_json", "read_model"]

_MOST_SEQUENCES = 10_000_000
_SHAPE = (
    '{"transitions": …, "coupling": [[…], …]}, or {"sequences": s, "edges": [[to, from, weight], …], "transitions": …}'
)


@closed_file()
def read_model(path: str | Path) -> CouplingMarkovChain:
    """Return the model in a file."""
    return model_from_json(read_text("model", path))


def model_from_json(text: str) -> CouplingMarkovChain:
    """Return the model that a JSON text describes.

    ``transitions`` is one matrix for all, or one a pair (dense) or one an edge, in the order of the edges.

    >>> model_from_json('{"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[1, 0], [0.5, 0.5]]}')
    CouplingMarkovChain(2 sequences of 2 states, 3 edges)
    """
    content = parse_json(text)
    if not isinstance(content, dict) or "transitions" not in content or not {"coupling", "edges"} & content.keys():
        raise UnknownDocument(f"not a model; a model is {_SHAPE}")
    if "coupling" in content:
        return CouplingMarkovChain(content["transitions"], content["coupling"])
    return _from_edges(content)


def model_to_json(model: CouplingMarkovChain) -> str:
    """Return the model as a JSON text, edge by edge."""
    edges = [
        [int(j), int(k), float(weight)] for j, k, weight in zip(model.heads, model.tails, model.weights, strict=True)
    ]
    transitions = (model.moves / model.weights[:, None, None]).tolist()
    return json.dumps({"sequences": model.sequences, "edges": edges, "transitions": transitions})


def _from_edges(content: dict[str, Any]) -> CouplingMarkovChain:
    from scipy.sparse import coo_array

    try:
        edges = np.asarray(content["edges"], dtype=np.float64)
        sequences = check_whole("sequences", content["sequences"], most=_MOST_SEQUENCES)
        transitions = np.asarray(content["transitions"], dtype=np.float64)
        to, of, weights = edges.T
        ends = edges[:, :2]
        if not np.all((ends == np.floor(ends)) & (ends >= 0) & (ends < sequences)):
            raise InvalidArgument("edges", "other numbers", f"[to, from, weight], sequences from 0 to {sequences - 1}")
        coupling = coo_array((weights, (to.astype(np.int64), of.astype(np.int64))), shape=(sequences, sequences))
    except InvalidArgument:
        raise
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        raise UnknownDocument(f"not a model; a model is {_SHAPE}") from None
    order = np.lexsort((of, to))
    if transitions.ndim == 3 and len(transitions) == len(order):
        transitions = transitions[order][weights[order] > 0]
    return CouplingMarkovChain(transitions, coupling)
