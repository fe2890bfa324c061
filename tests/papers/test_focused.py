"""Soft and hard focus: categories decide what is followed, hubs promote, labels teach, and state survives."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, Walk, named, strategy_contract, walk
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.focused import Distillation, FocusedHard, FocusedSoft
from scenthound.ports import Saves, TakesLabels, Trains
from scenthound.store.blobs import pack, unpack

VOLLEYBALL = Topic("volleyball")
KINDS = pytest.mark.parametrize("kind", [FocusedSoft, FocusedHard])
EXAMPLES = {
    "v1.test/": "<p>beach net serve</p>",
    "v2.test/": "<p>net spike serve</p>",
    "h1.test/": "<p>ice puck team</p>",
    "h2.test/": "<p>puck goal ice</p>",
    "m.test/": "<p>proof lemma number</p>",
    "p.test/": "<p>field particle energy</p>",
    "empty.test/": "",
}
CATEGORIES = {
    "sport/volleyball": "v1.test/ v2.test/",
    "sport/hockey": "h1.test/ h2.test/",
    "science/math": "m.test/",
    "science/physics": "p.test/",
}
GOOD = "sport/volleyball"


def taught(kind: type[FocusedSoft] = FocusedSoft, good: Sequence[str] = (GOOD,), **parameters: Any) -> FocusedSoft:
    made = kind(stop_words="none", stem=False, **parameters)
    lessons = TinyLessons(TinyWeb(EXAMPLES), VOLLEYBALL, "v1.test/", "h1.test/", CATEGORIES, good)
    made.train(lessons, random.Random(0), lambda _: None)
    return made


def page(text: str, *links: str) -> str:
    """A page that says just this: its links are pictures."""
    return f"<p>{text}</p>" + "".join(f'<a href="{named(link)}"><img src="x.png"></a>' for link in links)


def names(walked: Walk) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "") for url in walked.visited]


WEB = TinyWeb(
    {
        "ice.example/": page("puck ice ice", "rink.example/"),
        "net.example/": page("net serve ice", "court.example/"),
        "odd.example/": page("proof energy net", "thesis.example/"),
        "rink.example/": page("ice"),
        "court.example/": page("net"),
        "thesis.example/": page("proof"),
    }
)
SEEDS = "ice.example/ net.example/ odd.example/"


def test_soft_follows_all_links_the_most_relevant_first() -> None:
    walked = walk(WEB, taught(), VOLLEYBALL, SEEDS)
    assert names(walked) == ["ice", "net", "odd", "court", "thesis", "rink"]
    scores = [step.score for step in walked.steps][3:]
    assert scores == pytest.approx([0.720679, 0.304301, 0.034318], abs=1e-6), "as the sheet has it"
    assert walked.steps[3].parts.keys() == {"relevance", "logit"}


def test_hard_throws_links_away_unless_the_best_leaf_is_good() -> None:
    walked = walk(WEB, taught(FocusedHard), VOLLEYBALL, SEEDS)
    assert names(walked) == ["ice", "net", "odd", "court", "thesis"]
    assert walked.reason == "frontier empty", "a hard crawl can starve"
    assert walked.steps[4].parts["best leaf sport/volleyball"] == pytest.approx(0.304301, abs=1e-6)


def test_a_good_category_above_the_best_leaf_counts_too() -> None:
    walked = walk(WEB, taught(FocusedHard, good=["sport"]), VOLLEYBALL, SEEDS)
    assert "rink" in names(walked)
    walked = walk(WEB, taught(good=["sport/volleyball", "science"]), VOLLEYBALL, SEEDS)
    assert {"P(science)", "P(sport/volleyball)"} < walked.steps[3].parts.keys()


def test_waiting_links_keep_the_larger_score() -> None:
    web = TinyWeb(
        {
            "ice.example/": page("puck ice ice", "both.example/", "rink.example/"),
            "net.example/": page("net serve ice", "both.example/"),
            "both.example/": page("net"),
            "rink.example/": page("ice"),
        }
    )
    walked = walk(web, taught(), VOLLEYBALL, "ice.example/ net.example/")
    assert names(walked)[2] == "both"
    assert walked.steps[2].score == pytest.approx(0.720679, abs=1e-6)


def test_logits_tell_long_pages_apart() -> None:
    web = TinyWeb(
        {
            "some.example/": page("net serve " * 100, "a.example/"),
            "more.example/": page("net serve " * 200, "b.example/"),
            "a.example/": "",
            "b.example/": "",
        }
    )
    seeds = "some.example/ more.example/"
    plain, logit = (walk(web, taught(score=score), VOLLEYBALL, seeds) for score in ("probability", "logit"))
    assert names(plain)[2:] == ["a", "b"], "both are 1: first come, first served"
    assert names(logit)[2:] == ["b", "a"]
    assert plain.steps[2].score == plain.steps[3].score == 1.0


# ---- lessons


@KINDS
def test_without_a_taxonomy_examples_and_others_make_a_tree_of_two_leaves(kind: type[FocusedSoft]) -> None:
    made = kind()
    made.train(TinyLessons(TinyWeb(EXAMPLES), VOLLEYBALL, "v1.test/", "h1.test/"), random.Random(0), lambda _: None)
    walked = walk(WEB, made, VOLLEYBALL, SEEDS)
    assert names(walked)[3] == "court"
    assert ("rink" in names(walked)) == (kind is FocusedSoft)


@KINDS
@pytest.mark.parametrize(("examples", "others"), [("", "h1.test/"), ("v1.test/", ""), ("empty.test/", "h1.test/")])
def test_no_examples_or_none_with_words_are_refused(kind: type[FocusedSoft], examples: str, others: str) -> None:
    lessons = TinyLessons(TinyWeb(EXAMPLES), VOLLEYBALL, examples, others)
    with pytest.raises(BadConfig, match=r"to learn from|no example with words") as caught:
        kind().train(lessons, random.Random(0), lambda _: None)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("categories", "good", "said"),
    [
        (CATEGORIES, ["sport", GOOD], "both marked good"),
        (CATEGORIES, ["chess"], "no category `chess`"),
        (CATEGORIES, [], "no category is marked good"),
        ({**CATEGORIES, "sport/golf": ""}, [GOOD], "`sport/golf`: it has no example"),
    ],
)
def test_a_taxonomy_that_teaches_nothing_is_refused(categories: dict[str, str], good: list[str], said: str) -> None:
    lessons = TinyLessons(TinyWeb(EXAMPLES), VOLLEYBALL, "v1.test/", "h1.test/", categories, good)
    with pytest.raises(BadConfig, match=said):
        FocusedSoft().train(lessons, random.Random(0), lambda _: None)


@KINDS
def test_untrained_it_does_not_start(kind: type[FocusedSoft]) -> None:
    with pytest.raises(BadConfig, match="can't start untrained"):
        kind().start(VOLLEYBALL, [])
    for power in (Saves, TakesLabels, Trains):
        assert isinstance(kind(), power)


def test_a_model_of_another_kind_is_refused() -> None:
    model = taught().model()
    with pytest.raises(ValueError, match="other words"):
        FocusedSoft().use(model)
    for wrong in ({}, {"tree": {}, "analyser": "none-unstemmed"}, {**model, "tree": {**model["tree"], "good": []}}):
        with pytest.raises((KeyError, ValueError, TypeError)):
            FocusedSoft(stop_words="none", stem=False).use(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"score": "rank"},
        {"features": -1},
        {"every": 0},
        {"rho": 1.5},
        {"percentile": 101.0},
        {"memory": 0},
        {"recent": -1},
        {"stop_words": "klingon"},
    ],
)
@KINDS
def test_a_wrong_parameter_is_named_with_a_way_out(kind: type[FocusedSoft], wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=next(iter(wrong))) as caught:
        kind(**wrong)
    assert caught.value.hint


# ---- the distiller

HUB_WEB = TinyWeb(
    {
        "hub.example/": page("net serve", "good1.example/", "good2.example/", "hub.example/own", "dull.example/"),
        "good1.example/": page("net serve beach"),
        "good2.example/": page("serve spike net"),
        "lone.example/": page("net net net serve serve", "far.example/"),
        "dull.example/": page("proof lemma"),
        "hub.example/own": page("field"),
        "far.example/": page("ice"),
    }
)


def test_a_good_hub_promotes_what_it_links_to_across_hosts() -> None:
    seeds = "lone.example/ hub.example/ good1.example/ good2.example/"
    plain = walk(HUB_WEB, taught(), VOLLEYBALL, seeds)
    assert names(plain)[4:] == ["far", "hubown", "dull"], "by the relevance of the page they were found on"
    walked = walk(HUB_WEB, taught(distiller=True, every=4, promote="links"), VOLLEYBALL, seeds)
    assert names(walked)[4:] == ["dull", "far", "hubown"], "a link inside the host of the hub endorses nothing"
    dull = walked.steps[4]
    assert dull.score == 1.0
    assert dull.parts["promoted by hub"] > 0.5
    assert (dull.parent, dull.depth) == ("http://hub.example/", 1)


def test_a_hub_that_is_added_to_the_frontier_has_all_its_links_followed_next() -> None:
    seeds = "lone.example/ hub.example/ good1.example/ good2.example/"
    walked = walk(HUB_WEB, taught(distiller=True, every=4), VOLLEYBALL, seeds)
    assert names(walked)[4:] == ["hubown", "dull", "far"], "within its host too"
    assert [step.score for step in walked.steps[4:6]] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("promote", "expected"),
    [
        ("hubs", {"a.example/own": 1.0, "b.example/own": 0.5, "new.example/": 0.5}),
        ("links", {"new.example/": 1.0}),
        ("both", {"a.example/own": 1.0, "b.example/own": 0.5, "new.example/": 1.0}),
    ],
)
def test_hubs_or_what_they_link_to_are_promoted(promote: str, expected: dict[str, float]) -> None:
    """By hand: x alone is endorsed, a(x) = 1; h(a) = 1 · 1 and h(b) = 1 · 0.5, as shares 2/3 and 1/3."""
    web = TinyWeb(
        {
            "a.example/": page("one", "x.example/", "a.example/own"),
            "b.example/": page("two", "x.example/", "b.example/own", "new.example/"),
            "x.example/": page("three"),
        }
    )
    distilling = Distillation()
    for name, relevance in {"a.example/": 1.0, "b.example/": 0.5, "x.example/": 1.0}.items():
        found = web.fetch(Candidate(named(name), 0.0))
        assert isinstance(found, Page)
        distilling.read(found, relevance)
    promoted = distilling.promoted(rho=0.5, percentile=0.0, promote=promote)
    assert {one.url: round(one.relevance, 9) for one in promoted} == {named(url): to for url, to in expected.items()}
    assert {round(one.hub, 6) for one in promoted if one.parent == named("b.example/")} == {0.333333}


def test_promotion_fetches_what_the_hard_rule_had_thrown_away() -> None:
    web = TinyWeb(
        {
            "hub.example/": page("puck ice net", "good1.example/", "dull.example/"),
            "good1.example/": page("net serve beach"),
            "dull.example/": page("proof lemma"),
        }
    )
    seeds = "hub.example/ good1.example/"
    assert names(walk(web, taught(FocusedHard), VOLLEYBALL, seeds)) == ["hub", "good1"]
    promoting = taught(FocusedHard, distiller=True, every=2)
    assert names(walk(web, promoting, VOLLEYBALL, seeds)) == ["hub", "good1", "dull"]


def test_the_distiller_remembers_no_more_links_than_asked_for() -> None:
    made = taught(distiller=True, every=1, memory=2)
    walk(HUB_WEB, made, VOLLEYBALL, "hub.example/ lone.example/")
    assert made.distillation_ is not None
    assert len(made.distillation_.save()["graph"]["sources"]) == 4, "those of the first page, and no others"


# ---- labels


def read_some(made: FocusedSoft, urls: str) -> dict[str, float]:
    made.start(VOLLEYBALL, [])
    offers: dict[str, float] = {}
    for name in urls.split():
        found = WEB.fetch(Candidate(named(name), 0.0))
        assert isinstance(found, Page)
        offers |= {candidate.url: candidate.score for candidate in made.read(found)}
    return offers


def test_a_label_changes_the_classifier_and_the_scores_that_wait() -> None:
    made = taught()
    before = made.model()
    offers = read_some(made, SEEDS)
    heard = {one.url: one for one in made.take_label(named("odd.example/"), True)}
    assert heard[named("thesis.example/")].score == 1.0
    assert heard[named("court.example/")].score > offers[named("court.example/")]
    assert all(one.rescored for one in heard.values())
    assert made.take_label(named("odd.example/"), True) == ()
    assert text_of(made.model()) == text_of(before), "a model is what training gave"
    assert made.labels_[named("odd.example/")][1] == GOOD
    again = {one.url: one.score for one in made.take_label(named("odd.example/"), False)}
    assert again[named("thesis.example/")] == 0.0
    made.start(VOLLEYBALL, [])
    assert text_of(made.model()) == text_of(before), "the next crawl starts with what training gave"


def text_of(model: Any) -> str:
    return json.dumps(model, default=lambda value: value.tolist())


@KINDS
def test_a_label_for_a_url_that_was_never_read_waits_for_it(kind: type[FocusedSoft]) -> None:
    made = taught(kind)
    read_some(made, "net.example/")
    (offer,) = made.take_label(named("ice.example/"), True)
    assert (offer.score, offer.rescored, offer.parent) == (1.0, True, None)
    found = WEB.fetch(Candidate(named("ice.example/"), 0.0))
    assert isinstance(found, Page)
    assert [one.score for one in made.read(found)] == [1.0], "the hard rule too believes a label"
    assert made.labels_[named("ice.example/")][1] == GOOD


def test_links_that_the_hard_rule_threw_away_are_followed_if_their_page_is_called_on_topic() -> None:
    class Listening(FocusedHard):
        def read(self, found: Page) -> Iterable[Candidate]:
            offers = list(super().read(found))
            return [
                *offers,
                *(self.take_label(named("ice.example/"), True) if found.url == named("odd.example/") else ()),
            ]

    walked = walk(WEB, taught(Listening), VOLLEYBALL, SEEDS)
    assert names(walked)[3] == "rink"
    assert (walked.steps[3].parent, walked.steps[3].depth) == (named("ice.example/"), 1)


def test_by_the_hard_rule_links_of_a_page_called_off_topic_fall_to_the_end() -> None:
    made = taught(FocusedHard)
    read_some(made, SEEDS)
    heard = {one.url: one.score for one in made.take_label(named("net.example/"), False)}
    assert heard[named("court.example/")] == 0.0


# ---- interruptions


class Interrupted:
    """A strategy that is saved and loaded into another one now and then."""

    def __init__(self, make: Any, every: int) -> None:
        self.make, self.every, self.strategy, self.reads = make, every, make(), 0

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.topic, self.seeds = topic, seeds
        return list(self.strategy.start(topic, seeds))

    def read(self, found: Page) -> Iterable[Candidate]:
        self.reads += 1
        if self.reads % self.every == 0:
            state = pack(self.strategy.save())
            self.strategy = self.make()
            self.strategy.start(self.topic, self.seeds)
            self.strategy.load(unpack(state))
        offers = list(self.strategy.read(found))
        if self.reads == 12:
            offers += self.strategy.take_label(found.url, True)
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return self.strategy.miss(miss)


def big_web() -> TinyWeb:
    rng = random.Random(4)
    words = [
        "beach",
        "net",
        "serve",
        "spike",
        "ice",
        "puck",
        "team",
        "goal",
        "proof",
        "lemma",
        "number",
        "field",
        "particle",
        "energy",
    ]
    return TinyWeb(
        {
            f"s{n % 9}.example/{n}": page(
                " ".join(rng.choices(words, k=6)), *(f"s{to % 9}.example/{to}" for to in rng.sample(range(130), 6))
            )
            for n in range(120)
        }
    )


@KINDS
@pytest.mark.parametrize("score", ["probability", "logit"])
def test_a_saved_and_loaded_crawl_decides_as_an_undisturbed_one(kind: type[FocusedSoft], score: str) -> None:
    def make() -> FocusedSoft:
        return taught(kind, score=score, distiller=True, every=10, recent=30)

    seeds = "s0.example/0 s1.example/1 s2.example/2"
    trails = []
    for every in (1, 7, 10_000):
        walked = walk(big_web(), Interrupted(make, every), VOLLEYBALL, seeds)
        trails.append([(step.url, step.parent, step.score, dict(step.parts)) for step in walked.steps])
    assert trails[0] == trails[1] == trails[2]
    assert len(trails[0]) > 40
    assert any("promoted by hub" in parts for *_, parts in trails[0])
    assert any("label" in parts for *_, parts in trails[0])


@KINDS
def test_the_distilling_kind_keeps_the_contract(kind: type[FocusedSoft]) -> None:
    for says, check in strategy_contract(lambda: kind(distiller=True, every=2, score="logit")):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{says}: {error}") from error
    assert math.isfinite(taught(kind).tree_.relevance({}).log_odds)  # type: ignore[union-attr]
