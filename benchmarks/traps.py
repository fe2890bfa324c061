"""How much of a crawl's budget traps take, with and without the watch on what pages give.

    python benchmarks/traps.py           # 26 hosts, six of them with a trap of one kind each: a minute

Every strategy crawls the same web twice. "Good" are the pages that are no trap; a trap never comes to an end by itself,
except for facets and print versions.
"""

from __future__ import annotations

import argparse
from collections import Counter

from scenthound import url as urls
from scenthound.lab.generate.trap_webs import TOPIC, TrapWeb
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.replay import Landing, replay
from scenthound.loop.scope import Scope
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Topic
from scenthound.page.landing import land
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import make_strategy

STRATEGIES = ("breadth-first", "random", "best-first", "shark-search")


def crawl(web: TrapWeb, strategy: str, watch: TrapWatch | None, pages: int) -> tuple[int, Counter[str], str]:
    """The number of good pages fetched, the requests to each host's trap, and why the crawl ended."""
    topic, good, in_traps = Topic(TOPIC), set[str](), Counter[str]()
    wanted = {urls.make(url) for url in web.good_pages}

    def fetch(candidate: Candidate) -> Landing:
        if candidate.url in wanted:
            good.add(candidate.url)
        else:
            in_traps[urls.host(candidate.url)] += 1
        return land(candidate, web.answer(candidate.spelling or candidate.url))

    run = Crawl(
        make_strategy(strategy),
        MemoryFrontier(100_000),
        MemoryHistory(),
        topic,
        [(urls.make(seed), seed) for seed in web.seeds],
        limits=Limits(pages=pages),
        scope=Scope(),
        traps=watch,
    )
    run.start()
    reason = replay(run, fetch)
    return len(good), in_traps, reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000, help="page budget of each crawl")
    pages = parser.parse_args().pages
    web = TrapWeb()
    print(f"{len(web.good_pages)} good pages on {len(web.hosts)} hosts, budget {pages}")
    print(f"{'strategy':15} watch  good pages  requests in traps  of the budget  most on one host  ended")
    broken = 0
    for strategy in STRATEGIES:
        for watch in (None, TrapWatch()):
            good, in_traps, reason = crawl(web, strategy, watch, pages)
            spent = in_traps.total()
            print(
                f"{strategy:15} {'on' if watch else 'off':5} {good:11} {spent:18} {spent / pages:14.0%}"
                f" {max(in_traps.values(), default=0):17}  {reason}"
            )
            broken += watch is not None and (spent > 0.25 * pages or max(in_traps.values(), default=0) > 60)
            for suspended in watch or ():
                print(f"    {suspended.host}: {suspended}")
    print("all promises kept" if not broken else f"{broken} crawls broke a promise")
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
