"""Is k > 1 worth its cost? CC-BFS-k on planted partitions: F1 and CPU time by k ([GRAPH] section 6).

    python benchmarks/communities.py

Four groups of 32 nodes; mining starts from three nodes of one group and ends at 32 members; 20 graphs per density.
"""

from __future__ import annotations

import statistics
import time

import networkx

from scenthound.lab.commands.lab_communities import scores
from scenthound.papers.cc_bfs import ring_weights
from scenthound.papers.parts.clustering import mine, neighbour_graph

GRAPHS, SIZE, GROUPS = 20, 32, 4
DENSITIES = ((0.5, 0.02), (0.4, 0.05), (0.3, 0.05))


def measured(inside: float, between: float, k: int) -> tuple[float, float, float]:
    """Mean F1, its standard error, and CPU milliseconds per graph."""
    f1, spent = [], 0.0
    for seed in range(GRAPHS):
        partition = networkx.planted_partition_graph(GROUPS, SIZE, inside, between, seed=seed)
        graph = neighbour_graph((str(a), str(b)) for a, b in partition.edges)
        before = time.process_time()
        community = mine(graph, ["0", "1", "2"], ring_weights("", k), wanted=SIZE)
        spent += time.process_time() - before
        f1.append(scores(community.members, {str(node) for node in range(SIZE)}).f1)
    return statistics.mean(f1), statistics.stdev(f1) / GRAPHS**0.5, 1000.0 * spent / GRAPHS


def main() -> None:
    print("| links inside, between | k | F1 | CPU ms |\n|---|---|---|---|")
    for inside, between in DENSITIES:
        for k in (1, 2, 3):
            mean, error, cost = measured(inside, between, k)
            print(f"| {inside}, {between} | {k} | {mean:.3f} ± {error:.3f} | {cost:.1f} |")


if __name__ == "__main__":
    main()
