"""`scenthound sources`, `seeds` and `backlinks`: what knows pages already, and what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli import plugin_docs
from scenthound.cli.output import emit, json_option, key_value, option, repeatable, say
from scenthound.cli.shell_words import sources_named
from scenthound.errors import BadUsage, NotAUrl
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.loop.settings import Settings
    from scenthound.wiring import SourceAnswer

SOURCE = "Ask this: `scenthound sources` lists what there is; may be given several times."
source_option = repeatable("--source sources", "NAME:ADDRESS", SOURCE, required=True, shell_complete=sources_named)
limit_option = click.option(
    "--limit", type=click.IntRange(1, 500), default=20, show_default=True, metavar="N", help="At most N of each source."
)
pairs_option = repeatable("--set pairs", "KEY=VALUE", "A setting, as `contact=me@example.org` or `delay=2 s`.")
private_option = repeatable(
    "--allow-private", "NET", "A private network that may be reached: `loopback`, `10.0.0.0/8`."
)


@click.command()
@click.argument("name", required=False, shell_complete=sources_named)
@json_option
def sources(name: str | None, as_json: bool) -> None:
    """List the seed sources, which say where a crawl can start, or describe one.

    \b
      $ scenthound sources
      $ scenthound sources searxng
    """
    from scenthound.sources import SOURCES

    listing = plugin_docs.Listing(
        "sources",
        described,
        lambda source: plugin_docs.show(source, f"--source {source['name']}:ADDRESS,{{}}"),
        ("source", "back-links", "what it does"),
        lambda source: (source["name"], "yes" if source["knows_back_links"] else "no", source["about"]),
    )
    listing.run(SOURCES, name, as_json)


def described(name: str, kind: type[Any]) -> dict[str, Any]:
    """A source as JSON data."""
    from scenthound.seeding import KnowsBackLinks

    return {**plugin_docs.described(name, kind), "knows_back_links": issubclass(kind, KnowsBackLinks)}


@click.command()
@click.argument("topic")
@source_option
@repeatable("--seed given", "URL", "With --augment: a seed that you have already.")
@click.option("--augment", is_flag=True, help="Add pages that link to several of the seeds; fetches them to be sure.")
@limit_option
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@private_option
@pairs_option
@json_option
def seeds(topic: str, given: tuple[str, ...], augment: bool, limit: int, as_json: bool, **options: Any) -> None:
    """List pages from which a crawl for TOPIC could start. TOPIC is words, or a TOML file.

    Prints one address a line, which `crawl --seeds -` reads. `crawl --source …` does both at once.

    \b
      $ scenthound seeds "hot air ballooning" --source searxng:https://search.example.org/
      $ scenthound seeds "envelope repair" --source collections:balloons --limit 5 --json
      $ scenthound seeds ballooning --source bookmarks:bookmarks.html | scenthound crawl ballooning --seeds -
    """
    from scenthound.loop.crawl_toml import check_seeds, read_topic
    from scenthound.wiring import check_topic, find_seeds, found_urls

    wanted, settings = read_topic(topic), asked_settings(options)
    check_topic(wanted)
    if given and not augment:
        raise BadUsage("--seed is for --augment", "add --augment, or leave out --seed")
    answers: list[SourceAnswer] = []
    found = check_seeds([("--seed", seed) for seed in given])
    if not found:
        answers = asyncio.run(find_seeds(wanted, settings, limit))
        found = found_urls(answers)
        _complain(answers)
    hubs = augmented(found, wanted, settings, quiet=as_json) if augment else []
    if as_json:
        emit({"topic": wanted.keywords, "seeds": [*found, *hubs], "hubs": hubs, "answers": list(map(_plain, answers))})
        return
    for url in (*found, *hubs):
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

    `collections` has seen the links. A search engine names pages that write the address out, many of which link.

    \b
      $ scenthound backlinks https://example.org/reefs.html --source collections:reefs
      $ scenthound backlinks https://example.org/ --source searxng:https://search.example.org/ --json
    """
    from scenthound import url as urls
    from scenthound.wiring import asking, find_back_links

    try:
        page = urls.make(url)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the whole URL, as https://example.org/page") from None
    settings = asked_settings(options)

    async def ask() -> list[SourceAnswer]:
        async with asking(settings) as asker:
            return await find_back_links(page, settings, limit, asker)

    answers = asyncio.run(ask())
    if all(answer.problem for answer in answers):
        raise BadUsage("\n".join(f"{answer.source}: {answer.problem}" for answer in answers), answers[0].hint)
    _complain(answers)
    linking = list(dict.fromkeys(one.url for answer in answers for one in answer.found))
    if as_json:
        emit({"url": page, "back_links": linking, "answers": list(map(_plain, answers))})
        return
    for linked in linking:
        click.echo(printable(linked))
    if not linking:
        say("No page is known that links there.")


def asked_settings(options: Mapping[str, Any]) -> Settings:
    """The settings that these commands take, checked. Parameters of the default strategy are ignored."""
    from scenthound.loop.crawl_toml import DEFAULT_STRATEGY
    from scenthound.loop.settings import Settings, read
    from scenthound.wiring import check_sources, split_settings

    pairs: Sequence[str] = options.get("pairs", ())
    named, _ = split_settings(dict(map(key_value, pairs)), DEFAULT_STRATEGY)
    given = {**named, "sources": list(options["sources"])}
    flags = {key: value for key, value in options.items() if key in ("contact", "allow_private") and value}
    settings = read(Settings, {**given, **flags})
    check_sources(settings.sources)
    return settings


def augmented(found: Sequence[str], topic: Any, settings: Settings, quiet: bool) -> list[str]:
    """The pages that link to several of the seeds."""
    from scenthound.lab.topics.live_web import augment_live

    say_it = (lambda sentence: None) if quiet else (lambda sentence: say(f"note: {printable(sentence, 200)}"))
    return list(augment_live(found, topic, settings, say=say_it).hubs)


def _complain(answers: Sequence[SourceAnswer]) -> None:
    for answer in answers:
        if answer.problem:
            say(f"note: {printable(answer.source)}: {printable(answer.problem)}")


def _plain(answer: SourceAnswer) -> dict[str, Any]:
    found = [{"url": one.url, "title": one.title} for one in answer.found]
    return {"source": answer.source, "found": found, "problem": answer.problem}
