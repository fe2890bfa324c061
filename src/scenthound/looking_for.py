"""Pages or sites: what a crawl looks for, and the sentence that says so.

The topic has the setting (`Topic.looking_for`); `pages` is the default, and nothing infers the other. In a search for
sites every page keeps the relevance of its content, but only home pages count as found (`is_counted`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, get_args, runtime_checkable

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.model import Candidate, LookingFor, Topic

PAGES: LookingFor = "pages"
SITES: LookingFor = "sites"
CHOICES: tuple[LookingFor, ...] = get_args(LookingFor)
LONGEST = 80  # characters of the topic in the sentence
CONTROL = "scenthound control DIR looking-for"
"""The command that changes it for a crawl in a folder, without the value."""


@runtime_checkable
class TakesLookingFor(Protocol):
    """A strategy that looks for pages or for sites, as the topic says, and can change that while the crawl runs."""

    def take_looking_for(self, looking_for: LookingFor) -> Iterable[Candidate]:
        """Candidates and new scores that follow from the change. The loop sets the depth of those with a parent."""


def checked(value: object, where: str = "") -> LookingFor:
    """`value` as a `LookingFor`. Raises `BadConfig`, which mentions `where`."""
    for choice in CHOICES:
        if value == choice:
            return choice
    about = "" if value != "auto" else "; what is looked for is no longer derived from the starting pages"
    place = f" in {where}" if where else ""
    raise BadConfig(f"`looking_for`{place} can't be {value!r}{about}", "write pages or sites; the default is pages")


def is_counted(url: str, looking_for: LookingFor) -> bool:
    """Whether a page may count as found: any page, or only a home page if sites are looked for.

    >>> is_counted("http://a.test/about", "pages"), is_counted("http://a.test/about", "sites")
    (True, False)
    """
    return looking_for == PAGES or urls.is_home(url)


def in_words(topic: Topic, seeds: Sequence[str], change: str = "") -> str:
    """What a crawl looks for, and how to change it. `change` is the option or command, without its value.

    >>> in_words(Topic("bees"), ["http://a.test/hives"], "--looking-for")
    'Looking for pages about bees. For sites: --looking-for sites'
    >>> in_words(Topic("where to sail a dinghy?"), ["http://a.test/hives"], "--looking-for")
    'Looking for pages about where to sail a dinghy? For sites: --looking-for sites'
    """
    about = topic.name or topic.keywords
    about = about if len(about) <= LONGEST else f"{about[: LONGEST - 1]}…"
    hint = how_to_change(topic, seeds, change)
    stop = "" if about.endswith((".", "?", "!", "…")) else "."
    return f"Looking for {topic.looking_for} about {about}{stop} {hint}".rstrip()


def how_to_change(topic: Topic, seeds: Sequence[str], change: str = "") -> str:
    """What counts as found where that may surprise, and how to look for the other; the second half of `in_words`."""
    if topic.looking_for == SITES:
        return "Only home pages count as found" + (f"; for pages: {change} pages" if change else ".")
    if not change:
        return "Your starting pages are home pages." if urls.are_sites(seeds) else ""
    if urls.are_sites(seeds):
        return f"Your starting pages are home pages; for other sites like them: {change} sites"
    return f"For sites: {change} sites"
