"""Would near-copy detection (simhash over a page's terms) find trap pages that `loop.trap_watch` misses?

    python benchmarks/near_copies.py     # both trap webs, breadth-first and best-first: takes a minute

A page is a near copy if its simhash (64 bits, Charikar 2002) differs in at most 3 bits from that of an earlier page of
its host, the limit of Manku, Jain and Das Sarma (WWW 2007). Prints for each kind of trap the pages that were fetched,
those that owe something by the rule of the trap watch, and the near copies; the same for good pages.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from scenthound import url as urls
from scenthound.lab.generate import trap_webs
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.replay import Landing, replay
from scenthound.loop.scope import Scope
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Response, Topic
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.text.tokens import Analyser
from scenthound.wiring import make_strategy
from support import other_traps

NEAR = 3  # bits
BITS = 64


class Web(Protocol):
    seeds: list[str]
    good_pages: set[str]

    def answer(self, url: str) -> Response: ...


def simhash(page: Page) -> int:
    """The sign of each bit's sum over all terms, weighted by their frequency."""
    sums = [0] * BITS
    for term, times in page.record.counts(Analyser()).items():
        hashed = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")
        for bit in range(BITS):
            sums[bit] += times if hashed >> bit & 1 else -times
    return sum(1 << bit for bit in range(BITS) if sums[bit] > 0)


def look(web: Web, words: str, strategy: str, pages: int) -> dict[str, Counter[str]]:
    """For each kind of host: pages, pages that owe, near copies, and near copies that do not owe."""
    good, watch = {urls.make(url) for url in web.good_pages}, TrapWatch()
    seen: dict[str, list[int]] = defaultdict(list)
    counts: dict[str, Counter[str]] = defaultdict(Counter)

    def fetch(candidate: Candidate) -> Landing:
        return land(candidate, web.answer(candidate.spelling or candidate.url))

    crawl = Crawl(
        make_strategy(strategy),
        MemoryFrontier(100_000),
        MemoryHistory(),
        Topic(words),
        [(urls.make(seed), seed) for seed in web.seeds],
        limits=Limits(pages=pages),
        scope=Scope(),
        traps=watch,
    )

    def fetch_and_mark(candidate: Candidate) -> Landing:
        landing = fetch(candidate)
        if isinstance(landing, Page):
            host, mark = urls.host(landing.url), simhash(landing)
            row = counts["good pages" if landing.url in good else host.partition(".")[0].rstrip("0123456789")]
            row["pages"] += 1
            near = any((mark ^ other).bit_count() <= NEAR for other in seen[host])
            row["near"] += near
            pending.append((landing, row, near))
            seen[host].append(mark)
        return landing

    pending: list[tuple[Page, Counter[str], bool]] = []
    crawl.start()
    replay(crawl, fetch_and_mark)
    for page, row, near in pending:
        owes = watch.owes(page.url)
        row["owes"] += owes
        row["near only"] += near and not owes
    return counts


def main() -> None:
    webs = (
        (trap_webs.TrapWeb(), trap_webs.TOPIC, "first web"),
        (other_traps.OtherTraps(), other_traps.TOPIC, "second"),
    )
    print(f"{'web':10} {'strategy':14} {'kind':12} pages  owe  near copies  near copies that owe nothing")
    for web, words, name in webs:
        for strategy in ("breadth-first", "best-first"):
            for kind, row in look(web, words, strategy, 2000).items():
                print(
                    f"{name:10} {strategy:14} {kind:12} {row['pages']:5} {row['owes']:4} {row['near']:12}"
                    f" {row['near only']:29}"
                )


if __name__ == "__main__":
    main()
