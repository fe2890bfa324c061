"""How much of a crawl's budget traps take, with and without the trap watch, and what the watch costs.

    python benchmarks/traps.py               # six webs with 30 kinds of traps, five strategies: takes a few minutes
    python benchmarks/traps.py --plain       # sites without traps: pages fetched without the watch and with it
    python benchmarks/traps.py --recorded    # pages of the recorded webs in ../shared/data that the watch costs

Every strategy crawls the same web twice, with the watch and without. "Good" pages are those that are not traps. Traps
are endless, except for facets and print versions. A crawl breaks the promise if traps take more than a quarter of its
budget or a single host more than 60 requests, or if it misses more good pages than without traps.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from scenthound import url as urls
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate import trap_webs
from scenthound.lab.run.run_cell import ReplayLimits
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.replay import Landing, replay
from scenthound.loop.scope import Scope
from scenthound.loop.suspended_urls import SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Response, Step, Topic, Url
from scenthound.page.landing import land
from scenthound.page.record import Parts
from scenthound.ports import declaration_of
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.text.tokens import Analyser
from scenthound.wiring import make_strategy, start_judge
from support import fifth_traps, fourth_traps, other_traps, plain_sites, sixth_traps, third_traps

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
STRATEGIES = ("breadth-first", "random", "best-first", "shark-search", "hound")
MOST_OF_BUDGET, MOST_ON_HOST = 0.25, 60
MOST_ON_LOCALES = 100  # the fifth web has a trap with 40 different menus, each with new content


class Web(Protocol):
    """A web that has an answer for every URL."""

    seeds: list[str]
    good_pages: set[str]
    hosts: list[str]

    def answer(self, url: str) -> Response: ...


def crawl(
    topic: Topic,
    seeds: Sequence[str],
    strategy: str,
    pages: int,
    fetch: Callable[[Candidate], Landing],
    traps: TrapWatch | None,
    watch: Callable[[object], None] | None = None,
    suspended: SuspendedUrls | None = None,
) -> str:
    """Run one crawl; returns why it ended."""
    strategy_object = make_strategy(strategy)
    run = Crawl(
        strategy_object,
        MemoryFrontier(100_000),
        MemoryHistory(),
        topic,
        [(urls.make(seed), seed) for seed in seeds],
        limits=Limits(pages=pages),
        scope=Scope(),
        traps=traps,
        suspended=SuspendedUrls() if suspended is None else suspended,
        judging=start_judge(ReplayLimits().judge, topic, [urls.make(seed) for seed in seeds], strategy=strategy_object),
        watch=watch,
    )
    run.start()
    return replay(run, fetch)


def trap_crawl(
    web: Web, words: str, strategy: str, traps: TrapWatch | None, pages: int
) -> tuple[int, Counter[str], str]:
    """The number of good pages fetched, the trap requests by host, and why the crawl ended."""
    good, in_traps = set[str](), Counter[str]()
    good_urls = {urls.make(url) for url in web.good_pages}

    def fetch(candidate: Candidate) -> Landing:
        if candidate.url in good_urls:
            good.add(candidate.url)
        else:
            in_traps[urls.host(candidate.url)] += 1
        return land(candidate, web.answer(candidate.spelling or candidate.url))

    reason = crawl(Topic(words), web.seeds, strategy, pages, fetch, traps)
    return len(good), in_traps, reason


def try_traps(
    name: str, web: Web, clean: Web, words: str, pages: int, strategies: Sequence[str], most_on_host: int = MOST_ON_HOST
) -> int:
    """Print a line for each crawl; returns how many broke the promise."""
    print(f"{name} web: {len(web.good_pages)} good pages on {len(web.hosts)} hosts, budget {pages}")
    if most_on_host > MOST_ON_HOST:
        print(
            f"exception: at most {most_on_host} requests per host are allowed here, not {MOST_ON_HOST} (decision 0016)"
        )
    print(f"{'strategy':15} watch  good pages  requests in traps  of the budget  most on one host  ended")
    broken = 0
    for strategy in strategies:
        for watch in (None, TrapWatch()):
            good, in_traps, reason = trap_crawl(web, words, strategy, watch, pages)
            spent, most = in_traps.total(), max(in_traps.values(), default=0)
            state, share = "on" if watch else "off", spent / pages
            print(f"{strategy:15} {state:5} {good:11} {spent:18} {share:14.0%} {most:17}  {reason}", flush=True)
            for suspended in watch or ():
                print(f"    {suspended.host}: {suspended}")
        missing = len(web.good_pages) - good
        if missing and pages >= 2 * len(web.good_pages):
            without, _, _ = trap_crawl(clean, words, strategy, None, pages)
            missing = max(0, missing - (len(clean.good_pages) - without))
            print(f"{'':15} without traps it fetches {without} of {len(clean.good_pages)} pages")
        is_enough = pages >= 2 * len(web.good_pages)  # with a small budget the share spent in traps says little
        broken += is_enough and (missing > 0 or spent > MOST_OF_BUDGET * pages or most > most_on_host)
    return broken


def try_plain(sizes: Sequence[int], strategies: Sequence[str]) -> int:
    """Print how many pages of each site without traps are fetched; returns how many sites lost pages to the watch."""
    lost = 0
    for strategy in strategies:
        for size in sizes:
            print(f"{strategy}, sites of {size:,} pages, budget {2 * size:,}: pages fetched with the watch (without)")
            print(" " * 9, *(f"{content:>13}" for content in plain_sites.CONTENTS))
            for layout in plain_sites.LAYOUTS:
                cells = []
                for content in plain_sites.CONTENTS:
                    site = plain_sites.PlainSite(layout, content, size)
                    on, off = (
                        trap_crawl(site, plain_sites.TOPIC, strategy, watch, 2 * size)[0]
                        for watch in (TrapWatch(), None)
                    )
                    lost += on < off
                    cells.append(f"{on:>6} ({off})".rjust(13))
                print(f"{layout:9}", *cells, flush=True)
    print(f"{lost} sites lost pages to the watch")
    return lost


def try_recorded(name: str, pages: int, topics: int, strategies: Sequence[str]) -> None:
    """Print which pages the watch refuses in crawls of a recorded web, and how many targets that costs."""
    bed = Bed.open(SHARED / "data" / name)
    ready = prepare(bed)
    print(f"{name}: {len(ready):,} pages, budget {pages}")
    print(f"{'strategy':15} {'topic':32} pages off/on  pages refused  targets refused  targets off/on")
    for strategy in strategies:
        ready.read_parts(Parts((Analyser(),)) | declaration_of(make_strategy(strategy)).parts)
        for topic in bed.topics[:topics]:
            trails, refused = {}, set[Url]()
            watch = TrapWatch()
            for traps in (None, watch):
                trail, dropped = recorded_crawl(ready, topic.topic, topic.seeds, strategy, pages, traps)
                trails[traps is not None] = trail
                refused |= dropped
            targets = set(topic.targets)
            refused -= trails[True]
            print(
                f"{strategy:15} {topic.id[:32]:32} {len(trails[False]):5} / {len(trails[True]):5} {len(refused):13}"
                f" {len(refused & targets):16} {len(trails[False] & targets):9} / {len(trails[True] & targets)}",
                flush=True,
            )
            for suspended in watch:
                print(f"    {suspended.host}: {suspended}")


def recorded_crawl(
    bed: PreparedBed, topic: Topic, seeds: Sequence[Url], strategy: str, pages: int, traps: TrapWatch | None
) -> tuple[set[Url], set[Url]]:
    """The pages that were fetched, and the pages of the bed that were suspended when the crawl ended."""
    fetched, suspended = set[Url](), SuspendedUrls()

    def watch(event: object) -> None:
        if isinstance(event, Step):
            fetched.add(event.url)

    crawl(topic, seeds, strategy, pages, bed.fetch, traps, watch, suspended)
    return fetched, {url for url in suspended.urls if bed.number(url) is not None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000, help="page budget per crawl")
    parser.add_argument("--recorded", action="store_true", help="crawl the recorded webs instead")
    parser.add_argument("--plain", action="store_true", help="crawl sites without traps instead")
    parser.add_argument("--sizes", default="50,200", help="with --plain: pages of the sites")
    parser.add_argument("--topics", type=int, default=3, help="topics of each recorded web")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    options = parser.parse_args()
    strategies = options.strategies.split(",")
    if options.plain:
        return int(bool(try_plain([int(size) for size in options.sizes.split(",")], strategies)))
    if options.recorded:
        for name in ("schools", "apache"):
            if (SHARED / "data" / name).is_dir():
                try_recorded(name, options.pages, options.topics, strategies)
            else:
                print(f"{name} is not in ../shared/data: skipped")
        return 0
    first, second = trap_webs.TrapWeb(), other_traps.OtherTraps()
    plain, other = trap_webs.TrapWeb((), len(first.hosts)), other_traps.OtherTraps((), len(second.hosts))
    broken = try_traps("first", first, plain, trap_webs.TOPIC, options.pages, strategies)
    broken += try_traps("second", second, other, other_traps.TOPIC, options.pages * 6 // 10, strategies)
    third, fourth = third_traps.ThirdTraps(), fourth_traps.FourthTraps()
    plain_third, plain_fourth = (
        third_traps.ThirdTraps((), len(third.hosts)),
        fourth_traps.FourthTraps((), len(fourth.hosts)),
    )
    most = MOST_ON_HOST + third_traps.NESTED_TEXTS  # one of its traps has this many different texts
    broken += try_traps("third", third, plain_third, third_traps.TOPIC, options.pages * 6 // 10, strategies, most)
    broken += try_traps("fourth", fourth, plain_fourth, fourth_traps.TOPIC, options.pages * 7 // 10, strategies)
    fifth = fifth_traps.FifthTraps()
    plain_fifth = fifth_traps.FifthTraps((), len(fifth.hosts))
    pages = options.pages * 6 // 10
    broken += try_traps("fifth", fifth, plain_fifth, fifth_traps.TOPIC, pages, strategies, MOST_ON_LOCALES)
    sixth = sixth_traps.SixthTraps()
    plain_sixth = sixth_traps.SixthTraps((), len(sixth.hosts))
    broken += try_traps("sixth", sixth, plain_sixth, sixth_traps.TOPIC, options.pages * 6 // 10, strategies)
    print("all promises kept" if not broken else f"{broken} crawls broke a promise")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
