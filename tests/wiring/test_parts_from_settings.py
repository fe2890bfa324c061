"""The parts of a crawl that are made from its settings."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from scenthound.lab.testing import page_of
from scenthound.loop.identity import product_token
from scenthound.loop.settings import Settings
from scenthound.model import Topic
from scenthound.page.keyword_similarity import Query
from scenthound.strategies.best_first import BestFirst
from scenthound.wiring.parts_from_settings import start_judge


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("", "scenthound"),
        ("MyBot/1.0 (+me)", "MyBot"),
        ("my_bot-x y", "my_bot-x"),
        ("bot2/1", "bot"),
        ("2", "scenthound"),
    ],
)
def test_the_product_token_is_what_robots_txt_can_name(user_agent: str, token: str) -> None:
    assert product_token(Settings(user_agent=user_agent)) == token


def test_the_similarity_of_a_page_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trail, the judge and the strategy use the same vector."""
    asked: list[Mapping[str, int]] = []
    similarity = Query.similarity

    def counted(query: Query, counts: Mapping[str, int]) -> float:
        asked.append(counts)
        return similarity(query, counts)

    monkeypatch.setattr(Query, "similarity", counted)
    topic, page, strategy = Topic("chess club"), page_of("<p>Chess club, <a href=/x>games</a>"), BestFirst()
    judged = start_judge("keywords", topic, []).judge(page)
    strategy.start(topic, [])
    (offer,) = strategy.read(page)
    assert offer.score == judged.similarity == judged.relevance > 0
    assert len(asked) == 1
