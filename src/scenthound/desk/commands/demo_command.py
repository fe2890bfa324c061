"""`scenthound demo`: crawl a generated web over HTTP with two strategies, and compare them."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.desk.commands.desk_command import open_desk, require_desk_packages
from scenthound.errors import BadConfig, BadUsage, DiskFull

if TYPE_CHECKING:
    from scenthound.report.comparison_page import ComparedCrawl, ComparedTask
    from scenthound.topic_list import BedTopic

MARK = ".scenthound-demo"  # marks a folder that the demo made and may replace
STRATEGIES = ("hound", "breadth-first")
WEB_PAGES, WEB_SEED, WEB_TOPIC = 4000, 7, "puppet theatre"
ABOUT = {
    "hound": "follows the links that look best, judging by all pages so far",
    "breadth-first": "follows links in the order it finds them",
}
FASTER = 20  # delay, latency and back-off of a real crawl are all divided by this, which keeps its fetch order


@click.command()
@click.option(
    "--pages", type=click.IntRange(10, 3000), default=600, show_default=True, help="Pages for each of the two crawls."
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for both crawls.",
)
@click.option("--desk", "at_desk", is_flag=True, help="Afterwards, open both crawls at the desk in the browser.")
@click.option("--no-browser", is_flag=True, help="With --desk: only print the address.")
@json_option
def demo(pages: int, folder: Path, at_desk: bool, no_browser: bool, as_json: bool) -> int:
    """See it work: crawl an embedded web for one topic with hound and breadth-first, and compare.

    The web is generated: a few thousand pages on several hundred hosts, served on loopback. No network is needed. All
    times are those of a real crawl divided by 20: hosts rest 50 ms instead of 1 s, and replies take 10 ms instead of
    200 ms. Pages are therefore fetched in the order of a real crawl.

    \b
      $ scenthound demo
      $ scenthound demo --pages 200 --out /tmp/demo
      $ scenthound demo --desk
    """
    if no_browser and not at_desk:
        raise BadUsage("--no-browser needs --desk", "add --desk, or leave --no-browser out")
    if at_desk:
        require_desk_packages()
    try:
        code = _demo(pages, folder, as_json)
    except DiskFull as error:
        raise DiskFull(
            error.path, "make room, or choose another folder with --out; then run the demo again", error.left
        ) from error
    if at_desk and code == 0:
        open_desk([folder], no_browser=no_browser, as_json=as_json)
    return code


def _demo(pages: int, folder: Path, as_json: bool) -> int:
    from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
    from scenthound.lab.generate.simple_web import GeneratedWeb
    from scenthound.lab.run.polite_replay import PoliteLimits

    _clear(folder)
    say(f"generating a web of {WEB_PAGES:,} pages …")
    web = GeneratedWeb(WEB_PAGES, WEB_SEED, topics=100)
    topic = next((topic for topic in web.topics if topic.path[-1] == WEB_TOPIC), web.topics[0])
    task = _task(web.plan.hosts, len(topic.targets), folder)
    say(
        f"{len(topic.targets)} of the pages are about {task.topic}; the web has {web.plan.hosts} hosts. "
        f"Each crawler is given only the topic's name and {len(topic.seeds)} pages to start from."
    )
    crawls = []
    with serving(BedServer(web, ServerOptions(latency=PoliteLimits().latency / FASTER))) as address:
        for strategy in STRATEGIES:
            say(f"\n{strategy} {ABOUT[strategy]}:")
            crawls.append(_crawl(strategy, topic, pages, folder, f"http://{address}"))
            if crawls[-1].facts.ended == "demo stopped":
                say("stopped; run the demo again to start over")
                return 1
    page = _write_comparison(task, crawls, folder)
    _print_results(task, crawls, page, as_json)
    return 0


def _task(hosts: int, targets: int, folder: Path) -> ComparedTask:
    from scenthound.report.comparison_page import ComparedTask

    best = shlex.quote(str(folder / STRATEGIES[0]))
    web = (
        f"The web was generated for this demo: {WEB_PAGES:,} pages on {hosts} hosts, served on this machine. "
        f"Delays are those of a polite crawl of the real web, divided by {FASTER}."
    )
    seed = "https://en.wikipedia.org/wiki/Hot_air_balloon"
    real = f'scenthound crawl "hot air ballooning" --seed {seed} --pages 100 --contact you@example.org'
    steps = [
        (f"scenthound desk {shlex.quote(str(folder))}", "see both crawls in the browser"),
        (f"scenthound status {best}", "the figures of the first crawl"),
        (f"scenthound export {best} --to csv --relevant", "its relevant pages as a table"),
        (real, "a crawl of the real web"),
        ("scenthound strategies", "other ways to choose the next page"),
    ]
    return ComparedTask(WEB_TOPIC, targets, web, steps)


def _crawl(strategy: str, topic: BedTopic, pages: int, folder: Path, proxy: str) -> ComparedCrawl:
    import asyncio

    from scenthound.cli.progress import Progress
    from scenthound.loop.settings import Settings
    from scenthound.model import Topic
    from scenthound.report.comparison_page import ComparedCrawl
    from scenthound.report.copies import write_copies
    from scenthound.report.crawl_facts import gather
    from scenthound.report.crawl_report import write_report
    from scenthound.wiring import begin

    usual = Settings()
    settings = Settings(
        pages=pages,
        delay=usual.delay / FASTER,
        backoff=usual.backoff / FASTER,
        contact="demo@scenthound.invalid",
        proxy=proxy,
    )
    crawl_topic = Topic(WEB_TOPIC, name=WEB_TOPIC.capitalize())
    session = begin(crawl_topic, list(topic.seeds), folder / strategy, strategy=strategy, settings=settings)
    try:
        with Progress(
            session, title=strategy, resumable=False, doubts=False
        ) as progress:  # the seeds are off topic by design
            reason = asyncio.run(session.run(tick=progress.tick, handle_signals=True))
        if reason == "interrupted":  # its web disappears with this process, so it can't be resumed
            session.folder.finish("demo stopped", session.clock())
        say(progress.line())
        facts = gather(session.folder)
        write_report(session.folder, facts)
        copies = write_copies(session.folder, facts.best)
        targets = set(topic.targets)
        found = list(itertools.accumulate(step.url in targets for step in session.folder.history.trail()))
    finally:
        session.close()
    return ComparedCrawl(strategy, ABOUT[strategy], facts, found, strategy, copies)


def _write_comparison(task: ComparedTask, crawls: list[ComparedCrawl], folder: Path) -> Path:
    from scenthound.files import write_text
    from scenthound.report.comparison_page import render_comparison

    page = folder / "index.html"
    write_text(page, render_comparison(task, crawls[0], crawls[1]))
    return page


def _print_results(task: ComparedTask, crawls: list[ComparedCrawl], page: Path, as_json: bool) -> None:
    from scenthound.report.comparison_page import verdict

    sentence = verdict(task, crawls[0], crawls[1])
    if as_json:
        results = [_plain(task, crawl, page.parent) for crawl in crawls]
        emit({"topic": task.topic, "verdict": sentence, "page": str(page), "crawls": results})
        return
    rows = [
        (
            crawl.name,
            f"{crawl.facts.figures.pages:,}",
            f"{crawl.found[-1] if crawl.found else 0:,} of {task.wanted:,}",
            f"{crawl.facts.figures.harvest:.0%}",
        )
        for crawl in crawls
    ]
    console = out()
    console.print(table(("strategy", "pages fetched", f"about {task.topic}", "harvest rate"), rows, numbers=(1, 2, 3)))
    console.print("Harvest rate: the share of fetched pages that the judge considers on topic.\n")
    console.print(sentence, style="bold", soft_wrap=True)
    console.print(f"\nSee both crawls: {page.resolve().as_uri()}", soft_wrap=True)
    console.print("Try next:")
    for command, about in task.next_steps:
        console.print(f"  {_as_started(command)}   # {about}", soft_wrap=True)


def _as_started(command: str) -> str:
    """A command that works here: with the path of the program as it was started, if it is not on PATH."""
    program = Path(sys.argv[0])
    if program.name != "scenthound" or shutil.which("scenthound"):
        return command
    return re.sub(r"^scenthound\b", lambda _: shlex.quote(str(program)), command)


def _plain(task: ComparedTask, crawl: ComparedCrawl, folder: Path) -> dict[str, Any]:
    facts, found = crawl.facts, crawl.found[-1] if crawl.found else 0
    return {
        "strategy": crawl.name,
        "folder": str(folder / crawl.folder),
        "report": str(folder / crawl.folder / "report.html"),
        "ended": facts.ended,
        "pages": facts.figures.pages,
        "harvest": facts.figures.harvest,
        "targets_found": found,
        "targets": task.wanted,
        "target_recall": found / task.wanted if task.wanted else 0.0,
        "pages_per_second": facts.rate,
        "errors": sum(facts.figures.misses.values()),
    }


def _clear(folder: Path) -> None:
    """Prepare the folder. Only files of an earlier demo are replaced."""
    from scenthound.files import NO_ROOM, refuse_link, write_text
    from scenthound.store.lock import holder

    if folder.exists():
        refuse_link(folder / MARK)
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARK).is_file()):
            raise BadConfig(f"{folder} exists and was not made by the demo", "choose another folder with --out")
        for strategy in STRATEGIES:
            refuse_link(folder / strategy)
            refuse_link(folder / "index.html")
            if holder(folder / strategy) is not None:
                raise BadConfig(
                    f"another demo is running in {folder}", "wait for it to end, or choose another folder with --out"
                )
            if (folder / strategy).is_dir():
                shutil.rmtree(folder / strategy)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MARK, "`scenthound demo` made this folder and overwrites its contents.\n")
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(folder) from error
        raise BadConfig(f"{folder} can't be written to: {error.strerror}", "choose another folder with --out") from None
