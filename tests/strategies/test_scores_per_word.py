"""Classifiers whose posteriors are 0 or 1 on long pages tell them apart by default; as published they can't."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.run.run_cell import PROFILES, ReplayLimits, run_cell
from scenthound.papers.parts.naive_bayes import NaiveBayes
from scenthound.papers.parts.taxonomy import Tree, TreeClassifier
from scenthound.parameters import values_of
from scenthound.strategies.topic_words import LENGTH
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy

SURE = 0.999999


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PreparedBed, list[BedTopic]]]:
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        web = generate(folder / "bed", pages=300, seed=11, topics=6, page_size=5000)
        yield prepare(web), web.topics


@pytest.mark.parametrize("strategy", ["bayes", "focused-soft"])
def test_scores_do_not_saturate_by_default(bed: tuple[PreparedBed, list[BedTopic]], strategy: str) -> None:
    web, topics = bed

    def distinct(parameters: dict[str, str]) -> float:
        result = run_cell(web, topics[0], strategy, parameters, ReplayLimits(pages=100), topics=topics)
        assert not result.error
        scores = [step.score for step in result.steps if step.parent is not None]
        extreme = sum(score > SURE or score < 1 - SURE for score in scores)
        return extreme / len(scores)

    assert distinct({"score": "probability"}) > 0.5, "the published score ties"
    assert distinct({}) < 0.05


def test_a_longer_page_of_the_same_words_is_no_surer() -> None:
    tree = TreeClassifier.learn(
        Tree({"root": ["good", "bad"]}, ["good"]), [("good", {"sun": 3, "rain": 1}), ("bad", {"sun": 1, "rain": 3})]
    )
    short, long = {"sun": 6, "rain": 5}, {"sun": 600, "rain": 500}
    assert tree.relevance(long, LENGTH).log_odds == pytest.approx(tree.relevance(short, LENGTH).log_odds)
    assert tree.relevance(long).log_odds == pytest.approx(100 * tree.relevance(short).log_odds)
    # by hand: equal priors; P(sun|good) = 4/6, P(rain|good) = 2/6 and the reverse: each sun beyond the rains adds ln 2
    assert tree.relevance(short, LENGTH).log_odds == pytest.approx(0.693147180559945 * LENGTH / 11)
    assert tree.relevance({"sun": 2, "rain": 1}, LENGTH).log_odds == pytest.approx(0.693147180559945), "below LENGTH"


def test_events_are_occurrences_or_words() -> None:
    for events, count in (("multinomial", 5), ("bernoulli", 2)):
        bayes = NaiveBayes(("goal", "other"), events)  # type: ignore[arg-type]
        bayes.add("goal", {"sun": 1, "sea": 1})
        assert bayes.events_in({"sun": 3, "sea": 2, "unknown": 9}) == count
        assert bayes.are_known(["sun", "unknown"]).tolist() == [1.0, 0.0]


def test_profiles_of_papers_take_the_published_score() -> None:
    for name in ("exp", "biz", "graph"):
        assert PROFILES[name].parameters["focused-soft"] == {"score": "probability"}
    assert not PROFILES["open"].parameters
    for strategy in ("bayes", "focused-soft", "focused-hard"):
        assert values_of(make_strategy(strategy))["score"] == "per-word"
