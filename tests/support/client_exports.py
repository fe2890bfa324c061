"""A fresh crawl of a generated web, exported in every format, with what it recorded: what other programs must see.

python tests/support/client_exports.py FOLDER [PAGES]
"""

from __future__ import annotations

import json
import math
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import scenthound
from scenthound.cli.root_command import run
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.page_rows import part_column_name

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("jsonl", "csv", "parquet", "wacz", "gexf", "tar")
SMALL = 20_000
"""Bytes from which the second WACZ uses ZIP64, which archives do from 2 GB on."""


def client_python() -> str:
    """The Python of .venv-clients, which has all clients; this one, which has some, if `make clients` has not run."""
    own = ROOT / ".venv-clients" / "bin" / "python"
    return str(own) if (own.parent.parent / ".ready").is_file() else sys.executable


def export_everything(folder: Path, pages: int = 40) -> Path:
    """Crawl, and write `crawl.FORMAT` for each format and `expected.json`. The folder of the crawl is the result."""
    web = GeneratedWeb(6 * pages, seed=3)
    topic = web.topics[0]
    with serving(web) as address:
        scenthound.crawl(
            topic.keywords, topic.seeds, pages=pages, out=folder, proxy=f"http://{address}", delay=0
        ).close()
    for name in FORMATS:
        _export(folder, name, f"crawl.{name}")
    with zip64_from(SMALL):
        _export(folder, "wacz", "crawl.zip64.wacz")
    with (folder / "crawl.trail.jsonl").open("w") as trail, redirect_stdout(trail):
        assert run(["trail", str(folder)]) == 0
    (folder / "expected.json").write_text(json.dumps(_expected(folder)))
    return folder


def _export(folder: Path, name: str, file: str) -> None:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        assert run(["export", str(folder), "--to", name, "--output", str(folder / file)]) == 0


@contextmanager
def zip64_from(size: int) -> Iterator[None]:
    """Use ZIP64 for members and offsets beyond this size."""
    usual = zipfile.ZIP64_LIMIT
    zipfile.ZIP64_LIMIT = size  # type: ignore[misc]
    try:
        yield
    finally:
        zipfile.ZIP64_LIMIT = usual  # type: ignore[misc]


def _expected(folder: Path) -> dict[str, Any]:
    with scenthound.CrawlFolder.look(folder) as crawl:
        pages = list(crawl.pages())
        numbers = {page.step.requested: page.n for page in pages} | {page.url: page.n for page in pages}
        links = {
            (numbers[source], numbers[target])
            for source, targets in crawl.database.links()
            for target in targets
            if source in numbers and target in numbers and numbers[source] != numbers[target]
        }
        return {"topic": crawl.request.topic.keywords, "pages": list(map(_page, pages)), "links": len(links)}


def _page(page: scenthound.StoredPage) -> dict[str, Any]:
    step = page.step
    return {
        "n": page.n,
        "url": page.url,
        "heading": page.title.partition(" - ")[0],
        "requested": step.requested,
        "parent": step.parent,
        "anchor": step.anchor,
        "relevant": page.is_relevant,
        "relevance": page.relevance,
        "similarity": step.similarity,
        "score": step.score if math.isfinite(step.score) else None,
        "parts": {part_column_name(name): value for name, value in step.parts.items()},
        "depth": step.depth,
        "status": step.status,
        "bytes": step.bytes,
        "time": step.time,
    }


if __name__ == "__main__":
    export_everything(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
