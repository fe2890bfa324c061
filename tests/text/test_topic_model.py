"""The topic vector: learning from weighted pages, and leave-one-out scores."""

from __future__ import annotations

import numpy as np
import pytest

from scenthound.text.background import document_share, stem_shares
from scenthound.text.topic_model import TopicModel
from scenthound.text.vectors import Counts

BALLOON = Counts({"balloon": 4, "burner": 2, "basket": 1, "time": 3})
FLIGHT = Counts({"balloon": 2, "burner": 1, "envelop": 1, "time": 2})
BANK = Counts({"bank": 3, "loan": 2, "time": 3})


def test_words_of_pages_on_topic_weigh_most_and_common_english_least() -> None:
    model = TopicModel(["balloon"])
    pages = [model.document(counts) for counts in (BALLOON, FLIGHT, BANK)]
    for page in pages:
        model.see(page)
    model.fit(pages).learn(np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    top = model.top_terms(10)
    assert top[0] == "balloon"
    assert "bank" not in top
    assert "time" not in top[:3]
    assert model.score(pages[1]) > 0.5 > 0.1 > model.score(pages[2])


def test_the_score_of_a_page_leaves_it_out() -> None:
    model = TopicModel([])
    pages = [model.document(counts) for counts in (BALLOON, FLIGHT, BANK)]
    for page in pages:
        model.see(page)
    scores = model.fit(pages).learn(np.ones(3), np.zeros(3))
    assert scores[2] < 0.05 < scores[0]  # the bank shares nothing but "time" with the others
    assert model.score(pages[2]) > scores[2]


def test_terms_that_are_newer_than_the_fit_lower_a_score() -> None:
    model = TopicModel(["balloon"])
    page = model.document(BALLOON)
    model.see(page)
    model.fit([page]).learn(np.ones(1), np.zeros(1))
    later = model.document(Counts(BALLOON | {f"new{number}": 1 for number in range(2000)}))
    assert 0 < model.score(later) < model.score(page)


def test_keywords_alone_make_a_topic() -> None:
    model = TopicModel(["balloon", "burner"])
    model.fit([]).learn(np.zeros(0), np.zeros(0))
    assert model.score(model.document(BALLOON)) > model.score(model.document(BANK)) == 0


def test_an_empty_page_scores_zero() -> None:
    model = TopicModel(["balloon"])
    assert model.score(model.document(Counts())) == 0


@pytest.mark.parametrize(("stem", "least", "most"), [("time", 0.5, 0.7), ("qzxv", 0, 1e-5)])
def test_the_background_knows_common_words(stem: str, least: float, most: float) -> None:
    assert least <= document_share(stem) <= most


def test_the_background_table_is_complete() -> None:
    table = stem_shares()
    assert len(table) == 30_000
    assert all(0 < share < 1 for share in table.values())
