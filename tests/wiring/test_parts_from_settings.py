"""The parts of a crawl that are made from its settings."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from scenthound.lab.testing import page_of
from scenthound.loop.identity import product_token
from scenthound.loop.messages import Limits
from scenthound.loop.replies import page_limits
from scenthound.loop.settings import Settings
from scenthound.model import Topic
from scenthound.page.keyword_similarity import Query
from scenthound.strategies.best_first import BestFirst
from scenthound.wiring.parts_from_settings import make_fetcher, make_limits, make_short_limits, start_judge


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


def test_every_limit_of_a_request_has_its_setting() -> None:
    settings = Settings(
        page_bytes=1,
        header_bytes=2,
        connect_timeout=3,
        first_byte_timeout=4,
        min_rate=5,
        idle_timeout=6,
        page_timeout=7,
    )
    limits = make_fetcher(settings).limits
    assert (limits.bytes, limits.header_bytes, limits.connect, limits.first_byte) == (1, 2, 3, 4)
    assert (limits.rate, limits.idle, limits.total) == (5, 6, 7)
    limits_of_pages = page_limits(Settings(unpack_ratio=3, links_per_page=4, url_length=50))
    assert (limits_of_pages.ratio, limits_of_pages.links, limits_of_pages.url_length) == (3, 4, 50)


def test_a_crawl_of_a_few_pages_has_no_limits_that_depend_on_a_host_or_a_judge() -> None:
    settings = Settings(pages=9, time=60, pages_per_host=2, stop_share=0.1, sitemaps=True, retries=5)
    assert make_limits(settings, now=100.0) == Limits(
        9, 160.0, pages_per_host=2, stop_share=0.1, sitemaps=50, retries=5, longest_wait=900.0, host_patience=200
    )
    assert make_short_limits(settings, now=100.0) == Limits(9, 160.0, retries=5, longest_wait=900.0)


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
