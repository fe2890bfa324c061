"""Is the main process of a live crawl slower than before? Two checkouts crawl the same pages, answered in the process.

    git worktree add ../before COMMIT
    python benchmarks/loop_pairs.py ../before .                       # five pairs, best-first and hound
    python benchmarks/loop_pairs.py ../before . --pairs 1 --pages 200   # just checks that it runs

A small stand-in for `plain_pairs.py` where there is no nginx: no sockets and no reading processes, so that everything
that a page costs is CPU time of one process. Prints the CPU time per page of each run, and the median and the range of
the ratios after / before.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

CRAWL = """
import asyncio, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.wiring import begin
web = GeneratedWeb(pages=2 * int(sys.argv[3]), seed=5)
pages = {response.url: response for response in web.responses()}
class Answers:
    async def fetch(self, url, most=None):
        return pages.get(url) or Response(url, 404, "", (), b"")
topic, wanted = web.topics[0], int(sys.argv[3])
settings = Settings(delay=0.0, robots=False, pages=wanted, workers=0, host_patience=0)
with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / "crawl"
    session = begin(topic.topic, topic.seeds, out, strategy=sys.argv[2], settings=settings, fetcher=Answers())
    before = time.process_time()
    asyncio.run(session.run())
    print(1000 * (time.process_time() - before) / session.crawl.pages)
    session.close()
"""


def cost(checkout: Path, strategy: str, pages: int) -> float:
    """CPU milliseconds per page of one crawl."""
    command = [sys.executable, "-c", CRAWL, str(checkout.resolve() / "src"), strategy, str(pages)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout")
    parser.add_argument("after", type=Path, help="another checkout")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--strategies", default="best-first,hound")
    options = parser.parse_args()
    for strategy in options.strategies.split(","):
        ratios = []
        for pair in range(options.pairs):
            sides = [options.before, options.after][:: 1 if pair % 2 == 0 else -1]
            costs = {side: cost(side, strategy, options.pages) for side in sides}
            before, after = costs[options.before], costs[options.after]
            ratios.append(after / before)
            print(f"{strategy}: {before:.2f} and {after:.2f} ms a page, ratio {ratios[-1]:.3f}", flush=True)
        print(f"{strategy}: median {statistics.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
