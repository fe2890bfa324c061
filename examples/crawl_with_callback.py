"""A crawl with a callback for every stored page and every failed request.

`watch` is called with a `Step` for each page, a `Miss` for each failed request, and other objects that this program
ignores. The web is generated and served on loopback, so no network is needed.

    python examples/crawl_with_callback.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb


def main(out: Path) -> int:
    web = GeneratedWeb(300, seed=3)
    topic = web.topics[0]

    def watch(event: object) -> None:
        if isinstance(event, scenthound.Step):
            print(f"{event.n:3}  {event.similarity:.2f}  {event.url}")
        elif isinstance(event, scenthound.Miss):
            print(f"     {event.reason}: {event.candidate.url}")

    with serving(web) as address:
        folder = scenthound.crawl(
            topic.keywords,
            topic.seeds,
            pages=30,
            out=out,
            watch=watch,
            proxy=f"http://{address}",  # the generated web; leave it out to crawl the real one
            delay=0,  # this web is ours; other hosts get a delay of one second
        )
    with folder:
        print(f"{len(folder.history)} pages in {folder.path}")
        return len(folder.history)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
