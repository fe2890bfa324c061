"""Change what a running crawl looks for: pages or sites.

Strategy and judge take it over, and every page fetched so far is flagged again as relevant or not; its relevance when
it was fetched stays as it is. The change is saved in the database (crawl.toml stays as it was written), together with
the state of strategy and judge, so that a resumed crawl continues with it.
"""

from __future__ import annotations

from dataclasses import replace

from scenthound.loop.core import Crawl
from scenthound.loop.folder import LOOKING_FOR, CrawlFolder
from scenthound.model import Candidate, LookingFor


def change_target(folder: CrawlFolder, crawl: Crawl, wanted: LookingFor) -> bool:
    """Look for pages or for sites from now on. Commit afterwards. False if the strategy knows no difference."""
    before = crawl.topic.looking_for
    crawl.topic = replace(crawl.topic, looking_for=wanted)
    crawl.judging.take_looking_for(wanted)
    with crawl.stopwatch:
        offers = crawl.calls.take_looking_for(wanted)
    folder.request = folder.request.with_looking_for(wanted)
    folder.database.save_meta(LOOKING_FOR, wanted)
    _flag_again(folder, crawl, before)
    for offer in offers or ():
        crawl.candidates.add(_below_parent(offer, crawl))
    crawl.has_unstored_pages = True  # so that the next commit saves the state of strategy and judge
    return offers is not None


def _flag_again(folder: CrawlFolder, crawl: Crawl, before: LookingFor) -> None:
    judging, history = crawl.judging, folder.history
    flags = {
        mark.url: judging.flag_again(mark.url, mark.relevance, bool(mark.relevant), before) for mark in history.marks()
    }
    history.flag_again(flags)
    folder.revise_verdicts(crawl)
    crawl.figures.looking_for = judging.looking_for
    crawl.figures.count_again(history.marks())


def _below_parent(offer: Candidate, crawl: Crawl) -> Candidate:
    """The candidate with the depth that follows from its parent, which was fetched earlier."""
    parent = None if offer.parent is None else crawl.history.step_of(offer.parent)
    return offer if parent is None else offer._replace(depth=parent.depth + 1)
