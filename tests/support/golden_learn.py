"""The worked examples of sheets 30.1 to 30.3, for `golden.py`: naive Bayes, Bayesian crawl, taxonomy and distiller."""

from __future__ import annotations

import random
from typing import Any, get_args

import numpy as np

from golden import Inputs, answers
from scenthound.graph.link_graph import edge_graph
from scenthound.graph.link_scores import across_hosts, distil, nearest_rank
from scenthound.lab.testing import TinyLessons, TinyWeb, walk
from scenthound.papers.bayes import Bayes
from scenthound.papers.parts.naive_bayes import Events, NaiveBayes
from scenthound.papers.parts.taxonomy import Tree, TreeClassifier
from scenthound.text.tokens import Analyser

PLAIN = Analyser("small", stem=False)


@answers("nb")
def naive_bayes(inputs: Inputs) -> dict[str, float]:
    found = {}
    for events in get_args(Events):
        made = NaiveBayes(list(dict.fromkeys(label for _, label in inputs["NB_TRAIN"])), events)
        for text, label in inputs["NB_TRAIN"]:
            made.add(label, PLAIN.counts(text))
        found |= {f"{events}:{text}": made.posterior("goal", PLAIN.counts(text)) for text in inputs["NB_TEST"]}
    return found


@answers("bayes")
def bayesian_crawl(inputs: Inputs) -> dict[str, Any]:
    return {events: bayesian_run(inputs, events) for events in get_args(Events)}


def bayesian_run(inputs: Inputs, events: str) -> dict[str, Any]:
    """A crawl of the small web, every page of which has a host of its own."""
    # A picture without `alt` is a link without words: the anchors must not add any to the pages.
    web = {
        f"{name}.test/": f"<p>{text}</p>"
        + "".join(f'<a href="http://{to}.test/"><img src="x.png"></a>' for to in inputs["V_LINKS"][name])
        for name, text in inputs["V_PAGES"].items()
    }
    taught = {f"{label}{place}.test/": f"<p>{text}</p>" for place, (text, label) in enumerate(inputs["V_TRAIN"])}
    lessons = TinyLessons(
        TinyWeb(taught),
        "",
        " ".join(name for name in taught if name.startswith("goal")),
        " ".join(name for name in taught if name.startswith("other")),
    )
    made = Bayes(mode="fetch-all", events=events, goal=inputs["V_GOAL"], rescore_every=1, stop_words="small")
    made.train(lessons, random.Random(0), lambda _: None)
    selected: list[list[Any]] = []
    made.on_select_ = lambda url, probability: selected.append([label(url), probability])
    walked = walk(TinyWeb(web), made, "", next(iter(web)))
    return {"selected": selected, "fetched": [label(url) for url in walked.visited]}


def label(url: str) -> str:
    return url.removeprefix("http://").removesuffix(".test/")


@answers("tax")
def taxonomy(inputs: Inputs) -> dict[str, Any]:
    tree = Tree(inputs["TAX"], inputs["TAX_GOOD"])
    made = TreeClassifier.learn(tree, [(category, PLAIN.counts(text)) for text, category in inputs["TAX_TRAIN"]])
    found = {}
    for text in inputs["TAX_TEST"]:
        counts = PLAIN.counts(text)
        leaf, _ = made.best_leaf(counts)
        found[text] = {
            "p": made.probabilities(counts),
            "soft": made.relevance(counts).probability,
            "hard": [leaf, tree.is_good(leaf)],
        }
    return found


@answers("distil")
def distiller(inputs: Inputs) -> dict[str, Any]:
    graph = edge_graph(sorted(inputs["DIST_REL"]), inputs["DIST_EDGES"])
    numbers = {host: number for number, host in enumerate(sorted(set(inputs["DIST_HOST"].values())))}
    hosts = np.array([numbers[inputs["DIST_HOST"][name]] for name in graph.names])
    relevance = np.array([inputs["DIST_REL"][name] for name in graph.names])
    across = across_hosts(graph, hosts)
    first, last = (distil(across, relevance, inputs["DIST_RHO"], rounds) for rounds in (1, 50))

    def named(values: Any) -> dict[str, float]:
        return dict(zip(graph.names, values.tolist(), strict=True))

    return {
        "hub1": named(first.hubs),
        "auth1": named(first.authorities),
        "hub": named(last.hubs),
        "auth": named(last.authorities),
        "psi": nearest_rank(last.hubs, 90),
    }
