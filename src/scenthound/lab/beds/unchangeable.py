"""Answers about a page that every crawl of a process may share: forms of them that nobody can change.

Arrays of numpy are put on bytes, so they can't be made writeable again. What strategies know as a list or a dict never
leaves the lab: each gets a copy of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.text.contexts import LinkLeaves, NumberedLeaves, Stream
from scenthound.text.register import Registered
from scenthound.text.standing import Standing
from scenthound.text.vectors import Counts


def unchangeable(answer: Any) -> Any:
    """The same answer, its arrays in a form that can be handed to every crawl."""
    match answer:
        case Standing(epoch, terms, starts, where):
            return Standing(epoch, _fixed(terms), _fixed(starts), _fixed(where))
        case LinkLeaves(leaves, begins, ends, pictures, places, outlinks):
            fixed = NumberedLeaves(leaves.terms, _fixed(leaves.flat), _fixed(leaves.starts))
            return LinkLeaves(fixed, _fixed(begins), _fixed(ends), pictures, _fixed(places), _fixed(outlinks))
    return answer


def to_hand_out(answer: Any) -> Any:
    """A kept answer as a strategy gets it: its own copy of what it could change."""
    match answer:
        case Counts():
            return own_counts(answer)
        case Stream(tokens, spans):
            return Stream(list(tokens), list(spans))
        case Registered(epoch, numbers):
            return Registered(epoch, numbers[:])
        case LinkLeaves():
            return answer._replace(pictures={place: list(terms) for place, terms in answer.pictures.items()})
    return answer


def own_counts(counts: Counts) -> Counts:
    """A copy, with the square of its norm."""
    made = Counts(counts)
    made._square = counts.square
    return made


def _fixed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.frombuffer(column.tobytes(), column.dtype)
