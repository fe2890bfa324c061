"""Read the exports of a crawl with other people's programs, and compare what they see with what the crawl recorded.

    python tests/support/client_checks.py pandas FOLDER          # prints a JSON line for each format

FOLDER is what `client_exports.py` wrote. This file imports nothing of ours, since it also runs in .venv-clients, where
Scenthound is not installed. `make clients` and tests/exports/test_clients.py call it.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Check = Callable[["Exports"], str]
PACKED = "archive/pages-00001.warc.gz"


class Wrong(Exception):
    """A client sees something else than the crawl recorded."""


class Exports:
    """The folder with the exports, the WARC file and index of the crawl, and what the crawl recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
        self.pages: list[Row] = self.expected["pages"]
        self.warc, self.index = folder / "pages" / "pages-00001.warc.gz", folder / "pages" / "index.cdxj"

    def file(self, name: str) -> str:
        """The export with this extension."""
        return str(self.folder / f"crawl.{name}")

    def check_table(self, rows: Iterable[Row], parts: bool = True) -> str:
        """Compare a table, with Python's own values, with the pages of the crawl."""
        rows = list(rows)
        _same("number of rows", len(rows), len(self.pages))
        names = list(rows[0])
        if odd := [name for name in names if not re.fullmatch(r"[a-z][a-z0-9_]*", name)]:
            raise Wrong(f"column names are not plain words: {odd}")
        for row, page in zip(rows, self.pages, strict=True):
            for name in ("n", "url", "parent", "anchor", "relevant", "depth", "status", "bytes"):
                _same(f"{name} of row {page['n']}", row[name] or None, page[name] or None)
            for name in ("relevance", "similarity", "score"):
                _close(f"{name} of row {page['n']}", row[name], page[name])
            if parts:
                for name, value in page["parts"].items():
                    _close(f"{name} of row {page['n']}", row[name], value)
            _same("time", _seconds(row["time"]), round(page["time"], 6))
        return f"{len(rows)} rows, {len(names)} columns"


def _same(what: str, seen: object, right: object) -> None:
    if seen != right or (isinstance(right, bool) and not isinstance(seen, bool)):
        raise Wrong(f"{what} is {seen!r}, not {right!r}")


def _close(what: str, seen: Any, right: float | None) -> None:
    """`right` is None for no value, such as the score of a seed, which is infinite where a format can say so."""
    if right is None:
        if seen is not None and not math.isinf(seen):
            raise Wrong(f"{what} is {seen!r}, not empty")
    elif not isinstance(seen, float | int) or abs(seen - right) > 1e-9:
        raise Wrong(f"{what} is {seen!r}, not {right!r}")


def _seconds(value: Any) -> float:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return round(value.timestamp() if isinstance(value, datetime) else float(value), 6)


def _plain(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with None for the NaN with which pandas marks an empty cell, and Python's own numbers."""
    for row in rows:
        plain = {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}
        yield {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in plain.items()}


# ---- tables


def pyarrow_checks() -> dict[str, Check]:
    from pyarrow import csv, json, parquet

    small = json.ReadOptions(block_size=1 << 17)  # types must stay the same from block to block
    return {
        "jsonl": lambda exports: exports.check_table(json.read_json(exports.file("jsonl"), small).to_pylist()),
        "csv": lambda exports: exports.check_table(_plain(csv.read_csv(exports.file("csv")).to_pylist())),
        "parquet": lambda exports: exports.check_table(parquet.read_table(exports.file("parquet")).to_pylist()),
        "trail": lambda exports: exports.check_table(json.read_json(exports.file("trail.jsonl")).to_pylist(), False),
    }


def pandas_checks() -> dict[str, Check]:
    import pandas

    def check(frame: pandas.DataFrame, exports: Exports, parts: bool = True) -> str:
        return exports.check_table(_plain(frame.to_dict("records")), parts)

    def trail(exports: Exports) -> str:
        return check(pandas.read_json(exports.file("trail.jsonl"), lines=True), exports, False)

    return {
        "jsonl": lambda exports: check(pandas.read_json(exports.file("jsonl"), lines=True), exports),
        "csv": lambda exports: check(pandas.read_csv(exports.file("csv")), exports),
        "parquet": lambda exports: check(pandas.read_parquet(exports.file("parquet")), exports),
        "trail": trail,
    }


def duckdb_checks() -> dict[str, Check]:
    import duckdb

    def rows(file: str) -> Iterator[Row]:
        found = duckdb.sql(f"select * from '{file}'")
        return (dict(zip(found.columns, values, strict=True)) for values in found.fetchall())

    def check(exports: Exports, name: str) -> str:
        seen = exports.check_table(rows(exports.file(name)), parts=name != "trail.jsonl")
        query = f"select avg(score) from '{exports.file(name)}' where parent is not null"
        (mean,) = duckdb.sql(query).fetchall()[0]
        scores = [page["score"] for page in exports.pages if page["parent"] is not None]
        _close("the mean score", mean, sum(scores) / len(scores))
        return seen

    return {
        "jsonl": lambda exports: check(exports, "jsonl"),
        "csv": lambda exports: check(exports, "csv"),
        "parquet": lambda exports: check(exports, "parquet"),
        "trail": lambda exports: check(exports, "trail.jsonl"),
    }


def datasets_checks() -> dict[str, Check]:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import datasets

    datasets.disable_progress_bars()

    def check(exports: Exports, kind: str, name: str, **options: Any) -> str:
        with tempfile.TemporaryDirectory() as cache:
            files = exports.file(name)
            loaded = datasets.load_dataset(kind, data_files=files, split="train", cache_dir=cache, **options)
            return exports.check_table(_plain(loaded), parts=name != "trail.jsonl")

    return {
        "jsonl": lambda exports: check(exports, "json", "jsonl", chunksize=1 << 30),  # as the guide says
        "csv": lambda exports: check(exports, "csv", "csv"),
        "parquet": lambda exports: check(exports, "parquet", "parquet"),
        "trail": lambda exports: check(exports, "json", "trail.jsonl"),
    }


# ---- the graph


def networkx_checks() -> dict[str, Check]:
    import networkx

    def check(exports: Exports) -> str:
        graph = networkx.read_gexf(exports.file("gexf"))
        _same("number of nodes", graph.number_of_nodes(), len(exports.pages))
        _same("number of links", graph.number_of_edges(), exports.expected["links"])
        for page in exports.pages:
            node = graph.nodes[str(page["n"])]
            _same("url of a node", node["url"], page["url"])
            _close("relevance of a node", node["relevance"], page["relevance"])
            _close("score of a node", node.get("score"), page["score"])
        return f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} links"

    return {"gexf": check}


# ---- archives


def warcio_checks() -> dict[str, Check]:
    from warcio.archiveiterator import ArchiveIterator

    def records(stream: Any, exports: Exports) -> str:
        kinds: dict[str, int] = {}
        urls = set()
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            kinds[record.rec_type] = kinds.get(record.rec_type, 0) + 1
            urls.add(record.rec_headers.get_header("WARC-Target-URI"))
        if missing := {page["url"] for page in exports.pages} - urls:
            raise Wrong(f"{len(missing)} pages are not in the archive")
        return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))

    def warc(exports: Exports) -> str:
        _run([*_warcio_command(), "check", str(exports.warc)])
        with exports.warc.open("rb") as file:
            return records(file, exports)

    def wacz(exports: Exports) -> str:
        with zipfile.ZipFile(exports.file("wacz")) as archive, archive.open(PACKED) as file:
            return records(file, exports)

    return {"warc": warc, "wacz": wacz}


def _warcio_command() -> list[str]:
    return [sys.executable, "-c", "import sys; from warcio.cli import main; sys.exit(main())"]


def cdxj_indexer_checks() -> dict[str, Check]:
    import cdxj_indexer  # noqa: F401 - raises ImportError if it is missing

    def check(exports: Exports) -> str:
        ours = exports.index.read_text()
        theirs = _run([str(Path(sys.executable).with_name("cdxj-indexer")), "-s", str(exports.warc)])
        _same("the index", _entries(ours), _entries(theirs))
        with zipfile.ZipFile(exports.file("wacz")) as archive:
            _same("the index in the WACZ", gzip.decompress(archive.read("indexes/index.cdx.gz")).decode(), ours)
        return f"{len(ours.splitlines())} lines, the same"

    return {"index": check}


def _entries(index: str) -> list[tuple[str, str, dict[str, str]]]:
    lines = (line.split(" ", 2) for line in index.splitlines())
    return [(key, stamp, json.loads(fields)) for key, stamp, fields in lines]


def wacz_checks() -> dict[str, Check]:
    import wacz  # noqa: F401 - raises ImportError if it is missing

    def check(exports: Exports, name: str = "wacz") -> str:
        said = _run([sys.executable, "-m", "wacz", "validate", "-f", exports.file(name)])
        if "Validation succeeded" not in said:
            raise Wrong(said)
        return "valid"

    return {"wacz": check, "zip64": lambda exports: check(exports, "zip64.wacz")}


def pywb_checks() -> dict[str, Check]:
    import pywb  # noqa: F401 - raises ImportError if it is missing

    here = Path(sys.executable).parent

    def check(exports: Exports, *add: str, index: Path | None = None) -> str:
        with tempfile.TemporaryDirectory() as folder:
            _run([str(here / "wb-manager"), "init", "crawl"], folder)
            _run([str(here / "wb-manager"), "add", "crawl", *add], folder)
            if index is not None:
                shutil.copy(index, Path(folder) / "collections" / "crawl" / "indexes" / "index.cdxj")
            with _server([str(here / "wayback"), "-b", "127.0.0.1", "-p"], folder) as address:
                pages = exports.pages[:: len(exports.pages) // 10]
                for page in pages:
                    with urllib.request.urlopen(f"{address}/crawl/mp_/{page['url']}", timeout=30) as reply:
                        html = reply.read()
                    if not _is_in(page["heading"], html):
                        raise Wrong(f"the page {page['url']} does not show {page['heading']!r}")
        return f"{len(pages)} pages replayed"

    return {
        "wacz": lambda exports: check(exports, "--unpack-wacz", exports.file("wacz")),
        "warc": lambda exports: check(exports, str(exports.warc)),
        "index": lambda exports: check(exports, str(exports.warc), index=exports.index),
    }


@contextmanager
def _server(command: list[str], folder: str) -> Iterator[str]:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*command, str(port)], cwd=folder, stdout=quiet, stderr=quiet)
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def unzip_checks() -> dict[str, Check]:
    _require("unzip")

    def check(exports: Exports, name: str) -> str:
        return _run(["unzip", "-tq", exports.file(name)]).strip().partition(" of ")[0]

    return {name: (lambda exports, file=file: check(exports, file)) for name, file in WACZ_FILES.items()}


WACZ_FILES = {"wacz": "wacz", "zip64": "zip64.wacz"}


def tar_checks() -> dict[str, Check]:
    _require("tar")

    def check(exports: Exports) -> str:
        names = _run(["tar", "-tf", exports.file("tar")]).splitlines()
        _same("number of files", len(names), len(exports.pages) + 1)
        with tempfile.TemporaryDirectory() as folder:
            _run(["tar", "-xf", exports.file("tar")], folder)
            listed = (Path(folder) / "urls.tsv").read_text().splitlines()
            for line, page in zip(listed, exports.pages, strict=True):
                name, url = line.split("\t")
                _same("a URL", url, page["url"])
                if not _is_in(page["heading"], (Path(folder) / name).read_bytes()):
                    raise Wrong(f"{name} is not the page {url}")
        return f"{len(names)} files"

    return {"tar": check}


def _is_in(text: str, html: bytes) -> bool:
    """Whether a text is in a page, in one of the character sets that the embedded web uses."""
    return any(text.encode(charset, "replace") in html for charset in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"))


def _require(command: str) -> None:
    if shutil.which(command) is None:
        raise ImportError(f"there is no program `{command}`")


def _run(command: list[str], folder: str | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    if done.returncode:
        raise Wrong(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout + ("" if done.stdout.strip() else done.stderr)


# ---- the command


CLIENTS: dict[str, Callable[[], dict[str, Check]]] = {
    "pyarrow": pyarrow_checks,
    "pandas": pandas_checks,
    "duckdb": duckdb_checks,
    "datasets": datasets_checks,
    "networkx": networkx_checks,
    "warcio": warcio_checks,
    "wacz": wacz_checks,
    "cdxj-indexer": cdxj_indexer_checks,
    "pywb": pywb_checks,
    "unzip": unzip_checks,
    "tar": tar_checks,
}


def main(client: str, folder: Path) -> None:
    """Print a JSON line for each format: whether this client reads it, and what it saw."""
    exports = Exports(folder)
    try:
        checks = CLIENTS[client]()
    except ImportError as error:
        print(json.dumps({"format": "", "result": "not installed", "detail": str(error)}))
        return
    with suppress(importlib.metadata.PackageNotFoundError):
        print(json.dumps({"version": importlib.metadata.version(client)}))
    for name, check in checks.items():
        try:
            result, detail = "ok", check(exports)
        except Exception as error:  # whatever a client raises is its verdict
            result, detail = "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        print(json.dumps({"format": name, "result": result, "detail": detail}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
