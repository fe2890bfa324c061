"""Text that a person types becomes a query or a clear error."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import BadUsage, ScenthoundError, UnknownName
from scenthound.search import parse_query


@pytest.mark.parametrize(
    ("typed", "expression"),
    [
        ("hot air", '("hot") AND ("air")'),
        ('"hot air"', '("hot air")'),
        ("title:club host:example.org", '(title : "club") AND (host : "example.org")'),
        ('anchor:"see more" TEXT:x1', '(anchor : "see more") AND (text : "x1")'),
        ("balloon OR airship club", '("balloon" OR "airship") AND ("club")'),
        ("ballo*", '("ballo" *)'),
        ('balloon -car -title:"used cars"', '(("balloon")) NOT ("car" OR title : "used cars")'),
        ("don't AND near(", '("don\'t") AND ("AND") AND ("near(")'),
        ("balloon & !!! -", '("balloon")'),
        ('""" x "" y', None),
        ("12:30 meeting", '("12:30") AND ("meeting")'),
    ],
)
def test_a_query_is_parsed(typed: str, expression: str | None) -> None:
    if expression is None:
        with pytest.raises(ScenthoundError):
            parse_query(typed)
    else:
        assert parse_query(typed).expression() == expression


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("", "has no words", "title:word"),
        (" !! ", "has no words", "title:word"),
        ('"hot air', "a quote is not closed", '"hot air"'),
        ("titel:club", "no field called `titel`", "did you mean `title`?"),
        ("https://example.org/x", "a URL is not a query", "host:example.org"),
        ("-car", "only says what to leave out", "add a word"),
        ("OR club", "OR needs a word on both sides", "balloon OR airship"),
        ("club OR", "OR needs a word on both sides", "balloon OR airship"),
        ("a OR -b", "OR can't be followed", "-car"),
        ("x" * 2000, "a query of 2,000 characters", "1,000"),
        ("x " * 100, "more than 60 words", "leave some out"),
    ],
)
def test_a_bad_query_gets_a_clear_error(typed: str, message: str, hint: str) -> None:
    with pytest.raises(ScenthoundError) as caught:
        parse_query(typed)
    assert message in caught.value.message
    assert hint in caught.value.hint


@given(st.text(max_size=60))
def test_any_text_is_a_query_or_a_clear_error(typed: str) -> None:
    with contextlib.suppress(BadUsage, UnknownName):
        assert parse_query(typed).expression()
