"""The parts of a crawl that are made from its settings."""

from __future__ import annotations

import pytest

from scenthound.loop.settings import Settings
from scenthound.wiring.build import product_token


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
