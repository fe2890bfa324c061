"""`scenthound lab communities`: find the community around given nodes of a graph."""

from __future__ import annotations

from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, option, repeatable, say
from scenthound.errors import BadUsage
from scenthound.formats import printable


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
    from scenthound.lab.community_files import read_edges, read_members, scores
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
