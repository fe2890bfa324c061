"""`scenthound crawl` and `scenthound resume`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scenthound.cli.output import emit, json_option, say
from scenthound.cli.shell_words import settings_named, strategies_named

if TYPE_CHECKING:
    from scenthound.wiring import Session

F = TypeVar("F", bound=Callable[..., Any])


def one(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """A flag with a value: its names, what the value is called, and what it does."""
    return click.option(*names.split(), metavar=metavar, help=about, **more)


def many(names: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """A flag that may be given often."""
    return one(names, metavar, about, multiple=True, **more)


@click.command()
@click.argument("topic", required=False)
@many("--seed seeds", "URL", "Start here; may be given often.")
@many("--seeds seed_files", "FILE", "Start from these: a URL a line, or bookmarks in HTML; - is stdin.")
@one("--pages", "N", "Stop after this many pages.  [default: 1000]")
@one("--time", "TIME", "Stop after this long, as `90 s` or `2 h`.")
@one("--strategy", "NAME", "Who decides what comes next.  [default: best-first]", shell_complete=strategies_named)
@one("--model", "DIR", "What `scenthound train` made; brings its strategy along.", type=click.Path(path_type=Path))
@many(
    "--set pairs",
    "KEY=VALUE",
    "Any setting, or a parameter of the strategy; may be given often.",
    shell_complete=settings_named,
)
@one("--out", "DIR", "The new crawl's folder.  [default: made of the topic]", type=click.Path(path_type=Path))
@one("--config", "FILE", "TOML with settings, strategy, seeds; flags win over it.", type=click.Path(path_type=Path))
@one("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@one("--delay", "TIME", "Rest between two requests to one host.  [default: 1 s]")
@one("--concurrency", "N", "Requests in flight, all hosts together.  [default: 32]")
@one("--order", "NAME", "When better hosts rest: wait (quality), go on (speed), or auto.  [default: auto]")
@one("--frontier", "N", "URLs kept waiting; the worst are dropped.  [default: 100000]")
@click.option(
    "--scope",
    type=click.Choice(["host", "domain", "any"]),
    default="any",
    show_default=True,
    help="Stay on the seeds' hosts, in their domains, or go anywhere.",
)
@many("--host hosts", "NAME", "Stay on this host.")
@many("--domain domains", "NAME", "Stay in this domain.")
@many("--not-host not_hosts", "NAME", "Keep out of this host.")
@many("--not-domain not_domains", "NAME", "Keep out of this domain.")
@many("--path paths", "PATTERN", "Follow only paths that match (RE2), as `^/news/`.")
@many("--not-path not_paths", "PATTERN", "Leave paths alone that match.")
@one("--depth", "N", "Follow links at most this deep.  [default: no limit]")
@one("--pages-per-host", "N", "Fetch at most so many pages of one host.  [default: no limit]")
@one("--proxy", "URL", "Fetch through this proxy (http://, socks5://).")
@many("--allow-private", "NET", "A private network that may be reached: `loopback`, `10.0.0.0/8`.")
@json_option
def crawl(
    topic: str | None,
    seeds: tuple[str, ...],
    seed_files: tuple[str, ...],
    pairs: tuple[str, ...],
    strategy: str | None,
    model: Path | None,
    out: Path | None,
    config: Path | None,
    scope: str,
    as_json: bool,
    **flags: Any,
) -> int:
    """Crawl the web for TOPIC, best pages first. TOPIC is words, or a TOML file.

    Robots rules are obeyed and hosts are given rest. Interrupt with Ctrl-C; `scenthound resume DIR` goes on.

    \b
      $ scenthound crawl "hot air ballooning" --seed https://example.org/ --pages 500 --out balloons
      $ scenthound crawl balloons.toml --seeds bookmarks.html --contact me@example.org
      $ scenthound crawl bees --seed https://example.org/ --strategy best-n-first --set n=64 --scope domain
      $ scenthound crawl reefs.toml --seeds reefs.txt --model reefs-model
    """
    from scenthound.cli.inputs import slug, understand
    from scenthound.wiring import begin

    asked = understand(topic, seeds, seed_files, strategy, pairs, config, flags, scope, model)
    folder = out or Path(slug(asked.topic))
    if not asked.settings.contact and not asked.settings.user_agent and not as_json:
        say("note: --contact MAIL tells site owners whom to write to; that is good manners.")
    session = begin(
        asked.topic,
        asked.seeds,
        folder,
        strategy=asked.strategy,
        parameters=asked.parameters,
        settings=asked.settings,
        model=model,
    )
    return finish(session, as_json)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, readable=False), metavar="DIR")
@click.option(
    "--pages", type=click.IntRange(min=1), metavar="N", help="A new budget: stop when there are this many pages in all."
)
@click.option("--refetch", is_flag=True, help="Fetch pages again whose WARC file is missing.")
@json_option
def resume(folder: Path, pages: int | None, refetch: bool, as_json: bool) -> int:
    """Go on with a crawl, whatever ended it: Ctrl-C, a crash, a full disk, or a spent budget.

    \b
      $ scenthound resume balloons
      $ scenthound resume balloons --pages 2000
    """
    from scenthound.wiring import resume as take_up

    session = take_up(folder, pages=pages, refetch=refetch)
    for sentence in session.folder.recovered:
        say(f"note: {sentence}")
    budget = session.crawl.limits.pages
    if session.crawl.pages >= budget:
        say(f"note: the budget of {budget:,} pages is spent; raise it with --pages {2 * budget}")
    return finish(session, as_json)


def finish(session: Session, as_json: bool) -> int:
    """Run a crawl to its end, write its report, and say what came of it; gives the exit code.

    A crawl that brought not a single page is an error, with its cause.
    """
    import asyncio

    from scenthound.cli.app import INTERRUPTED
    from scenthound.cli.process import keep_memory
    from scenthound.cli.progress import Progress
    from scenthound.report.causes import why_nothing
    from scenthound.report.crawl_report import write_report
    from scenthound.report.facts import gather

    keep_memory()
    try:
        with Progress(session) as progress:
            reason = asyncio.run(session.run(tick=progress.tick, handle_signals=True))
        facts = gather(session.folder)
        report = write_report(session.folder, facts)
    finally:
        session.close()
    path = session.folder.path
    nothing = why_nothing(facts) if not facts.pages and reason != "interrupted" else None
    if as_json:
        wrong = {"error": nothing[0], "hint": nothing[1], "exit_code": 1} if nothing else {}
        emit({"folder": str(path), "report": str(report), **facts.as_plain(), **wrong})
    else:
        from scenthound.cli.folder_commands import show

        show(facts)
        say(f"report: {report}")
        if nothing:
            say(f"error: {nothing[0]}\nhint: {nothing[1]}")
    if reason == "interrupted":
        say(f"Go on with: scenthound resume {path}")
        return INTERRUPTED
    return 1 if nothing else 0
