"""What agents may do: limits that no caller can raise."""

from __future__ import annotations

import pytest

from scenthound.desk.agent_tools.agent_limits import MOST_SEEDS, ToolLimits
from scenthound.errors import BadUsage


def test_an_agent_that_asks_for_too_much_learns_the_limit() -> None:
    limits = ToolLimits(pages=50)
    assert limits.check_pages(50) == 50
    for pages in (0, -1, 51, 10**9):
        with pytest.raises(BadUsage, match="1 to 50"):
            limits.check_pages(pages)


def test_seeds_are_addresses_within_the_allowed_domains() -> None:
    limits = ToolLimits(domains=("example.org",))
    assert limits.check_seeds(["https://example.org/a", " http://www.example.org "])[1] == "http://www.example.org/"
    for seed in ("https://example.com/", "https://notexample.org/", "https://example.org.evil.test/"):
        with pytest.raises(BadUsage, match="outside the domains"):
            limits.check_seeds([seed])
    with pytest.raises(BadUsage):
        limits.check_seeds(["file:///etc/passwd"])


@pytest.mark.parametrize("number", [0, MOST_SEEDS + 1])
def test_seeds_are_neither_none_nor_too_many(number: int) -> None:
    with pytest.raises(BadUsage, match=f"1 to {MOST_SEEDS}"):
        ToolLimits().check_seeds(["https://example.org/"] * number)


def test_crawls_are_counted_in_all_and_at_once() -> None:
    limits = ToolLimits(crawls=3, at_once=2)
    limits.check_number(started=2, running=1)
    with pytest.raises(BadUsage, match="has already started 3 crawls"):
        limits.check_number(started=3, running=0)
    with pytest.raises(BadUsage, match="2 crawls are running"):
        limits.check_number(started=2, running=2)


def test_limits_reach_the_command() -> None:
    assert ToolLimits(seconds=90, domains=("a.test",)).options() == ("--time", "90 s", "--domain", "a.test")
