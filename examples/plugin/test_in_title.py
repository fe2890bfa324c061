"""Words in the title: one page by hand, and the contract of a judge."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from my_parts.in_title import InTitle

from scenthound.model import Topic
from scenthound.testing import judge_contract, page_of


def test_the_share_of_the_keywords_in_the_title_counts() -> None:
    judge = InTitle()
    judge.start(Topic("bees honey"), [])
    assert judge.judge(page_of("<title>Honey</title><p>bees")) == (0.5, True)
    assert judge.judge(page_of("<title>Cars</title><p>bees and honey")) == (0.0, False)


@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in judge_contract(InTitle)])
def test_the_judge_keeps_the_contract(check: Callable[[], None]) -> None:
    check()
