"""`scenthound lab`, the command group of the laboratory, and its commands `generate` and `serve`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, repeatable, say
from scenthound.cli.root_command import Commands
from scenthound.errors import BadConfig, from_os_error

MODULES: Mapping[str, tuple[str, str]] = {
    "import": (
        "scenthound.lab.commands.lab_beds",
        "Turn a WARC, a folder of HTML, a crawl or a directory dump into a bed.",
    ),
    "generate": ("scenthound.lab.commands.lab", "Write a generated web as a bed."),
    "info": (
        "scenthound.lab.commands.lab_beds",
        "Describe a bed: size, links, topics, reachability, locality, and difficulty.",
    ),
    "run": ("scenthound.lab.commands.lab_run", "Replay strategies on a bed, one crawl for each topic."),
    "pool": ("scenthound.lab.commands.lab_run", "Measure live crawls together."),
    "measure": (
        "scenthound.lab.commands.lab_results",
        "Print means and standard errors of an experiment, or measure any crawler's trail.",
    ),
    "report": ("scenthound.lab.commands.lab_results", "Write an experiment's report.html."),
    "compare": ("scenthound.lab.commands.lab_results", "Test whether one strategy is better than another."),
    "communities": ("scenthound.lab.commands.lab_communities", "Find the community around given nodes of a graph."),
    "serve": ("scenthound.lab.commands.lab", "Serve a bed over HTTP, as a forward proxy or by Host header."),
}
"""For each subcommand, its module and its summary."""


@click.group(cls=Commands, modules=MODULES)
def lab() -> None:
    """Compare crawlers on recorded webs with known answers.

    \b
      $ scenthound lab generate beds/demo --pages 3000 --seed 1
      $ scenthound lab run beds/demo --strategies hound,breadth-first --pages 500 --out runs/first
      $ scenthound lab report runs/first
    """


class _HabitsCommand(click.Command):
    """A command whose help ends with the kinds of webs and their habits, which are loaded only when it is printed."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from dataclasses import fields

        from scenthound.lab.generate.web_kinds import ABOUT, HABITS
        from scenthound.parameters import default_of

        with formatter.section("Webs (--web)"):
            formatter.write_dl(list(ABOUT.items()))
        for kind, habits in HABITS.items():
            with formatter.section(f"Habits (--set) of a {kind} web"):
                formatter.write_dl(
                    [(f.name, f"{f.metadata.get('doc', '')}  [default: {default_of(f)}]") for f in fields(habits)]
                )


@click.command(cls=_HabitsCommand)
@click.argument("bed", type=click.Path(path_type=Path))
@option("--web kind", "NAME", "Kind of web: simple or realistic.", default="simple", show_default=True)
@option("--pages", "N", "Number of pages.", type=click.IntRange(min=10), default=3000, show_default=True)
@option("--seed", "N", "Random seed: another number gives another web.", type=int, default=1, show_default=True)
@option(
    "--topics", "N", "Number of topics with known answers.", type=click.IntRange(min=1), default=12, show_default=True
)
@option(
    "--page-size", "N", "Approximate bytes per page of a simple web.  [default: 5000]", type=click.IntRange(min=500)
)
@click.option(
    "--companies", is_flag=True, help="Add topics whose answers are companies that do not link to each other."
)
@repeatable("--set pairs", "KEY=VALUE", "A habit of the web; see below.")
@click.option(
    "--on-the-fly", is_flag=True, help="Write no pages; generate each when a crawl asks for it. For realistic webs."
)
@json_option
def generate(bed: Path, topics: int, pairs: tuple[str, ...], on_the_fly: bool, as_json: bool, **options: Any) -> None:
    """Write a generated web as a bed: the same arguments give the same bytes everywhere.

    \b
      $ scenthound lab generate beds/demo --pages 3000 --seed 1
      $ scenthound lab generate beds/large --web realistic --pages 1000000 --companies --on-the-fly
      $ scenthound lab generate beds/mine --web realistic --pages 20000 --set communities=3 --set hubs=0.4
    """
    from scenthound.lab.generate.web_kinds import WebOrder, write_web

    written = write_web(bed, WebOrder(topics=topics, habits=dict(map(key_value, pairs)), **options), on_the_fly)
    if as_json:
        emit({"bed": str(bed), **written.about, "topics": [topic.id for topic in written.topics]})
        return
    click.echo(bed)
    about = written.about
    others = f"{about.get('redirects', 0):,} redirects, {about.get('other_records', 0):,} other replies"
    say(f"{about['html_pages']:,} pages, {others}, {len(written.topics)} topics; digest {about['digest'][:12]}")
    if len(written.topics) < topics:
        say(f"note: a web of this size has only {len(written.topics)} topics, not {topics}; raise --pages to get more")
    if on_the_fly:
        say(f"Crawl it with: scenthound lab run {shlex.quote(str(bed))} --strategies hound --out RUN")
    else:
        say(f"Serve it with: scenthound lab serve {shlex.quote(str(bed))}")


@click.command()
@click.argument("bed", type=click.Path(path_type=Path))
@option("--port", "N", "Port on 127.0.0.1.  [default: a free one]", type=click.IntRange(0, 65535), default=0)
@option(
    "--latency",
    "SECONDS",
    "Delay each reply by this much.",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
)
@option("--jitter", "SECONDS", "Random extra delay.", type=click.FloatRange(min=0), default=0.0, show_default=True)
@option(
    "--error-rate",
    "SHARE",
    "Share of replies that are 503 errors.",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
)
@option("--robots", "WHAT", "`allow`, `deny`, or a robots.txt file, for all hosts.  [default: as recorded]")
@option("--seed", "N", "Random seed for the errors.", type=int, default=1, show_default=True)
@click.option("--as-http", is_flag=True, help="Serve https pages over http, and rewrite links to them.")
@click.option("--compress", is_flag=True, help="Compress replies for clients that accept gzip.")
@option("--log log_file", "FILE", "Log each request as a JSON line.", type=click.Path(path_type=Path))
@json_option
def serve(bed: Path, robots: str | None, as_json: bool, **options: Any) -> None:
    """Serve all hosts of a bed over HTTP until Ctrl-C, as a forward proxy or by Host header.

    The server has no certificates. To crawl a bed that was recorded over https, add --as-http, which changes links
    and redirects to http; `lab run` replays the bed as it was recorded.

    \b
      $ scenthound lab serve beds/demo --port 8080 --latency 0.05
      $ curl --proxy http://127.0.0.1:8080 http://HOST-OF-THE-BED/
    """
    from scenthound.lab.beds.bed import Bed
    from scenthound.lab.beds.bed_server import BedServer, ServerOptions

    opened = Bed.open(bed)
    if robots is not None and robots not in ("allow", "deny"):
        try:
            robots = Path(robots).read_text(encoding="utf-8", errors="replace") + "\n"
        except OSError as error:
            raise from_os_error(
                error,
                robots,
                BadConfig(
                    f"the robots file {robots} can't be read: {error.strerror}",
                    "choose another file, or use allow or deny",
                ),
            ) from None
    server = BedServer(opened, ServerOptions(robots=robots, **options))

    def announce(address: str) -> None:
        topic = opened.topics[0] if opened.topics else None
        seeds = list(map(str, topic.seeds)) if topic else []
        if options["as_http"]:
            seeds = [url.replace("https://", "http://", 1) for url in seeds]
        elif any(url.startswith("https://") for url in seeds):
            say("note: this server can't serve https pages; restart it with --as-http")
        if as_json:
            keywords = topic.keywords if topic else None
            emit({"bed": opened.name, "proxy": f"http://{address}", "topic": keywords, "seeds": seeds})
            return
        flags = " ".join(f"--seed {shlex.quote(seed_url)}" for seed_url in seeds) or "--seed http://HOST/"
        say(f"Serving {opened.name}; stop with Ctrl-C. Crawl it with:")
        click.echo(
            f"scenthound crawl {shlex.quote(topic.keywords if topic else 'TOPIC')} {flags} --proxy http://{address}"
            " --delay 0.05"
        )

    try:
        server.run_forever(announce)
    except OSError as error:
        raise BadConfig(
            f"can't serve on port {options['port']}: {error.strerror}", "choose another port with --port"
        ) from None
