"""Candidates as JSON values, for strategies that save a frontier of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scenthound.model import Candidate, Url


def plain(candidate: Candidate) -> list[Any]:
    """A candidate as JSON values. The last value is its due time, which a frontier without due times leaves out.

    >>> plain(Candidate(Url("http://a.test/"), math.inf, anchor="home"))
    ['http://a.test/', None, {}, {}, None, 'home', 0, '', 0.0]
    """
    score = None if candidate.score == math.inf else candidate.score
    return [candidate.url, score, dict(candidate.carry), dict(candidate.parts), *candidate[4:9]]


def from_plain(fields: Sequence[Any]) -> Candidate:
    """Rebuild a candidate from the result of `plain`, with or without its due time."""
    score = math.inf if fields[1] is None else float(fields[1])
    return Candidate(Url(fields[0]), score, *fields[2:9])
