"""The worked examples of sheet 50, for `golden.py`: clustering, alliance, PageRank and HITS, and orders of a crawl."""

from __future__ import annotations

from typing import Any

from golden import Inputs, answers, toy_walk
from scenthound.lab.testing import TinyWeb, walk
from scenthound.papers.backlink_count import BacklinkCount
from scenthound.papers.cc_bfs import CcBfs, Level
from scenthound.papers.pagerank_order import PageRankOrder
from scenthound.papers.parts.clustering import alliance, clustering, generalised, neighbour_graph, ring_shares
from support.golden_lab import pr

answers("pr")(pr)


@answers("cc")
def clustering_crawls(inputs: Inputs) -> dict[str, Any]:
    return {lookahead: clustering_crawl(inputs, CcBfs(lookahead=lookahead)) for lookahead in ("known", "fetch")}


def clustering_crawl(inputs: Inputs, strategy: CcBfs) -> dict[str, Any]:
    """A crawl of the small graph, every page of which has a host of its own: its order, S and all verdicts."""
    web = TinyWeb(
        {f"{page}.test/": " -> " + " ".join(f"{to}.test/" for to in to_all) for page, to_all in links(inputs)}
    )
    levels: list[Any] = []

    def name(number: int) -> str:
        return strategy.graph_.names[number].removeprefix("http://").removesuffix(".test/")

    def note(level: Level) -> None:
        levels.append(
            [
                "relaxed" if level.is_relaxed else "strict",
                [name(number) for number in level.candidates],
                [name(number) for number in level.beyond],
                [[name(one.number), *one[1:]] for one in level.verdicts],
                [name(number) for number in level.accepted],
            ]
        )

    strategy.on_level_ = note
    walked = walk(web, strategy, "", [f"{seed}.test/" for seed in inputs["CC_SEEDS"]])
    fetched = [url.removeprefix("http://").removesuffix(".test/") for url in walked.visited]
    accepted = [*inputs["CC_SEEDS"], *(name for level in levels for name in level[4])]
    assert sorted(accepted) == sorted(map(name, strategy.accepted_))
    return {"fetched": fetched, "S": accepted, "steps": levels}


def links(inputs: Inputs) -> list[tuple[str, list[str]]]:
    return list(inputs["CC_LINKS"].items())


@answers("gc")
def coefficients(inputs: Inputs) -> dict[str, Any]:
    graph = neighbour_graph((one, other) for one, other in inputs["GC_EDGES"])
    node, weights = graph.add(inputs["GC_NODE"]), inputs["GC_W"]
    on_topic = {graph.add(name) for name in inputs["AL_TOPIC"]}
    return {
        "c": {name: clustering(graph, number) for name, number in sorted((n, graph.add(n)) for n in graph.names)},
        "f": ring_shares(graph, node, len(weights)),
        "gc": generalised(graph, node, weights),
        "alliance": list(alliance(graph, graph.add(inputs["AL_NODE"]), on_topic)),
    }


@answers("order")
def url_orders(inputs: Inputs) -> dict[str, Any]:
    """Crawls of the toy web; beside each URL the value it was taken for, which of a seed is not its score."""
    backlinks = toy_walk(inputs, BacklinkCount())
    ranks = toy_walk(inputs, PageRankOrder(every=1))
    return {
        "backlink": [[step.url, int(step.parts["backlinks"])] for step in backlinks.steps],
        "pagerank": [[step.url, step.parts["pagerank"]] for step in ranks.steps],
    }
