"""Names of answers about a whole page that a recorded bed keeps for the next crawl of the same process.

What follows from a page alone, and is wanted on every visit by whoever wants it, may be derived under a key that begins
with one of these: `page.derived((STREAM,), …)`, or `(STANDING, analyser)`. All else that is derived is forgotten with
the visit. A name equals only itself, so no key that somebody else makes up is ever one of ours. Answers under the names
below are worked out by the bed; those under a strategy's own names are kept for strategies of the same class.
"""

from __future__ import annotations

from typing import Final


class Lasting:
    """The first part of a key. Those that follow may be analysers only.

    >>> Lasting("stream") == Lasting("stream")
    False
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def __repr__(self) -> str:
        return f"Lasting({self.name!r})"


WHOLE = Lasting("whole")
STREAM = Lasting("stream")
LINK_LEAVES = Lasting("link leaves")
STANDING = Lasting("standing")
SURROUNDINGS = Lasting("surroundings")
"""What an element says may depend on what was asked before, since a page may repeat itself only so often: these are
kept and recalled only where nothing was."""
SURROUNDINGS_BY_NUMBER = Lasting("surroundings by number")
