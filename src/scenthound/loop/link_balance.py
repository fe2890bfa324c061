"""Account for every link that a crawl finds: followed, waiting, or neither for a counted reason.

The loop counts where it decides. `Figures.links` has the sources of URLs and the repeated links, in total; the history
has the reasons for not following a link, per host. `LinkBalance` puts the two together, and the sums agree:

    found = repeated + followed + waiting + not followed

A link on a page counts once, however it is decided. A URL that was found first on one page and again on nine others is
followed once and repeated nine times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenthound.loop.messages import ROBOTS as ROBOTS_FILE
from scenthound.loop.messages import SITEMAP

if TYPE_CHECKING:
    from scenthound.loop.core import Crawl

# Where URLs come from
LINKS = "links"  # anchors, areas, frames and meta refreshes on fetched pages
SEEDS = "seeds"
SITEMAPS = "sitemaps"
STRATEGY = "strategy"  # URLs that the strategy suggests although the page does not link to them
RESTORED = "restored"  # URLs that wait again after a restart, although they had been dropped
SOURCES = (LINKS, SEEDS, SITEMAPS, STRATEGY, RESTORED)

# Links that lead nowhere new
SELF = "self-link"
REPEATED = "repeated-on-page"
KNOWN = "known-url"
REPEATS = (SELF, REPEATED, KNOWN)

# Reasons for not following a link that are decided in several places
NOFOLLOW, PAGE_NOFOLLOW = "nofollow", "page-nofollow"
NOT_OFFERED = "not-offered"  # by the strategy
STRATEGY_DROPPED = "strategy-dropped"  # from its own frontier
FETCHED_MEANWHILE = "fetched-meanwhile"  # it was waiting when its page was fetched under another URL
NOT_RESTORED = "not-restored"  # it was waiting before a restart, in a frontier that was not saved since
ROBOTS = "robots"  # recorded as a miss, but nothing was requested

# Requests that were answered with a redirect to a URL that has its own place in the balance
REDIRECTED = ("redirect-to-known", "redirect-to-waiting")
DELAYED = "delayed: "  # prefix of a reason: the URL waits again, until a later time


@dataclass(frozen=True, slots=True)
class LinkBalance:
    """What became of every link that was found, and of the seeds."""

    found: Mapping[str, int] = field(default_factory=dict)
    """By source: `links`, `seeds`, `sitemaps`, `strategy`, `restored`."""
    pages: int = 0
    failed: int = 0
    """URLs that were requested and brought no page."""
    redirected: int = 0
    """URLs that redirected to one that was already known."""
    waiting: int = 0
    repeated: Mapping[str, int] = field(default_factory=dict)
    """Links to the page itself, to a URL that is linked more than once on the page, or to a URL found before."""
    not_followed: Mapping[str, int] = field(default_factory=dict)
    """By reason, most frequent first."""

    @classmethod
    def of(
        cls, links: Mapping[str, int], counts: Mapping[str, int], misses: Mapping[str, int], pages: int, waiting: int
    ) -> LinkBalance:
        """`links` are `Figures.links`; `counts` and `misses` are `counts()` and `reasons()` of the history."""
        refused = {reason: times - links.get(DELAYED + reason, 0) for reason, times in counts.items()}
        if forbidden := misses.get(ROBOTS, 0):
            refused[ROBOTS] = refused.get(ROBOTS, 0) + forbidden
        redirected = sum(refused.pop(reason, 0) for reason in REDIRECTED)
        in_order = sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))
        return cls(
            {source: links[source] for source in SOURCES if links.get(source)},
            pages,
            sum(misses.values()) - forbidden,
            redirected,
            waiting,
            {kind: links[kind] for kind in REPEATS if links.get(kind)},
            {reason: times for reason, times in in_order if times},
        )

    @property
    def is_complete(self) -> bool:
        """False for a crawl that was started by a version that did not count links."""
        return SEEDS in self.found

    @property
    def followed(self) -> int:
        """URLs that were requested, whatever came of it."""
        return self.pages + self.failed + self.redirected

    @property
    def unexplained(self) -> int:
        """Links found that are not accounted for: 0, unless there is a bug."""
        ends = self.followed + self.waiting + sum(self.repeated.values()) + sum(self.not_followed.values())
        return sum(self.found.values()) - ends

    def as_plain(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "found": dict(self.found),
            "followed": self.followed,
            "pages": self.pages,
            "failed": self.failed,
            "redirected": self.redirected,
            "waiting": self.waiting,
            "repeated": dict(self.repeated),
            "not_followed": dict(self.not_followed),
        }


def waiting_urls(crawl: Crawl) -> int:
    """The number of URLs that are still to be fetched: in the frontier, suspended, chosen, or in flight."""
    selection = crawl.selection
    chosen = [*crawl.unfinished, *selection.pending]
    pages = sum(SITEMAP not in candidate.carry and ROBOTS_FILE not in candidate.carry for candidate in chosen)
    return len(crawl.frontier) + len(crawl.suspended) + len(selection.batch) + pages


def balance_of(crawl: Crawl) -> LinkBalance:
    """What became of every link that a crawl has found so far."""
    history = crawl.history
    counts, misses = history.counts(), history.reasons()
    return LinkBalance.of(crawl.figures.links, counts, misses, len(history), waiting_urls(crawl))
