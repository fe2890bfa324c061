"""`scenthound sources`, `seeds` and `backlinks`: list seed sources, and ask them for seeds or back-links."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli import plugin_docs
from scenthound.cli.output import emit, json_option, key_value, option, repeatable, say
from scenthound.cli.shell_words import complete_sources
from scenthound.errors import BadUsage, NotAUrl
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.loop.settings import Settings
    from scenthound.wiring import SourceAnswer

SOURCE = "A source to ask; `scenthound sources` lists them. Can be repeated."
source_option = repeatable("--source sources", "NAME:ADDRESS", SOURCE, required=True, shell_complete=complete_sources)
limit_option = click.option(
    "--limit",
    type=click.IntRange(1, 500),
    default=20,
    show_default=True,
    metavar="N",
    help="At most N results from each source.",
)
pairs_option = repeatable("--set pairs", "KEY=VALUE", "A setting, e.g. `contact=me@example.org` or `delay=2 s`.")
private_option = repeatable("--allow-private", "NET", "Allow this private network, e.g. `loopback` or `10.0.0.0/8`.")


@click.command()
@click.argument("name", required=False, shell_complete=complete_sources)
@json_option
def sources(name: str | None, as_json: bool) -> None:
    """List the seed sources (they find pages to start from), or describe one.

    \b
      $ scenthound sources
      $ scenthound sources searxng
    """
    from scenthound.sources import SOURCES

    listing = plugin_docs.PluginList(
        "sources",
        source_as_json,
        lambda source: plugin_docs.show(source, f"--source {source['name']}:ADDRESS,{{}}"),
        ("source", "back-links", "what it does"),
        lambda source: (source["name"], "yes" if source["knows_back_links"] else "no", source["about"]),
    )
    listing.run(SOURCES, name, as_json)


def source_as_json(name: str, kind: type[Any]) -> dict[str, Any]:
    """A source as JSON data: what it does, its parameters, and whether it knows back-links."""
    from scenthound.seeding import KnowsBackLinks

    return {**plugin_docs.describe(name, kind), "knows_back_links": issubclass(kind, KnowsBackLinks)}


@click.command()
@click.argument("topic")
@source_option
@repeatable("--seed known_seeds", "URL", "With --augment: a seed that you already have; can be repeated.")
@click.option("--augment", is_flag=True, help="Add pages that link to several of the seeds; fetches them to check.")
@limit_option
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@private_option
@pairs_option
@json_option
def seeds(topic: str, known_seeds: tuple[str, ...], augment: bool, limit: int, as_json: bool, **options: Any) -> None:
    """List pages that a crawl for TOPIC could start from. TOPIC is a few words, or a TOML file.

    Prints one URL per line, which `crawl --seeds -` reads. `crawl --source …` does both in one step.

    \b
      $ scenthound seeds "hot air ballooning" --source searxng:https://search.example.org/
      $ scenthound seeds "envelope repair" --source collections:balloons --limit 5 --json
      $ scenthound seeds ballooning --source bookmarks:bookmarks.html | scenthound crawl ballooning --seeds -
    """
    from scenthound.loop.crawl_toml import check_seeds, read_topic
    from scenthound.wiring import check_topic, find_seeds, found_urls

    parsed_topic, settings = read_topic(topic), source_settings(options)
    check_topic(parsed_topic)
    if known_seeds and not augment:
        raise BadUsage("--seed needs --augment", "add --augment, or leave out --seed")
    answers: list[SourceAnswer] = []
    urls = check_seeds([("--seed", seed) for seed in known_seeds])
    if not urls:
        answers = asyncio.run(find_seeds(parsed_topic, settings, limit))
        urls = found_urls(answers)
        _print_problems(answers)
    hubs = find_hubs(urls, parsed_topic, settings, quiet=as_json) if augment else []
    if as_json:
        emit(
            {
                "topic": parsed_topic.keywords,
                "seeds": [*urls, *hubs],
                "hubs": hubs,
                "answers": list(map(_plain, answers)),
            }
        )
        return
    for url in (*urls, *hubs):
        click.echo(printable(url))


@click.command()
@click.argument("url")
@source_option
@limit_option
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@private_option
@pairs_option
@json_option
def backlinks(url: str, limit: int, as_json: bool, **options: Any) -> None:
    """List pages that link to URL, as far as the sources know.

    `collections` knows the links themselves. A search engine finds pages that contain the URL as text; many of them
    link to it.

    \b
      $ scenthound backlinks https://example.org/reefs.html --source collections:reefs
      $ scenthound backlinks https://example.org/ --source searxng:https://search.example.org/ --json
    """
    from scenthound import url as urls
    from scenthound.wiring import asking, find_back_links

    try:
        target = urls.make(url)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
    settings = source_settings(options)

    async def ask() -> list[SourceAnswer]:
        async with asking(settings) as asker:
            return await find_back_links(target, settings, limit, asker)

    answers = asyncio.run(ask())
    if all(answer.problem for answer in answers):
        raise BadUsage("\n".join(f"{answer.source}: {answer.problem}" for answer in answers), answers[0].hint)
    _print_problems(answers)
    linking = list(dict.fromkeys(page.url for answer in answers for page in answer.found))
    if as_json:
        emit({"url": target, "back_links": linking, "answers": list(map(_plain, answers))})
        return
    for linking_url in linking:
        click.echo(printable(linking_url))
    if not linking:
        say("No known page links to it.")


def source_settings(options: Mapping[str, Any]) -> Settings:
    """Check and return the settings of these commands. Parameters of the default strategy are accepted and ignored."""
    from scenthound.loop.crawl_toml import DEFAULT_STRATEGY
    from scenthound.loop.settings import Settings, read
    from scenthound.wiring import check_sources, make_fetcher, split_settings

    pairs: Sequence[str] = options.get("pairs", ())
    values, _ = split_settings(dict(map(key_value, pairs)), DEFAULT_STRATEGY)
    flags = {key: value for key, value in options.items() if key in ("contact", "allow_private", "proxy") and value}
    settings = read(Settings, {**values, "sources": list(options["sources"]), **flags})
    check_sources(settings.sources)
    make_fetcher(settings)  # raises if the proxy can't be used
    return settings


def find_hubs(seeds: Sequence[str], topic: Any, settings: Settings, quiet: bool) -> list[str]:
    """The pages that link to several of the seeds."""
    from scenthound.wiring.find_hubs import augment_live

    report = (lambda sentence: None) if quiet else (lambda sentence: say(f"note: {printable(sentence, 200)}"))
    return list(augment_live(seeds, topic, settings, say=report).hubs)


def _print_problems(answers: Sequence[SourceAnswer]) -> None:
    for answer in answers:
        if answer.problem:
            say(f"note: {printable(answer.source)}: {printable(answer.problem)}")


def _plain(answer: SourceAnswer) -> dict[str, Any]:
    found = [{"url": page.url, "title": page.title} for page in answer.found]
    return {"source": answer.source, "found": found, "problem": answer.problem}
