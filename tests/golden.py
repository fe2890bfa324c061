"""Compute the worked examples of the sheets: `python tests/golden.py INPUTS.json`.

Reads a file in the form of `golden_public.json`, takes only its `inputs`, and prints `{"expected": {...}}`
with every key that can be computed. What the answers should be is nowhere read. A new key is one function
with `@answers("key")`; it is left out, with a word to stderr, where its inputs are missing or it fails.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenthound import url as urls
from scenthound.errors import NotAUrl
from scenthound.lab.measure.quality import SCHEMES, Pool
from scenthound.lab.testing import TinyWeb, Walk, walk
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.ports import Declaration, Strategy, declaration_of
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.best_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.text.tokens import Analyser, stem
from scenthound.web.html_document import parse_html

Inputs = Mapping[str, Any]
ANSWERS: dict[str, Callable[[Inputs], Any]] = {}
ANALYSER = Analyser("small")
LONGEST_URL = 256  # the papers' limit, which holds in the worked examples


def answers(key: str) -> Callable[[Callable[[Inputs], Any]], Callable[[Inputs], Any]]:
    def put(function: Callable[[Inputs], Any]) -> Callable[[Inputs], Any]:
        ANSWERS[key] = function
        return function

    return put


# ---- sheet 10: text, vectors, URLs


@answers("urls")
def canonical_urls(inputs: Inputs) -> list[list[str | None]]:
    return [[raw, _canonical(raw)] for raw in inputs["URLS"]]


def _canonical(raw: str) -> str | None:
    try:
        return urls.make(raw, longest=LONGEST_URL)
    except NotAUrl:
        return None


@answers("words")
def stems(inputs: Inputs) -> dict[str, str]:
    return {word: stem(word) for word in inputs["WORDS"]}


@answers("md5")
def file_names(inputs: Inputs) -> dict[str, str]:
    return {raw: urls.file_name(urls.make(raw)) for raw in inputs["MD5"]}


@answers("toy_terms")
def toy_terms(inputs: Inputs) -> dict[str, list[str]]:
    return {url: ANALYSER.terms(parse_html(html, url).text) for url, html in inputs["PAGES"].items()}


@answers("toy_sim")
def toy_similarities(inputs: Inputs) -> dict[str, float]:
    query = Query(inputs["QUERY"], ANALYSER)
    return {url: query.similarity(ANALYSER.counts(parse_html(html, url).text)) for url, html in inputs["PAGES"].items()}


@answers("weights")
def smart_weights(inputs: Inputs) -> dict[str, Any]:
    """Pool: the first four toy pages. Weights of the first six distinct terms of the first."""
    pages = {url: ANALYSER.counts(parse_html(html, url).text) for url, html in list(inputs["PAGES"].items())[:4]}
    pool = Pool(list(pages.values()))
    first = next(iter(pages.values()))
    description = ANALYSER.counts(inputs["DESCRIPTION"])
    found: dict[str, Any] = {scheme: dict(list(pool.weights(first, scheme).items())[:6]) for scheme in SCHEMES}
    found["sim"] = [
        [scheme, short(url), similarity]
        for scheme in SCHEMES
        for url, similarity in zip(pages, pool.similarities(description, scheme), strict=True)
    ]
    return found


def short(url: str) -> str:
    """The name used in tables: host label plus path.

    >>> short("http://s1.test/"), short("http://a.test/about")
    ('s1', 'a/about')
    """
    host, _, path = url.partition("://")[2].partition("/")
    return host.partition(".")[0] + ("/" + path if path else "")


# ---- sheet 20: crawls of the toy web (and rule 11 of sheet 00)


@answers("bf")
def breadth_first(inputs: Inputs) -> dict[str, Any]:
    return {
        "unbounded": toy_walk(inputs, BreadthFirst()).visited,
        "max_buffer_2": toy_walk(inputs, BreadthFirst(), bound=2).visited,
    }


@answers("naive")
def naive_best_first(inputs: Inputs) -> dict[str, Any]:
    return best_first_runs(inputs, lambda **options: BestFirst(stop_words="small", **options))


def best_first_runs(inputs: Inputs, make: Callable[..., Strategy]) -> dict[str, Any]:
    """The runs that the sheet prints of every strategy of the best-first family."""
    heard = Heard(make())
    greedy = toy_walk(inputs, heard)
    bounded = toy_walk(inputs, make(), bound=3)
    literal = toy_walk(inputs, make(eviction="literal"), bound=3)
    return {
        "order": greedy.visited,
        "scores": [[step.url, step.score, heard.given[step.url]] for step in greedy.steps],
        "n3": toy_walk(inputs, make(n=3, shuffle=False)).visited,
        "buffer3": bounded.visited,
        "evicted": bounded.evicted,
        "buffer3_literal": literal.visited,
        "evicted_literal": literal.evicted,
    }


@answers("spread")
def host_spread(inputs: Inputs) -> list[str]:
    order = inputs["HS_ORDER"]
    frontier = MemoryFrontier(spread=inputs["HS_D"])
    for place, url in enumerate(order):
        frontier.push(Candidate(Url(url), float(-place)))
    return [popped.candidate.url for _ in order if (popped := frontier.pop(0.0)) is not None]


def toy_walk(inputs: Inputs, strategy: Strategy, bound: int | None = None) -> Walk:
    return walk(TinyWeb(inputs["PAGES"]), strategy, Topic(inputs["QUERY"]), inputs["SEEDS"], bound=bound)


class Heard:
    """A strategy overheard: what it answered to each page, also about URLs that were crawled before."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.given: dict[str, dict[str, float]] = {}

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return self.strategy.start(topic, seeds)

    def read(self, page: Page) -> Iterable[Candidate]:
        offered = list(self.strategy.read(page))
        self.given[page.url] = {candidate.url: candidate.score for candidate in offered}
        return offered

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return self.strategy.miss(miss)

    @property
    def declaration(self) -> Declaration:
        return declaration_of(self.strategy)


# ---- printing


def plain(value: Any) -> Any:
    """As JSON has it: infinity is the word `inf`, numbers have six decimals."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def compute(inputs: Inputs) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, answer in ANSWERS.items():
        try:
            found[key] = plain(answer(inputs))
        except Exception as error:  # one key that fails must not take the others with it
            print(f"golden: {key} left out, {type(error).__name__}: {error}", file=sys.stderr)
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tests/golden.py INPUTS.json", file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        inputs = json.load(file)["inputs"]
    json.dump({"expected": compute(inputs)}, sys.stdout, indent=1)
    print()
    return 0


sys.modules.setdefault("golden", sys.modules[__name__])  # run as a script it has another name
import support.golden_agents  # noqa: E402
import support.golden_context  # noqa: E402
import support.golden_economy  # noqa: E402
import support.golden_graph  # noqa: E402
import support.golden_learn  # noqa: E402
import support.golden_measures  # noqa: E402
import support.golden_paths  # noqa: E402, F401

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
