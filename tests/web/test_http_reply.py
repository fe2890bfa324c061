"""Replies as bytes, without a socket: literal in, literal out. `test_http_replies.py` has the suites of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.http_reply import FetchError, ReplyReader

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes, ends: bool = False, **limits: int) -> ReplyReader:
    reader = ReplyReader(**limits)
    for piece in pieces:
        reader.feed(piece)
    if ends:
        reader.end()
    return reader


def refusal(reply: bytes, ends: bool = False, **limits: int) -> str:
    with pytest.raises(FetchError) as raised:
        read(reply, ends=ends, **limits)
    return raised.value.reason


def test_a_reply_is_complete_when_its_length_is_reached() -> None:
    reader = read(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbe")
    assert (reader.is_complete, reader.body) == (False, b"be")
    reader.feed(b"es")
    assert (reader.is_complete, reader.body, reader.can_continue) == (True, b"bees", True)


def test_chunks_are_joined_and_their_trailers_dropped() -> None:
    reader = read(CHUNKED + b"4;note=x\r\nbees\r\n7\r\n, honey\r\n0\r\nX-Sum: 1\r\n\r\n")
    assert (reader.is_complete, reader.body, reader.can_continue) == (True, b"bees, honey", True)


def test_a_reply_without_a_length_ends_with_its_connection() -> None:
    reader = read(b"HTTP/1.1 200 OK\r\n\r\nbees", ends=True)
    assert (reader.is_complete, reader.body, reader.can_continue) == (True, b"bees", False)


@pytest.mark.parametrize(
    ("head", "can_continue"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 unasked", False),
    ],
)
def test_whether_a_connection_can_be_used_again(head: bytes, can_continue: bool) -> None:
    reader = read(head)
    assert (reader.is_complete, reader.can_continue) == (True, can_continue)


def test_headers_may_be_folded_empty_and_end_in_a_bare_line_feed() -> None:
    reader = read(b"HTTP/1.1 200\nA:  b \t\nC:\r\nD: e\r\n\tf\nContent-Length: 0\n\n")
    assert reader.headers == (("A", "b"), ("C", ""), ("D", "e f"), ("Content-Length", "0"))
    assert reader.reason == ""


@pytest.mark.parametrize(
    "reply",
    [
        b"ICY 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        CHUNKED + b"4\r\nbees!\r\n",
        CHUNKED + b"x\r\n",
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(reply: bytes) -> None:
    assert refusal(reply) == "bad-http"


def test_too_much_of_a_head_is_refused() -> None:
    assert refusal(b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100, header_bytes=100) == "header-bomb"
    assert refusal(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 4 + b"\r\n", header_count=3) == "header-bomb"
    assert refusal(b"HTTP/1.1 103 Early\r\n\r\n" * 9, header_bytes=100) == "header-bomb"
    assert refusal(CHUNKED + b"0\r\n" + b"A: b\r\n" * 20, header_bytes=100) == "header-bomb"
    assert refusal(CHUNKED + b"1;" + b"a" * 100, header_bytes=100) == "too-large"


def test_a_connection_that_ends_early_says_how_far_it_came() -> None:
    assert refusal(b"", ends=True) == "empty-reply"
    assert refusal(b"HTTP/1.1 20", ends=True) == "reset"
    assert refusal(CHUNKED + b"4\r\nbe", ends=True) == "reset"


@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_how_a_reply_is_cut_makes_no_difference(cuts: list[int]) -> None:
    stream = b"\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" + CHUNKED + b"4\r\nbees\r\n5;x\r\nhoney\r\n0\r\nT: u\r\n\r\n"
    places = sorted({min(cut, len(stream)) for cut in cuts})
    reader = read(*(stream[begin:end] for begin, end in zip([0, *places], [*places, len(stream)], strict=True)))
    assert (reader.status, reader.body, reader.is_complete, reader.can_continue) == (200, b"beeshoney", True, True)
