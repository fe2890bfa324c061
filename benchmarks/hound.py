"""How good hound is, one table at a time: `python benchmarks/hound.py TABLE [--bed NAME] [--into docs/results.md]`.

    recall      target recall of hound and of every other strategy, on seven webs, paired differences
    taught      oracles, and strategies that are given more than topic and seeds
    ablations   hound with one part switched off
    seeds       hound started from 1, 3 and all seeds, and from each half of them
    cues        hound with one kind of cue alone, and with all kinds but one
    contexts    the element around a link that the DOM crawler reads
    overlap     how many of the same targets text-based and link-based crawlers find
    greed       how far to depart from the ranking: hound's exploration, and N of best-N-first
    transfer    weights fitted on one web, tested on another
    live        crawls over HTTP with the default delay, compared with their replay

Crawls are kept in `--work` (runs/hound); an interrupted table continues where it stopped. `--into` inserts the table
into a document, between two comments with its name. Recorded webs are read from $SCENTHOUND_SHARED/data (../shared/data
by default); a table skips those that are missing. `--quick` runs any table on a small generated web; its figures are
meaningless.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from hound_lab import POINTS, RECORDED, WEBS, BenchWeb, Settings, insert_table, open_web
from hound_parts import ablations, contexts, cues, transfer
from hound_tables import greed, live, overlap, recall, seeds, taught

Table = Callable[[BenchWeb, Settings], str]
TABLES: dict[str, tuple[Table, tuple[str, ...]]] = {
    "recall": (recall, WEBS),
    "taught": (taught, RECORDED),
    "ablations": (ablations, (*RECORDED, "apache-less", "realistic-407")),
    "seeds": (seeds, RECORDED),
    "cues": (cues, RECORDED),
    "contexts": (contexts, RECORDED),
    "overlap": (overlap, (*RECORDED, "realistic-407")),
    "greed": (greed, RECORDED),
    "transfer": (transfer, (*RECORDED, "realistic-407")),
    "live": (live, ("generated-7", "realistic-407", "apache")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--bed", action="append", choices=WEBS, help="only this web; can be repeated")
    parser.add_argument("--topics", type=int, default=0, help="use at most this many topics, evenly spaced")
    parser.add_argument("--pages", type=int, default=POINTS[-1], help="pages per crawl")
    parser.add_argument("--jobs", type=int, default=2, help="crawls to run at the same time")
    parser.add_argument("--work", type=Path, default=Path("runs/hound"), help="folder for webs and crawls")
    parser.add_argument("--into", type=Path, help="also insert the table into this document")
    parser.add_argument("--quick", action="store_true", help="use a small generated web; the figures are meaningless")
    options = parser.parse_args()
    if options.quick:
        with tempfile.TemporaryDirectory() as aside:
            settings = Settings(Path(aside), topics=2, pages=60)
            show(options.table, ["generated-1-small"], settings, None)
    else:
        settings = Settings(options.work, options.jobs, options.topics, options.pages)
        show(options.table, options.bed or TABLES[options.table][1], settings, options.into)


def show(name: str, beds: Sequence[str], settings: Settings, document: Path | None) -> None:
    make = TABLES[name][0]
    for bed in beds:
        web = open_web(bed, settings.work)
        if web is None:
            print(f"{bed}: skipped, ../shared is missing\n")
            continue
        text = make(web, settings)
        print(text + "\n", flush=True)
        if document is not None:
            insert_table(document, f"{name} {bed}", text)


if __name__ == "__main__":
    main()
