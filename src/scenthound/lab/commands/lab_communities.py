"""`scenthound lab communities`: find the community around given nodes of a graph; and the files that it reads: edge
lists and known communities ([GRAPH] section 1).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import click

from scenthound.cli.output import emit, json_option, option, repeatable, say
from scenthound.errors import BadConfig, BadUsage, from_os_error
from scenthound.formats import printable
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


@click.command()
@click.argument("graph", type=click.Path(path_type=Path))
@repeatable("--seed seeds", "NODE", "A node that is known to belong to the community.")
@option("--k", "N", "Number of rings of neighbours to count.", type=click.IntRange(1, 8), default=1, show_default=True)
@option("--weights", "LIST", 'Weight of each ring, e.g. "1 0.5".  [default: half of the previous ring]', default="")
@option("--step", "N", "Nodes to judge at a time; 0: whole levels.", type=click.IntRange(min=0), default=0)
@option("--wanted", "N", "Stop at N members; 0: when no candidate is left.", type=click.IntRange(min=0), default=0)
@option("--known", "FILE", "The true community, one node per line; prints precision and recall.", type=Path)
@json_option
def communities(
    graph: Path,
    seeds: tuple[str, ...],
    k: int,
    weights: str,
    step: int,
    wanted: int,
    known: Path | None,
    as_json: bool,
) -> None:
    """Print the community around the seeds in GRAPH, an edge list, using the rule of `cc-bfs`; one node per line.

    \b
      $ scenthound lab communities karate.txt --seed 33 --seed 32
      $ scenthound lab communities karate.txt --seed 33 --known officers.txt --k 2
    """
    from scenthound.papers.cc_bfs import ring_weights
    from scenthound.papers.parts.clustering import mine

    if not seeds:
        raise BadUsage("no seed: give at least one node of the community", "add --seed NODE")
    edges = read_edges(graph)
    for seed in seeds:
        if edges.number(seed) is None:
            raise BadUsage(f"{graph} has no node {printable(seed, 80)}", f"one of its nodes is {edges.names[0]}")
    community = mine(edges, seeds, ring_weights(weights, k), step, wanted)
    measured = None if known is None else scores(community.members, read_members(known))
    if as_json:
        document = {"members": list(community.members), "rejected": list(community.rejected), "steps": community.steps}
        emit(document | ({} if measured is None else measured._asdict()))
        return
    for member in community.members:
        click.echo(printable(member, 1000))
    say(f"{len(community.members):,} members of {len(edges):,} nodes, {len(community.rejected):,} rejected")
    if measured is not None:
        say(f"precision {measured.precision:.3f}, recall {measured.recall:.3f}, F1 {measured.f1:.3f}")
