"""A custom judge in a real crawl: a page that mentions the keywords often enough is relevant.

A judge is a dataclass with three methods. The decorator registers it under a name for `--judge` and `scenthound.crawl`;
in your own package, an entry point of the group `scenthound.judges` does the same. Its verdict is stored with every
page and counted in the harvest rate. The web is generated and served on loopback.

    python examples/custom_judge.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import scenthound
from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb


@judge("mentions")
@dataclass
class Mentions:
    """Each mention of a keyword halves the doubt; a page with `times` mentions is relevant."""

    times: int = 5

    def start(self, topic: scenthound.Topic, seeds: Sequence[scenthound.Url]) -> None:
        self.stems_ = [word[:5] for word in topic.keywords.lower().split() if len(word) > 3]

    def judge(self, page: scenthound.Page) -> Verdict:
        text = page.text.lower()
        mentions = sum(text.count(stem) for stem in self.stems_)
        return Verdict(1 - 0.5**mentions, mentions >= self.times)

    def doubts(self) -> list[str]:
        return []


def main(out: Path) -> tuple[int, int]:
    web = GeneratedWeb(300, seed=3)
    topic = web.topics[1]
    with serving(web) as address:
        folder = scenthound.crawl(
            topic.keywords,
            topic.seeds,
            pages=60,
            out=out,
            judge="mentions:times=3",
            proxy=f"http://{address}",  # the generated web; leave it out to crawl the real one
            delay=0,  # this web is ours; other hosts get a delay of one second
        )
    with folder:
        relevant = [step for step in folder.history.trail() if step.relevant]
        for step in relevant[:3]:
            print(f"{step.relevance:.2f}  {step.title}")
        print(f"{len(relevant)} of {len(folder.history)} pages are relevant")
        return len(relevant), len(folder.history)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
