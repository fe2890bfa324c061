"""A custom strategy in one script: pages on new hosts come first.

The decorator registers the strategy under a name; it is then chosen like any other. To share it between programs, put
it in a package: docs/guides/add-a-strategy.md.

    python examples/custom_strategy.py
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import scenthound
from scenthound import Candidate, Miss, Page, Topic, Url
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.url import host


@scenthound.strategy("new-hosts-first")
@dataclass
class NewHostsFirst:
    """score = 1 / (1 + links to that host seen so far)"""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.seen_: Counter[str] = Counter()
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        for link in page.outlinks:
            name = host(link.url)
            yield page.offer(link, 1 / (1 + self.seen_[name]))
            self.seen_[name] += 1

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


def hosts_reached(strategy: str, out: Path) -> int:
    """Crawl 60 pages of a generated web, one request at a time, and return the number of hosts."""
    web = GeneratedWeb(600, seed=3)
    topic = web.topics[0]
    with serving(web) as address:
        proxy = f"http://{address}"
        folder = scenthound.crawl(
            topic.keywords, topic.seeds, pages=60, out=out, strategy=strategy, proxy=proxy, delay=0, concurrency=1
        )
    with folder:
        return len({host(step.url) for step in folder.history.trail()})


def main(out: Path) -> dict[str, int]:
    reached = {name: hosts_reached(name, out / name) for name in ("new-hosts-first", "breadth-first")}
    for name, hosts in reached.items():
        print(f"{name}: {hosts} hosts in 60 pages")
    return reached


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
