"""Files for community mining on plain graphs: edge lists, known communities, and scores ([GRAPH] section 1)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import BadConfig, from_os_error
from scenthound.papers.parts.clustering import NeighbourGraph

MAX_FILE = 1_000_000_000  # bytes


class Agreement(NamedTuple):
    """How well a mined community agrees with the known one: precision, recall, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def read_edges(path: Path) -> NeighbourGraph:
    """The graph of an edge list: two names per line, separated by spaces, tabs or a comma. `#` starts a comment."""
    graph = NeighbourGraph()
    for line_number, fields in _lines(path):
        if len(fields) < 2:
            raise BadConfig(f"{path} line {line_number} is not an edge", "each line names two nodes, such as: a b")
        if graph.is_full:
            raise BadConfig(f"{path} has more than {graph.most:,} edges", "mine a part of the graph")
        graph.connect(graph.add(fields[0]), graph.add(fields[1]))
    if not len(graph):
        raise BadConfig(f"{path} has no edges", "each line names two nodes, such as: a b")
    return graph


def read_members(path: Path) -> set[str]:
    """The nodes of a known community: the first name of each line."""
    members = {fields[0] for _, fields in _lines(path)}
    if not members:
        raise BadConfig(f"{path} names no node", "write one node per line")
    return members


def scores(mined: Collection[str], known: Collection[str]) -> Agreement:
    """Compare a mined community with the known one.

    >>> scores(["a", "b"], ["a", "c"])
    Agreement(precision=0.5, recall=0.5, f1=0.5)
    """
    hits = len(set(mined).intersection(known))
    if not hits:
        return Agreement(0.0, 0.0, 0.0)
    precision, recall = hits / len(set(mined)), hits / len(set(known))
    return Agreement(precision, recall, 2.0 * precision * recall / (precision + recall))


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The fields of each line that has any, with its number."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise BadConfig(f"{path} is larger than {MAX_FILE:,} bytes", "mine a part of the graph")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"{path} can't be read: {error.strerror}", "check the path")
        ) from None
    split = (
        (number, line.partition("#")[0].replace(",", " ").split()) for number, line in enumerate(text.split("\n"), 1)
    )
    return [(number, fields) for number, fields in split if fields]
