"""The worked examples of sheet 30.4 to 30.7, for `golden.py`: crawlers that learn the way to what is looked for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from golden import ANALYSER, Inputs, answers
from scenthound.lab.testing import TinyWeb, page_of, walk
from scenthound.papers.apprentice import link_features
from scenthound.papers.context_graph import (
    ContextGraph,
    best_words,
    classify,
    layer_classifier,
    layer_probabilities,
)
from scenthound.papers.parts.interest import Totals, interest
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.reinforcement import discounted_rewards, distance_bin


@answers("cg")
def context_graph(inputs: Inputs) -> dict[str, Any]:
    layers = [[Counter(text.split()) for text in layer] for layer in inputs["CG_LAYERS"]]
    sources, k, threshold = inputs["CG_USE"], inputs["CG_K"], inputs["CG_THR"]
    bayes = layer_classifier(layers, sources, k)
    rows = []
    for name, text in inputs["CG_PAGES"].items():
        row: list[Any] = [name, text]
        for length_norm in (False, True):
            counts = Counter(text.split())
            layer, _ = classify(bayes, counts, threshold, length_norm)
            row += layer_probabilities(bayes, counts, length_norm)
            row.append(str(layer) if layer < len(layers) else "other")
        rows.append(row)
    crawler = ContextGraph(layers=len(layers) - 1, threshold=threshold, stop_words="none", stem=False)
    crawler.use({"analyser": crawler.analyser_.name, "bayes": bayes.save()})
    walked = walk(small_web(inputs["CG_PAGES"], inputs["CG_LINKS"]), crawler, "", hosts(inputs["CG_START"]))
    return {
        "vocab": [word for word, _ in best_words(layers, sources, k)],
        "post": rows,
        "order": [url.removeprefix("http://").removesuffix(".test/") for url in walked.visited],
    }


def hosts(names: list[str]) -> list[str]:
    return [f"{name}.test/" for name in names]


def small_web(pages: dict[str, str], links: dict[str, list[str]]) -> TinyWeb:
    """Every page with a host of its own, its text, and links without any."""
    return TinyWeb(
        {
            f"{name}.test/": f"<p>{text}</p>" + "".join(f'<a href="http://{host}"></a>' for host in hosts(links[name]))
            for name, text in pages.items()
        }
    )


@answers("rl")
def reinforcement(inputs: Inputs) -> dict[str, Any]:
    links, gamma, bins = inputs["RL_LINKS"], inputs["RL_GAMMA"], inputs["RL_K"]
    names = sorted({*links, *(other for to in links.values() for other in to)})
    number = {name: place for place, name in enumerate(names)}
    numbered = [[number[other] for other in links.get(name, ())] for name in names]
    values = discounted_rewards(numbered, [number[name] for name in inputs["RL_TARGETS"]], gamma, range(len(names)))
    bayes = NaiveBayes([str(place) for place in range(bins)])
    held: list[list[float]] = [[] for _ in range(bins)]
    rows = []
    for name, to in links.items():
        for other in to:
            text, value = inputs["RL_TEXT"][f"{name}->{other}"], values[number[other]]
            place = distance_bin(value, gamma, bins)
            bayes.add(str(place), Counter(text.split()))
            held[place].append(value)
            rows.append([f"{name}→{other}", text, value, place])
    means = [sum(found) / len(found) if found else 0.0 for found in held]
    predicted = {}
    for text in inputs["RL_TEST"]:
        posteriors = bayes.posteriors(Counter(text.split())).values()
        predicted[text] = sum(chance * mean for chance, mean in zip(posteriors, means, strict=True))
    return {"q": rows, "mean": means, "pred": predicted}


@answers("ic")
def intelligent(inputs: Inputs) -> list[list[Any]]:
    given = inputs["IC"]
    events = [(f"word {word}", *counts) for word, counts in given["words"].items()]
    events += [(f"URL token {token}", *counts) for token, counts in given["url_tokens"].items()]
    events.append(("linked from a goal page", *given["n_link_from_goal"]))
    events.append(("sibling of a goal page", *given["siblings"]))
    goals, pages = np.array([one[1] for one in events]), np.array([one[2] for one in events])
    ratios, errors = interest(goals, pages, Totals(given["n_all"], given["n_goal"]))
    return [
        [*event, ratio, error] for event, ratio, error in zip(events, ratios.tolist(), errors.tolist(), strict=True)
    ]


@answers("app")
def apprentice(inputs: Inputs) -> list[list[Any]]:
    address, place, reach = inputs["APP"]
    page = page_of(inputs["PAGES"][address], address)
    return [list(feature) for feature in link_features(page, page.links[place], reach, ANALYSER)]
