"""Our live crawl compared with other crawlers: the same pages, hosts and conditions, in the same run.

    python benchmarks/throughput.py [--pages 1500] [--rounds 3] [--bed FOLDER] [--only ours,scrapy] [--quick]
    python benchmarks/throughput.py --latency [--hosts 100,250,500,1000] [--quick]

Pages of real size (generated, or recorded with `--bed`) on 50 loopback hosts, served by nginx on the same machine. All
crawlers obey robots.txt, use no delay, follow links and store results; rounds alternate between the crawlers, and the
median counts. Ours fetches, parses, finds links, counts terms, scores best-first and stores durably (WARC and SQLite).
`contexts` is ours as well, with work that best-first does not do: the words of the element around every link are
counted, and scored together with the page (strategy `dom`). The others fetch, parse, find links and write JSON lines;
the download loop only fetches. CPU and memory are those of all processes of a crawler, including start-up, without the
server.

The other crawlers are installed in a separate environment (`make peers`); one that is missing is skipped. `--latency`
measures ours alone: every answer takes 100 ms, and every host may be asked once a second.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from served_web import Served, free_port, generated, nginx, recorded, slow_server, write_web

HERE = Path(__file__).resolve().parent
HOSTS = 50
SEED = 3
PAGE_SIZE = 40_000
SPARE = 3  # pages on offer for each page fetched, so that no crawler runs out of links
TIMEOUT = 900
OURS = {"ours": ("scenthound", "best-first"), "contexts": ("scenthound, contexts", "dom")}
PEERS = {
    "scrapy": ("Scrapy, tuned", "scrapy_tuned.py", "scrapy"),
    "scrapy-fast": ("Scrapy, for speed", "scrapy_fast.py", "scrapy"),
    "crawlee": ("Crawlee, Parsel", "crawlee_parsel.py", "crawlee"),
    "crawl4ai": ("Crawl4AI, no browser", "crawl4ai_http.py", "crawl4ai"),
    "loop": ("download loop", "download_loop.py", "aiohttp"),
}


class Result(NamedTuple):
    """Cost of one run."""

    pages: int
    seconds: float
    cpu: float
    peak_mb: float

    @property
    def rate(self) -> float:
        return self.pages / self.seconds

    @property
    def cpu_ms(self) -> float:
        return 1000 * self.cpu / max(1, self.pages)


def measured(command: list[str], count: Callable[[], int], **variables: str) -> Result:
    """Run a command to its end. CPU time of it and all its children is from the kernel, memory is sampled."""
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        environment = {**os.environ, **variables}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # packages installed from an index come compiled
        process = subprocess.Popen(
            ["timeout", str(TIMEOUT), *command], stdout=subprocess.DEVNULL, stderr=errors, env=environment
        )
        peak = _Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak.stop()
        if process.returncode != 0:
            errors.seek(0)
            raise SystemExit(f"{command[:3]} failed ({process.returncode}): {errors.read().decode()[-1500:]}")
    return Result(count(), seconds, usage.ru_utime + usage.ru_stime, peak.megabytes)


class _Peak:
    """Peak memory of a process and its children together; memory pages shared between them count once."""

    def __init__(self, pid: int) -> None:
        self.megabytes = 0.0
        self._pid, self._done = pid, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.25):
            self.megabytes = max(self.megabytes, sum(map(_share, _family(self._pid))) / 1024)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(descendant for child in children for descendant in _family(int(child)))]


def _share(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def ours(folder: Path, served: Served, pages: int, strategy: str = "best-first", **settings: object) -> Result:
    out = folder / f"ours-{strategy}"
    all_settings = {"delay": 0, "concurrency": 64, "host_patience": 0, "allow_private": "loopback", **settings}
    command = [sys.executable, "-m", "scenthound", "crawl", served.topic, "--out", str(out), "--pages", str(pages)]
    command += ["--strategy", strategy]
    for name, value in all_settings.items():
        command += ["--set", f"{name}={value}"]
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(served.seeds) + "\n")

    def count() -> int:
        from scenthound.loop.folder import CrawlFolder

        with CrawlFolder.look(out) as crawl:
            return len(crawl.history)

    return measured([*command, "--seeds", str(seeds)], count)


def peer(name: str, python: str, folder: Path, served: Served, pages: int) -> Result:
    out = folder / f"{name}.jsonl"
    seeds = served.seeds
    if name == "loop":
        listing = folder / "urls.txt"
        listing.write_text("\n".join(served.urls))
        seeds = [str(listing)]
    command = [python, str(HERE / "peers" / PEERS[name][1]), str(pages), str(out), *seeds]
    home = {"HOME": str(folder), "CRAWL4_AI_BASE_DIRECTORY": str(folder)}
    return measured(command, lambda: len(out.read_text().splitlines()), **home)


def compare(options: argparse.Namespace) -> None:
    pages, rounds = (120, 1) if options.quick else (options.pages, options.rounds)
    python = _peers_python(options.python)
    names = options.only.split(",") if options.only else [*OURS, *PEERS]
    for name in names:
        if name not in OURS and name not in PEERS:
            raise SystemExit(f"no crawler called `{name}`: choose from {', '.join([*OURS, *PEERS])}")
    results: dict[str, list[Result]] = {}
    with tempfile.TemporaryDirectory() as top:
        served, port = _web(options, Path(top), pages * SPARE)
        with nginx(served, port, Path(top) / "nginx"):
            for number in range(rounds):
                folder = Path(top) / f"round{number}"
                folder.mkdir()
                for name in names:
                    if name in OURS:
                        settings = dict(pair.split("=", 1) for pair in options.set)
                        result = ours(folder, served, pages, OURS[name][1], **settings)
                    elif python and _has(python, PEERS[name][2]):
                        result = peer(name, python, folder, served, pages)
                    else:
                        print(f"{PEERS[name][0]} is not installed: run `make peers`", file=sys.stderr)
                        continue
                    results.setdefault(name, []).append(result)
                    print(
                        f"round {number + 1}: {name} {result.rate:.1f} pages/s, {result.cpu_ms:.2f} CPU ms per page",
                        file=sys.stderr,
                    )
    _print(results, rounds)


def _print(results: dict[str, list[Result]], rounds: int) -> None:
    def middle(runs: list[Result], what: Callable[[Result], float]) -> float:
        return statistics.median(map(what, runs))

    bases = [middle(results[name], lambda r: r.rate) if name in results else 0.0 for name in ("scrapy", "scrapy-fast")]
    print(f"crawler                pages  pages/s  CPU ms/page  peak MB  x Scrapy  x fast Scrapy   median of {rounds}")
    for name, runs in results.items():
        rate = middle(runs, lambda r: r.rate)
        times = [f"{rate / base:.2f}" if base else "-" for base in bases]
        label = {**OURS, **PEERS}[name][0]
        pages, cpu, peak = (middle(runs, what) for what in (lambda r: r.pages, lambda r: r.cpu_ms, lambda r: r.peak_mb))
        print(f"{label:<21} {pages:>6.0f} {rate:>8.1f} {cpu:>12.2f} {peak:>8.0f} {times[0]:>9} {times[1]:>14}")


def latency(options: argparse.Namespace) -> None:
    """How close a crawl comes to the limit of politeness: many hosts, one request per second each, 100 ms latency."""
    steps = [10] if options.quick else [int(number) for number in options.hosts.split(",")]
    pages_per_host = 4 if options.quick else 9
    delay = 0.9  # pause after an answer that took 0.1 s: one request per second
    print("hosts  requests  possible/s  reached/s  share  CPU ms/request")
    for hosts in steps:
        with tempfile.TemporaryDirectory() as top:
            port = free_port()
            served = write_web(
                Path(top) / "web", generated(hosts * pages_per_host * 2, hosts, SEED, PAGE_SIZE), port, "garden plants"
            )
            with slow_server(served, port, 0.1):
                result = ours(Path(top), served, hosts * pages_per_host, delay=delay, concurrency=max(64, hosts))
            rate = _rate(Path(top) / "ours-best-first")
            print(
                f"{hosts:>5} {result.pages:>9} {hosts:>11} {rate:>10.1f} {rate / hosts:>6.0%} {result.cpu_ms:>15.2f}",
                flush=True,
            )


def _rate(out: Path) -> float:
    """Pages per second of all hosts together, each measured from its third page to its last: pages come in waves a
    second apart, so that a count over a fixed interval would be too high or too low."""
    from scenthound.loop.folder import CrawlFolder

    times: dict[str, list[float]] = {}
    with CrawlFolder.look(out) as crawl:
        for step in crawl.history.trail():
            times.setdefault(step.url.split("/")[2], []).append(step.time)
    end = max(host_times[-1] for host_times in times.values())
    rate = 0.0
    for host_times in times.values():
        if (
            len(host_times) > 3
        ):  # a host without a page for two turns counts to the end, one with three pages not at all
            last = host_times[-1] if end - host_times[-1] < 2.5 else end
            rate += (len(host_times) - 3) / (last - host_times[2])
    return rate


def _web(options: argparse.Namespace, top: Path, pages: int) -> tuple[Served, int]:
    port = free_port()
    if options.bed:
        return write_web(top / "web", recorded(Path(options.bed), pages, HOSTS), port, options.topic), port
    return write_web(top / "web", generated(pages, HOSTS, SEED, PAGE_SIZE), port, options.topic), port


def _peers_python(path: str) -> str:
    python = Path(path) if path else HERE.parent / ".venv-peers" / "bin" / "python"
    return str(python) if python.exists() else ""


def _has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bed", default="", help="serve recorded pages of this bed instead of generated ones")
    parser.add_argument("--topic", default="garden plants and animals", help="topic of our crawl")
    parser.add_argument(
        "--only", default="", help="crawlers to run, e.g. ours,contexts,scrapy,scrapy-fast,crawlee,crawl4ai,loop"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of our crawl")
    parser.add_argument(
        "--python", default="", help="interpreter of the environment with the other crawlers; default: .venv-peers"
    )
    parser.add_argument("--latency", action="store_true", help="measure ours alone, limited by politeness")
    parser.add_argument("--hosts", default="100,250,500,1000", help="for --latency")
    parser.add_argument("--quick", action="store_true", help="one small round, only to check for crashes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped too
    (latency if options.latency else compare)(options)


if __name__ == "__main__":
    main()
