"""`scenthound crawl` and `scenthound resume`: start a crawl, or continue one."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.crawl_options import fetch_options, looking_for_option, pdf_option, set_option, start_options
from scenthound.cli.output import emit, json_option, option, repeatable, say
from scenthound.cli.shell_words import complete_judges, complete_strategies
from scenthound.errors import BadUsage, OurFault, PluginFailed
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.loop.crawl_toml import CrawlRequest
    from scenthound.loop.settings import Settings
    from scenthound.report.crawl_facts import CrawlFacts
    from scenthound.wiring import Session


@click.command()
@click.argument("topic", required=False)
@start_options
@option("--topic-from", "FILE", "Take the topic and its seeds from FILE, a topics.jsonl or a bed.", type=Path)
@option("--id topic_id", "ID", "With --topic-from: the topic to take.")
@click.option(
    "--augment", is_flag=True, help="Also start from pages that link to several seeds, found with the sources."
)
@option("--pages", "N", "Stop after this many pages.  [default: 1000]")
@option("--time", "TIME", "Stop after this long, e.g. `90 s` or `2 h`.")
@click.option(
    "--stop-when-done",
    "stop_share",
    flag_value=0.05,
    type=float,
    help="Stop when the rest of the page limit is expected to yield at most 5 % of all relevant pages.",
)
@option("--strategy", "NAME", "How to choose the next page.  [default: hound]", shell_complete=complete_strategies)
@looking_for_option
@option(
    "--model",
    "DIR",
    "A model made by `scenthound train`, with its strategy.",
    type=click.Path(path_type=Path),
)
@set_option
@pdf_option
@option("--out", "DIR", "Folder of the new crawl.  [default: named after the topic]", type=click.Path(path_type=Path))
@option(
    "--config", "FILE", "TOML with settings, strategy and seeds; options override it.", type=click.Path(path_type=Path)
)
@option("--concurrency", "N", "Requests in flight over all hosts.  [default: 32]")
@option(
    "--order", "NAME", "While the best hosts rest: quality waits, speed fetches from others; or auto.  [default: auto]"
)
@option(
    "--judge",
    "NAME",
    "How to decide which pages are relevant, e.g. keywords:threshold=0.2.  [default: topic]",
    shell_complete=complete_judges,
)
@option("--frontier", "N", "Maximum number of URLs in the frontier; the worst are dropped.  [default: 100000]")
@click.option(
    "--scope",
    type=click.Choice(["host", "domain", "any"]),
    default="any",
    show_default=True,
    help="Stay on the seeds' hosts, stay in their domains, or go anywhere.",
)
@repeatable("--host hosts", "NAME", "Stay on this host.")
@repeatable("--domain domains", "NAME", "Stay in this domain.")
@repeatable("--not-host not_hosts", "NAME", "Stay off this host.")
@repeatable("--not-domain not_domains", "NAME", "Stay out of this domain.")
@repeatable("--path paths", "PATTERN", "Follow only URLs whose path matches (RE2), e.g. `^/news/`.")
@repeatable("--not-path not_paths", "PATTERN", "Do not follow URLs whose path matches.")
@option(
    "--profile",
    "NAME",
    "Use the limits of a paper: exp, biz, graph or econ; other options override it.",
    default="open",
)
@option("--depth", "N", "Follow at most N links from a seed.  [default: no limit]")
@option("--pages-per-host", "N", "Fetch at most N pages from each host.  [default: no limit]")
@fetch_options
@json_option
def crawl(out: Path | None, as_json: bool, **options: Any) -> int:
    """Crawl the web for TOPIC, best pages first. TOPIC is a few words, or a TOML file.

    Obeys robots.txt, and pauses between requests to the same host. Stop with Ctrl-C; continue with
    `scenthound resume DIR`.

    \b
      $ scenthound crawl "hot air ballooning" --seed https://example.org/ --pages 500 --out balloons
      $ scenthound crawl "hot air ballooning" --source searxng:https://search.example.org/ --set reseed_every=500
      $ scenthound crawl balloons.toml --seeds bookmarks.html --contact me@example.org
      $ scenthound crawl bees --seed https://example.org/ --strategy best-n-first --set n=64 --scope domain
      $ scenthound crawl reefs.toml --seeds reefs.txt --model reefs-model
      $ scenthound crawl --topic-from topics.jsonl --id ballooning --profile exp --strategy best-n-first
    """
    from scenthound.cli.crawl_request import CrawlOptions, crawl_request, slug
    from scenthound.wiring import begin

    own = {f.name: options.pop(f.name) for f in fields(CrawlOptions) if f.name in options}
    request = crawl_request(CrawlOptions(**own, settings=options))
    if not request.settings.contact and not request.settings.user_agent and not as_json:
        say("note: please add --contact MAIL, so that site owners know whom to write to")
    session = begin(
        request.topic,
        request.seeds,
        out or Path(slug(request.topic)),
        strategy=request.strategy,
        parameters=request.parameters,
        settings=request.settings,
        model=own["model"],
        found=request.found,
    )
    if not as_json:
        say_what_for(request)
    return finish(session, as_json)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, readable=False), metavar="DIR")
@click.option("--pages", type=click.IntRange(min=1), metavar="N", help="New limit on the total number of pages.")
@click.option("--refetch", is_flag=True, help="Fetch pages again if their WARC file is missing.")
@repeatable("--set pairs", "traps=BOOL", "Let URLs that look like traps wait, or fetch them like all others.")
@json_option
def resume(folder: Path, pages: int | None, refetch: bool, pairs: tuple[str, ...], as_json: bool) -> int:
    """Continue a crawl, however it ended: Ctrl-C, a crash, a full disk, or its page limit.

    \b
      $ scenthound resume balloons
      $ scenthound resume balloons --pages 2000
      $ scenthound resume balloons --set traps=false
    """
    from scenthound.wiring import resume as resume_crawl

    session = resume_crawl(folder, pages=pages, refetch=refetch, traps=_traps(pairs))
    if not as_json:
        say_what_for(session.folder.request, f"scenthound control {shlex.quote(str(folder))} looking-for")
    for note in (*session.folder.recovered, *_unusual_permissions(session.folder.request.settings)):
        say(f"note: {note}")
    if session.steering.is_paused:
        say(f"note: the crawl is paused; continue it with: scenthound control {folder} continue")
    budget = session.crawl.limits.pages
    if session.crawl.pages >= budget:
        fetched = session.crawl.pages
        amount = f"all {fetched:,}" if fetched == budget else f"{fetched:,}, more than {budget:,},"
        say(f"note: {amount} pages have been fetched; ask for more with --pages {2 * fetched}")
    return finish(session, as_json)


def _traps(pairs: tuple[str, ...]) -> str | None:
    """The value of the setting `traps`, the only one that a resumed crawl can change; None if it is not given."""
    for pair in pairs:
        name = pair.partition("=")[0]
        if name.strip() != "traps":
            raise BadUsage(
                f"`resume` can change `traps`, not `{printable(name[:80])}`",
                "start a new crawl with other settings; --pages N changes the page limit",
            )
    return pairs[-1].partition("=")[2] if pairs else None


def _unusual_permissions(settings: Settings) -> Iterator[str]:
    """Notes on what the folder's settings allow beyond the defaults; the folder may come from another person."""
    from scenthound.loop.crawl_toml import masked

    if settings.allow_private:
        yield f"the crawl.toml of this crawl allows private networks: {printable(', '.join(settings.allow_private))}"
    if settings.proxy:
        yield f"the crawl.toml of this crawl sends all requests through the proxy {printable(masked(settings.proxy))}"
    if not settings.verify_tls:
        yield "the crawl.toml of this crawl turns off the verification of server certificates"


def run_to_report(session: Session) -> tuple[str, CrawlFacts, Path]:
    """Run a crawl to its end and write its report. Returns why it ended, its figures, and the path of the report."""
    import asyncio

    from scenthound.cli.process_limits import keep_memory
    from scenthound.cli.progress import Progress
    from scenthound.report.crawl_facts import gather
    from scenthound.report.crawl_report import write_report

    keep_memory()
    try:
        with Progress(session) as progress:
            reason = asyncio.run(session.run(tick=progress.tick, handle_signals=True))
        facts = gather(session.folder)
        return reason, facts, write_report(session.folder, facts)
    except PluginFailed:
        with contextlib.suppress(OurFault, OSError):
            write_report(session.folder)
        raise
    finally:
        session.close()


def say_what_for(request: CrawlRequest, change: str = "--looking-for") -> None:
    """Print what a crawl looks for, and how to change it. `change` is empty if this command can't."""
    from scenthound.looking_for import in_words

    say(printable(in_words(request.topic, request.parsed_seeds(), change), 400))


def crawl_for(request: CrawlRequest, folder: Path) -> int:
    """Crawl into a new folder for a command that shows the result itself, and return the exit code.

    A crawl that fetched nothing is an error; the message names the cause.
    """
    from scenthound.cli.root_command import INTERRUPTED
    from scenthound.report.causes import why_nothing
    from scenthound.wiring import begin

    session = begin(
        request.topic, request.seeds, folder, strategy=request.strategy, parameters=request.parameters,
        settings=request.settings, found=request.found,
    )  # fmt: skip
    say_what_for(request, "")
    reason, facts, _ = run_to_report(session)
    if not facts.figures.pages:
        raise OurFault(*why_nothing(facts))
    if reason not in ("interrupted", "stopped"):
        return 0
    say(f"Continue with: scenthound resume {shlex.quote(str(folder))}")
    return INTERRUPTED


def finish(session: Session, as_json: bool) -> int:
    """Run a crawl to its end, write its report, print a summary and return the exit code.

    A crawl that fetched nothing is an error; the message names the cause.
    """
    from scenthound.cli.root_command import INTERRUPTED, ONLY_TRAPS, RESTING
    from scenthound.loop.selection import ALL_RESTS, ONLY_SUSPENDED
    from scenthound.report.causes import NO_HITS, why_nothing
    from scenthound.report.crawl_facts import how_to_fetch_suspended

    reason, facts, report = run_to_report(session)
    path = session.folder.path
    is_unfinished = reason in ("interrupted", "stopped")
    failure = why_nothing(facts) if not facts.figures.pages and not is_unfinished else None
    if as_json:
        error = {"error": failure[0], "hint": failure[1], "exit_code": 1} if failure else {}
        emit({"folder": str(path), "report": str(report), **facts.as_plain(), **error})
    else:
        from scenthound.cli.folder_commands import show

        show(facts)
        say(f"report: {report}")
        if failure:
            say(f"error: {failure[0]}\nhint: {failure[1]}")
        elif facts.figures.pages and not facts.figures.relevant:
            say(f"hint: {NO_HITS}")
    if is_unfinished:
        say(f"Continue with: scenthound resume {shlex.quote(str(path))}")
        return INTERRUPTED
    if failure:
        return 1
    if reason == ALL_RESTS:
        say(f"All URLs left are on resting hosts. Continue later with: scenthound resume {shlex.quote(str(path))}")
        return RESTING
    if reason == ONLY_SUSPENDED:
        say(how_to_fetch_suspended(facts.suspended_urls, path))
        return ONLY_TRAPS
    return 0
