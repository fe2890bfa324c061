"""A custom seed source: a page of links on the web.

A source is a dataclass with an address and a method. The decorator registers it under a name for `--source` and
`scenthound.crawl`; in your own package, an entry point of the group `scenthound.sources` does the same. `asker.get`
fetches within the limits and politeness of the crawl, and `asker.checked` returns None for URLs that may not be
fetched. A source that knows links has a method `back_links` as well. The web is generated and served on loopback.

    python examples/custom_seed_source.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import source
from scenthound.web.html_document import parse_html


@source("links-of")
@dataclass(frozen=True)
class LinksOf:
    """The links of a page, in document order."""

    address: str = ""

    async def seeds(self, topic: scenthound.Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        text = (await asker.get(self.address)).decode("utf-8", "replace")
        links = (asker.checked(link.spelling, link.anchor) for link in parse_html(text, self.address).links)
        return list({link.url: link for link in links if link is not None}.values())[:most]


def main(out: Path) -> int:
    web = GeneratedWeb(300, seed=3)
    topic = web.topics[1]
    with serving(web) as address:
        folder = scenthound.crawl(
            topic.keywords,
            [],  # no seeds: the source finds them
            pages=20,
            out=out,
            sources=[f"links-of:{topic.seeds[0]}"],
            proxy=f"http://{address}",  # the generated web; leave it out to crawl the real one
            delay=0,  # this web is ours; other hosts get a delay of one second
        )
    with folder:
        print(f"{len(folder.request.seeds)} seeds were found and {len(folder.history)} pages were fetched")
        return len(folder.history)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
