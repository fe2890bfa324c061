"""How soon does `scenthound ask` show its first result, counted from the first reply of the web?

    $ python benchmarks/ask.py [--quick] [--rounds 10]

Asks a generated web, served on this machine, with each algorithm in turn: on the command line (`scenthound ask --json`,
until the line of the first hit arrives), and at the desk in Chromium (until the first result is drawn). The clock
starts when the server sends its first page; robots.txt does not count. A question is the name of a topic, and starts
from five of its pages, as a seed source would find them. Delays are the default: one second between requests to a host.
Figures are in seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scenthound.desk.apps.ask import QUESTION_STRATEGIES
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.topic_list import BedTopic

COMMAND = [sys.executable, "-m", "scenthound"]
PROMISED = 2.0  # seconds
PAGES, STARTS = 20, 5
SHOWN = """() => new Promise((done) => {
  const look = () => document.querySelector('#hits li') ? done(Date.now() / 1000) : requestAnimationFrame(look);
  look();
})"""
Asks = Callable[[BedTopic, str], float]


def start_of(topic: BedTopic) -> list[str]:
    return sorted(topic.targets)[:STARTS]


def on_command_line(address: str) -> Asks:
    """Return a function that asks on the command line and returns the time at which the first hit arrives."""

    def ask(topic: BedTopic, strategy: str) -> float:
        seeds = [argument for seed in start_of(topic) for argument in ("--seed", seed)]
        options = ["--json", "--strategy", strategy, "--pages", str(PAGES), "--proxy", address]
        process = subprocess.Popen(
            [*COMMAND, "ask", topic.keywords, *seeds, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        with process:
            arrived = next((time.time() for line in process.stdout if "hit" in json.loads(line)), float("inf"))
            process.terminate()
        return arrived

    return ask


@contextlib.contextmanager
def in_browser(home: Path, address: str) -> Iterator[Asks]:
    """Open the desk in Chromium; yields a function that asks there and returns the time of the first result."""
    from playwright.sync_api import sync_playwright

    command = [*COMMAND, "desk", "--no-browser", "--port", "0", "--home", str(home), "--set", f"proxy={address}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    desk = process.stdout.readline().strip()
    try:
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page()
            page.goto(desk)
            yield lambda topic, strategy: _ask_in_browser(page, desk.partition("/#")[0], topic, strategy)
            browser.close()
    finally:
        process.terminate()
        process.wait()


def _ask_in_browser(page: Any, base: str, topic: BedTopic, strategy: str) -> float:
    page.goto(f"{base}/ask")
    page.fill("#topic", topic.keywords)
    page.fill("#seeds", "\n".join(start_of(topic)))
    page.check(f"[name=strategy][value={strategy}]")
    page.check(f"[name=pages][value='{PAGES}']")
    page.click("#asking button.primary")
    shown_at = float(page.evaluate(SHOWN))
    page.click("#discard")
    page.wait_for_selector("#answer", state="hidden")
    return shown_at


def first_reply(server: BedServer, since: float) -> float:
    """The time at which the server sent its first page after `since`."""
    pages = (visit for visit in server.log if visit.start >= since and visit.path != "/robots.txt")
    return min(visit.end for visit in pages if visit.status == 200)


def measure(
    rounds: int, methods: dict[str, Asks], strategies: list[str], server: BedServer, topics: list[BedTopic]
) -> None:
    waits: dict[tuple[str, str], list[float]] = {
        (method, strategy): [] for method in methods for strategy in strategies
    }
    for index in range(rounds):
        topic = topics[index % len(topics)]
        for (method, strategy), times in waits.items():
            since = time.time()
            times.append(methods[method](topic, strategy) - first_reply(server, since))
    print("| | algorithm | median | longest | within 2 s |\n|---|---|---|---|---|")
    for (method, strategy), times in waits.items():
        in_time = sum(wait <= PROMISED for wait in times)
        print(
            f"| {method} | {strategy} | {statistics.median(times):.2f} | {max(times):.2f} | {in_time} of {len(times)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="questions for each algorithm  [default: 10]")
    parser.add_argument("--quick", action="store_true", help="one question with the first algorithm, without a browser")
    options = parser.parse_args()
    web = GeneratedWeb(pages=600 if options.quick else 3000, seed=11)
    server = BedServer(web, ServerOptions())
    with serving(server) as address, tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as opened:
        methods = {"command": on_command_line(address)}
        if not options.quick:
            methods["desk"] = opened.enter_context(in_browser(Path(home), address))
        strategies = list(QUESTION_STRATEGIES)[:1] if options.quick else list(QUESTION_STRATEGIES)
        measure(1 if options.quick else options.rounds, methods, strategies, server, list(web.topics))


if __name__ == "__main__":
    main()
