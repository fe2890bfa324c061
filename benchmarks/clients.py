"""Crawl the embedded web, export it in every format, and open each with other people's programs: who reads what?

    make clients                                  # installs the clients first, in environments of their own
    python benchmarks/clients.py                  # with those that are installed
    python benchmarks/clients.py pandas duckdb    # only these
    python benchmarks/clients.py --keep FOLDER    # keep the exports, and pictures of ReplayWeb.page

`wacz` is read again as `zip64`, with the fields that archives have from 2 GB on; `warc` and `index` are the files that
a crawl writes itself, and `trail` is what `scenthound trail` prints. The exit code is 1 if a client fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.client_checks import CLIENTS
from support.client_exports import ROOT, client_python, export_everything

FORMATS = ("wacz", "zip64", "warc", "index", "jsonl", "trail", "csv", "parquet", "gexf", "tar")
VIEWER = "ReplayWeb.page"


class Verdict(NamedTuple):
    """What a client made of the formats that it reads; `missing` says why there is no client."""

    client: str
    version: str
    results: dict[str, str]
    details: dict[str, str]
    missing: str


def ask(client: str, folder: Path) -> Verdict:
    """Let a client read the exports, in a process of its own."""
    support = ROOT / "tests" / "support"
    command = [client_python(), str(support / "client_checks.py"), client]
    if client == VIEWER:
        command = [sys.executable, str(support / "replaywebpage.py")]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=900, check=False)
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    version = next((line["version"] for line in lines if "version" in line), "")
    answers = [line for line in lines if "format" in line]
    if not answers:
        answers = [{"format": "all", "result": "failed", "detail": done.stderr.strip()[-300:]}]
    missing = next((line["detail"] for line in answers if line["result"] == "not installed"), "")
    results = {line["format"]: line["result"] for line in answers if not missing}
    details = {line["format"]: line["detail"] for line in answers if line["result"] == "failed"}
    return Verdict(client, version, results, details, missing)


def table(verdicts: list[Verdict]) -> str:
    """Clients by formats, then what went wrong or is missing."""
    rows = [("client", "version", *FORMATS)]
    for verdict in verdicts:
        cells = ("-" if verdict.missing else verdict.results.get(name, "") for name in FORMATS)
        rows.append((verdict.client, verdict.version, *cells))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for verdict in verdicts:
        lines += [f"{verdict.client} failed on {name}: {why}" for name, why in verdict.details.items()]
        lines += [f"{verdict.client} is not installed: {verdict.missing}"] if verdict.missing else []
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"{VIEWER}, {', '.join(CLIENTS)}; by default all")
    parser.add_argument("--pages", type=int, default=200, help="pages to crawl (default: 200)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the crawl and its exports in this new folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    everybody = [VIEWER, *CLIENTS]
    if unknown := set(options.clients) - set(everybody):
        parser.error(f"unknown client: {', '.join(sorted(unknown))} (there are {', '.join(everybody)})")
    with tempfile.TemporaryDirectory() as scratch:
        print(f"crawling {options.pages} pages …", file=sys.stderr)
        folder = export_everything((options.keep or Path(scratch) / "crawl").resolve(), options.pages)
        verdicts = []
        for client in options.clients or everybody:
            print(f"{client} …", file=sys.stderr)
            verdicts.append(ask(client, folder))
    print(json.dumps([verdict._asdict() for verdict in verdicts], indent=1) if options.json else table(verdicts))
    return int(any(verdict.details for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
