"""The headers of every request, which the fetcher sends and the archive records."""

from __future__ import annotations

import importlib.util

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"


def request_headers(user_agent: str) -> tuple[tuple[str, str], ...]:
    """The headers of a request except Host, in the order in which they are sent."""
    codings = "gzip, deflate, br" if importlib.util.find_spec("brotli") else "gzip, deflate"
    return (("User-Agent", user_agent), ("Accept", ACCEPT), ("Accept-Encoding", codings))
