"""`scenthound demo`: crawl a generated web over HTTP with two strategies, and compare them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.errors import BadConfig, DiskFull

if TYPE_CHECKING:
    from scenthound.lab.beds.bed import BedTopic

MARK = ".scenthound-demo"  # marks a folder that the demo made and may replace
STRATEGIES = ("best-first", "breadth-first")
WEB_PAGES, WEB_SEED, WEB_TOPIC = 4000, 7, "puppet theatre"
FASTER = 20  # times: delay, latency and back-off of a real crawl are divided by this, so its order is the same


@click.command()
@click.option(
    "--pages", type=click.IntRange(10, 3000), default=600, show_default=True, help="Pages for each of the two crawls."
)
@click.option(
    "--out", "folder", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder for both."
)
@json_option
def demo(pages: int, folder: Path, as_json: bool) -> int:
    """See it work: crawl an embedded web over real HTTP with best-first and with breadth-first, and compare.

    The web is generated, a few thousand pages on several hundred host names, and served on loopback. No network
    is needed. All times are those of a real crawl divided by 20: hosts rest 50 ms instead of 1 s, and replies take
    10 ms instead of 200 ms. So pages are fetched in the order of a real crawl.

    \b
      $ scenthound demo
      $ scenthound demo --pages 200 --out /tmp/demo
    """

    try:
        return _demo(pages, folder, as_json)
    except DiskFull as error:
        raise DiskFull(
            error.path, "make room, or name another folder with --out; then run it again", error.left
        ) from error


def _demo(pages: int, folder: Path, as_json: bool) -> int:
    from scenthound.lab.beds.serve import BedServer, ServerOptions, serving
    from scenthound.lab.generate.web import GeneratedWeb
    from scenthound.lab.run.polite_replay import PoliteLimits

    _clear(folder)
    say(f"making a web of {WEB_PAGES:,} pages …")
    web = GeneratedWeb(WEB_PAGES, WEB_SEED, topics=100)
    topic = next((topic for topic in web.topics if topic.path[-1] == WEB_TOPIC), web.topics[0])
    on_topic, seeds = len(topic.targets), len(topic.seeds)
    say(f"{web.plan.hosts} hosts; the topic is “{topic.keywords}”: {on_topic} pages are on it; {seeds} seeds")
    results = []
    with serving(BedServer(web, ServerOptions(latency=PoliteLimits().latency / FASTER))) as address:
        for strategy in STRATEGIES:
            result = _crawl(strategy, topic, pages, folder / strategy, f"http://{address}")
            results.append(result)
            if result["ended"] == "stopped":
                break
    _print_results(results, topic, as_json)
    if results[-1]["ended"] == "stopped":
        say("stopped; run it again to start over")
        return 1
    return 0


def _crawl(strategy: str, topic: BedTopic, pages: int, folder: Path, proxy: str) -> dict[str, Any]:
    import asyncio

    from scenthound.cli.progress import Progress
    from scenthound.loop.settings import Settings
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
    session = begin(topic.keywords, list(topic.seeds), folder, strategy=strategy, settings=settings)
    try:
        with Progress(session, title=strategy, resumable=False) as progress:
            reason = asyncio.run(session.run(tick=progress.tick, handle_signals=True))
        if reason == "interrupted":  # its web ends with this process, so it can't be resumed
            session.folder.finish("stopped", session.clock())
        say(progress.line())
        facts = gather(session.folder)
        report = write_report(session.folder, facts)
        targets = set(topic.targets)
        on_topic = sum(step.url in targets for step in session.folder.history.trail())
    finally:
        session.close()
    return {
        "strategy": strategy,
        "folder": str(folder),
        "report": str(report),
        "ended": facts.ended,
        "pages": facts.pages,
        "harvest": facts.harvest,
        "targets_found": on_topic,
        "targets": len(targets),
        "target_recall": on_topic / len(targets) if targets else 0.0,
        "pages_per_second": facts.rate,
        "errors": sum(facts.misses.values()),
    }


def _print_results(results: list[dict[str, Any]], topic: BedTopic, as_json: bool) -> None:
    if as_json:
        emit({"topic": topic.keywords, "crawls": results})
        return
    rows = [
        (
            crawl["strategy"],
            f"{crawl['pages']:,}",
            f"{crawl['harvest']:.1%}",
            f"{crawl['targets_found']:,} of {crawl['targets']:,}",
            f"{crawl['target_recall']:.1%}",
            f"{crawl['pages_per_second']:.0f}",
            f"{crawl['errors']:,}",
        )
        for crawl in results
    ]
    heads = ("strategy", "pages", "harvest rate", "on-topic pages found", "target recall", "pages/s", "errors")
    console = out()
    console.print(table(heads, rows, numbers=range(1, len(heads))))
    console.print("Harvest: pages similar to the keywords. Found and recall: pages generated for the topic.")
    for crawl in results:
        console.print(f"{crawl['strategy']:>14}: {crawl['folder']}/  report: {crawl['report']}", soft_wrap=True)


def _clear(folder: Path) -> None:
    """Prepare the folder. Only what an earlier demo made is replaced."""
    from scenthound.files import NO_ROOM, refuse_link, write_text
    from scenthound.store.lock import holder

    if folder.exists():
        refuse_link(folder / MARK)
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARK).is_file()):
            raise BadConfig(f"{folder} exists and was not made by the demo", "name another folder with --out")
        for strategy in STRATEGIES:
            refuse_link(folder / strategy)
            if holder(folder / strategy) is not None:
                raise BadConfig(
                    f"another demo is running in {folder}", "wait for it, or name another folder with --out"
                )
            if (folder / strategy).is_dir():
                shutil.rmtree(folder / strategy)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / MARK, "`scenthound demo` made this folder and replaces what is in it.\n")
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(folder) from error
        raise BadConfig(f"{folder} can't be written to: {error.strerror}", "name another folder with --out") from None
