"""The apprentice: words at their distance from a link predict the relevance of its page (sheet 30.7)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, named, page_of, walk
from scenthound.model import Candidate
from scenthound.page.page import Page
from scenthound.papers.apprentice import RECENT, Apprentice, link_features, terms_and_spans
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.parts.offsets import OffsetBayes, features
from scenthound.strategies.best_first import BestFirst
from scenthound.text.tokens import Analyser
from scenthound.text.vocabulary import Vocabulary

BARE = Analyser("none", stem=False)


def listing(sites: int, seed: int = 0) -> TinyWeb:
    """Lists whose links say `kite` or `wool`; behind kite lies what is wanted. The lists themselves are all alike."""
    rng, web = random.Random(seed), {}
    web["x.example/"] = "<p>start</p>" + "".join(f"<a href=http://l{n}.example/>list</a>" for n in range(sites))
    for number in range(sites):
        rows = []
        for child in range(6):
            word = "kite" if rng.random() < 0.3 else "wool"
            rows.append(f"<li><a href=/{word}{child}>{word} page</a></li>")
            web[f"l{number}.example/{word}{child}"] = "sailing boats" if word == "kite" else "knitting"
        web[f"l{number}.example/"] = f"<ul>{''.join(rows)}</ul>"
    return TinyWeb(web)


def test_it_learns_which_word_of_an_anchor_pays() -> None:
    web = listing(30)
    made = Apprentice(after=60)
    walked = walk(web, made, "sailing", "x.example/", pages=130)
    after = [step for step in walked.steps if "apprentice" in step.parts and step.url.count("/") == 3][-40:]
    wanted = [step for step in after if "kite" in step.url]
    theirs = walk(web, BestFirst(), "sailing", "x.example/", pages=130)
    assert len(wanted) > 15
    assert sum("kite" in url for url in walked.visited) > sum("kite" in url for url in theirs.visited) + 10


def test_until_the_apprentice_takes_over_a_link_scores_like_its_page() -> None:
    steps = walk(listing(3), Apprentice(), "list", "x.example/").steps
    assert {tuple(step.parts) for step in steps[1:]} == {("parent",)}
    assert steps[1].score == steps[1].parts["parent"] > 0.0


def test_more_is_not_taken_back_than_was_learned() -> None:
    """Saved state may have been changed between two runs: what is taken back then was never added."""
    made, taught = OffsetBayes(2), np.array([1, 1, 7])
    made.vocabulary.add(["bees", "honey"])
    made.add(taught, 1.0)
    made.add(np.array([7]), 0.0)
    for _ in range(3):
        made.add(taught, 1.0, instances=-2)
    assert np.isfinite(made.weights(np.array([0, 1]))).all()
    assert 0.0 <= made.probability(taught) <= 1.0


@pytest.mark.parametrize(("key", "value"), [("counts", np.full((2, 10), -5)), ("documents", [3, -1])])
def test_counts_below_zero_are_refused(key: str, value: object) -> None:
    made = OffsetBayes(2)
    made.vocabulary.add(["bees", "honey"])
    with pytest.raises(ValueError, match="below zero"):
        OffsetBayes.load({**made.save(), key: value}, 2)


def test_features_are_terms_at_their_distance_in_leaves() -> None:
    page = page_of("<p>one two <a href=/x>an <b>anchor</b></a> three <i>four</i> five <a href=/y>next</a>")
    assert link_features(page, page.links[0], 2, BARE) == [
        ("one", -1), ("two", -1), ("an", 0), ("anchor", 0), ("three", 1), ("four", 2),
    ]  # fmt: skip
    assert link_features(page, page.links[1], 1, BARE) == [("five", -1), ("next", 0)]
    assert link_features(page, page.links[1], 0, BARE) == [("next", 0)]


def test_a_picture_stands_before_the_next_anchor_with_its_alternative_text() -> None:
    page = page_of("<p>before <a href=/x><img alt='blue bird'></a> <a href=/y>next</a>")
    assert link_features(page, page.links[0], 1, BARE) == [("before", -1), ("blue", 0), ("bird", 0), ("next", 1)]


def test_logits_tell_apart_what_is_certain_either_way() -> None:
    steps = walk(listing(20), Apprentice(after=30, score="logit"), "sailing", "x.example/").steps
    judged = [(step.parts["apprentice"], "kite" in step.url) for step in steps if "apprentice" in step.parts]
    wanted, others = ([value for value, is_kite in judged if is_kite is kind] for kind in (True, False))
    assert sum(wanted) / len(wanted) > sum(others) / len(others)
    assert min(others) < -1.0, "no probability"


FEATURES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), max_size=6)
INSTANCES = st.lists(st.tuples(FEATURES, st.sampled_from([0.0, 0.25, 1 / 3, 1.0])), max_size=8)


@settings(deadline=None)
@given(INSTANCES, FEATURES, st.integers(0, 3))
def test_arrays_say_what_naive_bayes_says_of_the_same_features(
    instances: list[tuple[list[tuple[str, int]], float]], asked: list[tuple[str, int]], taken_back: int
) -> None:
    ours, plain = OffsetBayes(2), NaiveBayes(["1", "0"])
    ours.vocabulary.add("abc")

    def numbers(seen: list[tuple[str, int]]) -> Any:
        return np.array(["abc".index(term) * 5 + offset + 2 for term, offset in seen], dtype=np.int64)

    for seen, relevance in instances:
        ours.add(numbers(seen), relevance)
    for seen, relevance in instances[:taken_back]:
        ours.add(numbers(seen), relevance, -1)
    for seen, relevance in instances[taken_back:]:
        counts = {f"{term}{offset}": seen.count((term, offset)) for term, offset in seen}
        plain.add("1", counts, relevance)
        plain.add("0", counts, 1.0 - relevance)
    counts = {f"{term}{offset}": asked.count((term, offset)) for term, offset in asked}
    right = plain.posterior("1", counts)
    assert ours.probability(numbers(asked)) == pytest.approx(right, abs=1e-9)
    again = OffsetBayes.load(ours.save(), 2)
    assert again.probability(numbers(asked)) == ours.probability(numbers(asked))


WEB = listing(4)
LESSONS = TinyLessons(
    TinyWeb({"g.example/": "sailing boats", "h.example/": "boats", "o.example/": "knitting wool"}),
    "sailing",
    "g.example/ h.example/",
    "o.example/",
)
TOPIC = LESSONS.topic


def test_trained_it_knows_pages_on_topic_by_more_than_the_keywords() -> None:
    made = Apprentice()
    made.train(LESSONS, random.Random(0), lambda _: None)
    list(made.start(TOPIC, []))
    assert made.relevance(page_of("boats")) > 0.5 > made.relevance(page_of("wool"))
    plain = Apprentice()
    list(plain.start(TOPIC, []))
    assert plain.relevance(page_of("boats")) == 0.0
    untrained = Apprentice()
    untrained.use(plain.model())
    assert untrained.critic_ is None


def test_without_examples_or_background_it_can_not_be_trained() -> None:
    for examples, others in (("", "o.example/"), ("g.example/", "")):
        with pytest.raises(BadConfig, match="to learn from"):
            Apprentice().train(TinyLessons(LESSONS.web, "x", examples, others), random.Random(0), lambda _: None)


def test_a_label_is_the_relevance_of_its_page() -> None:
    made = Apprentice(after=5)
    walk(WEB, made, TOPIC, "x.example/", pages=20)
    known = next(url for url, (relevance, *_) in made.recent_.items() if relevance == 0.0)
    before = made.bayes_.save()["documents"]
    offers = list(made.take_label(known, True))
    assert made.bayes_.save()["documents"][1] > before[1]
    assert {offer.url for offer in offers} == {link.url for link in made.waiting_.links.values()}
    assert all(offer.rescored for offer in offers)
    list(made.take_label(known, False))
    assert made.bayes_.save()["documents"] == before
    waiting = next(iter(made.waiting_.links.values())).url
    list(made.take_label(waiting, True))
    page = WEB.fetch(Candidate(waiting, 1.0))
    assert isinstance(page, Page)
    assert made.relevance(page) == 1.0
    assert list(made.take_label(named("never.example/"), True)), (
        "a label for a page never seen is kept and harms nothing"
    )


def test_nothing_is_kept_of_what_waits_no_longer() -> None:
    made = Apprentice(after=10)
    walk(WEB, made, TOPIC, "x.example/")
    assert not made.waiting_.links
    assert not made.waiting_.pages
    assert 0 < len(made.recent_) <= RECENT


def test_an_anchor_at_the_end_has_what_stands_before_it() -> None:
    page = page_of("<p>one <i>two</i><a href=/x></a>")
    vocabulary = Vocabulary()
    leaves, spans = terms_and_spans(page, BARE, vocabulary)
    assert (spans.begins.tolist(), spans.ends.tolist(), spans.alt_terms) == ([2], [2], {})
    assert features([spans.of(0, leaves)], 1).tolist() == [1 * 3 + 0]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("reach", -1), ("reach", 21), ("after", 0), ("memory", "x"), ("score", "x"), ("stop_words", "x"), ("stem", None)],
)
def test_a_parameter_that_can_not_be_is_named(parameter: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=parameter):
        Apprentice(**{parameter: value})


def test_a_model_of_other_words_or_of_something_else_is_refused() -> None:
    made = Apprentice()
    made.train(LESSONS, random.Random(0), lambda _: None)
    with pytest.raises(ValueError, match="trained with the analyser"):
        Apprentice(stem=False).use(made.model())
    with pytest.raises(ValueError, match="other classes"):
        Apprentice().use({**made.model(), "critic": NaiveBayes(["a", "b"]).save()})


def test_of_a_page_without_end_the_beginning_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.papers.apprentice.MOST_OF_A_PAGE", 10)
    page = page_of("<a href=/y>first</a>" + "<b>xx yy</b>" * 30 + "<a href=/x>last</a>")
    leaves, spans = terms_and_spans(page, BARE, Vocabulary())
    assert len(leaves.flat) == 10
    assert (spans.begins.tolist(), spans.ends.tolist()) == ([0, 10], [1, 10])
    last = features([spans.of(1, leaves)], 2)
    assert len(last) == len(spans.alt_terms[1]) == 1, "leaves whose terms are not taken in are empty"
    web = TinyWeb({"a.example/": "<a href=/y>first</a>" + "<b>xx yy</b>" * 30 + "<a href=/x>last</a>"})
    assert len(walk(web, Apprentice(after=1), "xx", "a.example/").visited) == 1
