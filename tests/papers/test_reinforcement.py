"""A spider that learns what links are worth: values by foresight, bins, words around links (sheet 30.5)."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, named, page_of, walk
from scenthound.model import Candidate
from scenthound.page.views.elements import surroundings
from scenthound.papers.parts.naive_bayes import FrozenPieces, NaiveBayes
from scenthound.papers.reinforcement import FAR, Reinforcement, discounted_rewards, distances
from scenthound.text.tokens import Analyser
from support.long_form import long_form


def plain_reward(links: list[list[int]], targets: set[int], start: int, gamma: float, horizon: int = 10) -> float:
    """As the sheet says it: one breadth-first search per target, from all fetched pages in their order."""
    fetched, step = [start], 0
    value = float(start in targets)
    while True:
        came: dict[int, int | None] = dict.fromkeys(sorted(fetched))
        queue = list(came)
        found = None
        for page in queue:
            for other in links[page]:
                if other not in came:
                    came[other] = page
                    queue.append(other)
                    if found is None and other in targets:
                        found = other
            if found is not None:
                break
        if found is None:
            return value
        path: list[int] = []
        place: int | None = found
        while place is not None and place not in fetched:
            path.insert(0, place)
            place = came[place]
        step += len(path)
        if step > horizon:
            return value
        fetched += path
        value += gamma**step


@settings(deadline=None, max_examples=long_form(66, 200))
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=4, unique=True), min_size=10, max_size=10),
    st.sets(st.integers(0, 9), max_size=5),
)
def test_the_fast_plan_is_the_plan_of_the_sheet(links: list[list[int]], targets: set[int]) -> None:
    fast = discounted_rewards(links, targets, 0.5, range(10))
    assert fast == pytest.approx({page: plain_reward(links, targets, page, 0.5) for page in range(10)})


def test_a_target_beyond_the_horizon_is_worth_nothing() -> None:
    chain = [[number + 1] for number in range(14)] + [[]]
    assert discounted_rewards(chain, [14], 0.5, [2, 3, 4, 13, 14]) == {
        2: 0.0, 3: 0.0, 4: 0.5**10, 13: 0.5, 14: 1.0,
    }  # fmt: skip
    assert distances(chain, [14])[3, 0] == FAR
    assert discounted_rewards([[], []], [], 0.5, [0, 1]) == {0: 0.0, 1: 0.0}


WORDS = st.lists(st.sampled_from("abcdef"), max_size=6)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("012"), WORDS), max_size=8),
    st.lists(WORDS, min_size=1, max_size=5),
    st.booleans(),
)
def test_a_classifier_in_a_table_says_what_the_counting_one_says(
    learned: list[tuple[str, list[str]]], pieces: list[list[str]], uniform: bool
) -> None:
    bayes = NaiveBayes("012", uniform=uniform)
    for label, words in learned:
        bayes.add(label, Counter(words))
    rows = [[one, other] for one in range(len(pieces)) for other in range(len(pieces))]
    terms = sorted({word for piece in pieces for word in piece})
    flat = [terms.index(word) for piece in pieces for word in piece]
    starts = [0, *accumulate(map(len, pieces))]
    columns = (np.array(column, dtype=np.int32) for column in (flat, starts, rows))
    found = FrozenPieces(bayes).posteriors(terms, *columns)
    for row, (one, other) in zip(found.tolist(), rows, strict=True):
        whole = Counter(pieces[one] + pieces[other])
        assert row == pytest.approx(list(bayes.posteriors(whole).values()), abs=1e-9)


# ---- the crawler

MENU = "<p><a href='/news'>news</a></p><p><a href='/e'>events calendar</a></p><p><a href='/list'>publications list</a>"
KNOWN = TinyWeb(
    {f"{site}.example/": f"<title>site</title>{MENU}" for site in "abcdef"}
    | {f"{site}.example/news": "<p><a href='/e'>events calendar</a></p>" for site in "abcdef"}
    | {f"{site}.example/list": "<p><a href='/p'>paper download</a></p>" for site in "abcdef"}
    | {f"{site}.example/{page}": "text" for site in "abcdef" for page in "ep"}
)
PAPERS = " ".join(f"{site}.example/p" for site in "abcdef")
UNKNOWN = TinyWeb(
    {
        "z.example/": "<p><a href='/n1'>news</a></p><p><a href='/n2'>calendar</a></p><p><a href='/q'>publications</a>",
        "z.example/n1": "<p><a href='/n3'>news</a><p><a href='/n4'>events</a>",
        "z.example/n2": "<p><a href='/n5'>calendar</a>",
        "z.example/q": "<p><a href='/target'>paper download</a></p>",
        "z.example/target": "text",
    }
)


def taught(lessons: TinyLessons | None = None, **parameters: Any) -> Reinforcement:
    made = Reinforcement(**parameters)
    made.train(lessons or TinyLessons(KNOWN, "papers", PAPERS), random.Random(0), lambda _: None)
    return made


def test_the_way_to_a_target_is_followed_by_its_words() -> None:
    assert [url.rpartition("/")[2] for url in walk(UNKNOWN, taught(), "papers", "z.example/").visited[:3]] == [
        *("", "q", "target"),
    ]


def test_looking_into_the_future_beats_looking_at_the_next_page() -> None:
    future = walk(UNKNOWN, taught(bins=3), "papers", "z.example/", pages=3)
    immediate = walk(UNKNOWN, taught(bins=2), "papers", "z.example/", pages=3)
    assert "z.example/target" in future
    assert "z.example/target" not in immediate, "on the first page nothing is known to lead right to a paper"


def test_scores_are_taken_apart_by_bins() -> None:
    found = taught()
    step = walk(UNKNOWN, found, "papers", "z.example/").steps[2]
    assert sum(step.parts.values()) == pytest.approx(1.0)
    assert step.score == pytest.approx(sum(p * m for p, m in zip(step.parts.values(), found.means_, strict=True)))


def test_the_neighbourhood_is_anchor_element_title_heading_and_address() -> None:
    html = "<title>Big title</title><h1>Old</h1><h2>Near <i>heading</i></h2><li>around <a href=/x/papers.pdf>anchor</a>"
    found = surroundings(page_of(html, "http://a.example/").record, Analyser("none", stem=False)).of(0)
    assert " ".join(found) == "big title near heading around anchor anchor example papers pdf"


def test_of_several_anchors_to_one_page_the_best_counts() -> None:
    html = "<p><a href='/n'>news</a></p><p><a href='/n'>paper download</a></p><p><a href='/l'>news</a>"
    web = TinyWeb({"z.example/": html})
    steps = list(taught().read(web.fetch(Candidate(named("z.example/"), 1.0))))  # type: ignore[arg-type]
    assert [offer.url.rpartition("/")[2] for offer in steps] == ["n", "l"]
    assert steps[0].anchor == "paper download"
    assert steps[0].score > steps[1].score


def test_the_same_lot_gives_the_same_model_and_caps_hold() -> None:
    models = [json.dumps(taught(links=10).model(), default=lambda value: value.tolist()) for _ in range(2)]
    assert models[0] == models[1]
    documents = json.loads(models[0])["bayes"]["documents"]
    assert sum(documents) == 10 << 20


def test_without_lessons_it_says_what_is_missing() -> None:
    with pytest.raises(BadConfig, match="no examples"):
        taught(TinyLessons(KNOWN, "papers", ""))
    with pytest.raises(BadConfig, match="links to an example"):
        taught(TinyLessons(KNOWN, "papers", "a.example/"))
    with pytest.raises(BadConfig, match="untrained"):
        walk(UNKNOWN, Reinforcement(), "papers", "z.example/")
    assert "z.example/target" in walk(UNKNOWN, taught(TinyLessons(KNOWN, "papers", "a.example/p")), "", "z.example/")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("bins", 1), ("gamma", 1.0), ("gamma", "x"), ("depth", 0), ("pages", 1), ("links", False), ("stop_words", "x"),
     ("stem", 1)],
)  # fmt: skip
def test_a_parameter_that_can_not_be_is_named(parameter: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=parameter):
        Reinforcement(**{parameter: value})


def test_a_model_of_other_words_or_of_something_else_is_refused() -> None:
    model = taught().model()
    with pytest.raises(ValueError, match="trained with the analyser"):
        Reinforcement(stem=False).use(model)
    with pytest.raises(ValueError, match="not bins"):
        Reinforcement().use({**model, "means": [1.0]})
