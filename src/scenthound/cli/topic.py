"""`scenthound topic`: make a topic from example pages, and look at one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.app import Commands
from scenthound.cli.crawl import many, one
from scenthound.cli.output import emit, json_option, out, say, table

if TYPE_CHECKING:
    from scenthound.lab.run.lesson_sources import Source
    from scenthound.lab.topics.example_file import Example
    from scenthound.lab.topics.from_examples import CategoryMatch, Keyword, LeaveOneOut
    from scenthound.lab.topics.taxonomies import Categories

SHOWN = 10
LEAST = 0.001  # probability of a category that is worth a line
FEW = 10  # examples below which the figures say little
FOUND_IN: Mapping[str, tuple[str, str]] = {
    "new": ("topic", "Make a topic file from example pages."),
    "show": ("topic", "Show a topic file and its examples."),
}


@click.group(cls=Commands, found_in=FOUND_IN)
def topic() -> None:
    """Say what you look for by showing pages, not by writing a classifier.

    \b
      $ scenthound topic new reefs.toml --examples urls.txt
      $ scenthound topic show reefs.toml
    """


@dataclass(frozen=True, slots=True)
class Found:
    """All that was found out about the examples, before anybody decided anything."""

    examples: list[Example]
    same: int
    problems: list[str]
    keywords: list[Keyword]
    falls: list[CategoryMatch]
    sureness: LeaveOneOut | None
    background: Source


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@many("--examples places", "PLACE", "An address, a file of them, bookmarks, a folder of pages, or a crawl folder.")
@one("--from source", "BED_OR_CRAWL", "Look addresses up there instead of fetching them.")
@one("--name", "NAME", "What the topic is called.  [default: FILE without .toml]")
@one("--keywords", "WORDS", "Use these, and not the proposed ones.")
@one("--description", "TEXT", "A longer description, for people and judges.", default="")
@one("--taxonomy", "PLACE", "Categories: an ODP dump, a bed with topics, or a folder of folders of text.")
@one("--depth", "N", "Levels of the taxonomy that are told apart.", type=click.IntRange(min=1))
@many("--good", "CATEGORY", "A category of the taxonomy that counts as on topic.")
@one("--add-category", "CATEGORY", "Where the examples belong, as `nature/reefs`.  [default: NAME]")
@one(
    "--background",
    "PLACE",
    "Other pages to tell them from: a bed, a crawl, pages.  [default: --from, else a generated web]",
)
@click.option("--yes", is_flag=True, help="Ask nothing; take what is proposed.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@one("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@one("--delay", "TIME", "Rest between two requests to one host.  [default: 1 s]")
@one("--proxy", "URL", "Fetch through this proxy (http://, socks5://).")
@many("--allow-private", "NET", "A private network that may be reached: `loopback`, `10.0.0.0/8`.")
@many("--set pairs", "KEY=VALUE", "Any setting of a crawl, for fetching the examples.")
@json_option
def new(
    file: Path,
    places: tuple[str, ...],
    source: str | None,
    name: str | None,
    keywords: str | None,
    description: str,
    taxonomy: str | None,
    depth: int | None,
    good: tuple[str, ...],
    add_category: str | None,
    background: str | None,
    yes: bool,
    force: bool,
    pairs: tuple[str, ...],
    as_json: bool,
    **flags: Any,
) -> None:
    """Make FILE.toml from example pages, and keep their text in FILE.examples.jsonl beside it.

    It proposes keywords, shows which categories of a taxonomy the examples fall into, lets you correct both (in a
    terminal; else by flags), and says how sure a classifier is that has seen no more than these examples.

    \b
      $ scenthound topic new reefs.toml --examples urls.txt --contact me@example.org
      $ scenthound topic new reefs.toml --examples bookmarks.html --taxonomy content.rdf.u8 --good Science/Biology
      $ scenthound topic new reefs.toml --examples pages/ --background beds/schools --keywords "coral reef" --yes
    """
    from scenthound.errors import BadUsage

    if file.suffix != ".toml":
        raise BadUsage(f"{file} is no name for a topic file", f"call it {file.with_suffix('.toml').name}")
    if file.exists() and not force:
        raise BadUsage(f"{file} exists", "name another file, or overwrite it with --force")
    if not file.absolute().parent.is_dir():
        raise BadUsage(f"there is no folder {file.parent}", "make it first")
    if not places:
        raise BadUsage("no examples: show what you look for", "add --examples urls.txt, or an address")
    name = name or file.name.removesuffix(".toml")
    categories = _categories(taxonomy, depth)
    _check_good(good, categories, add_category)
    settings = _settings(flags, pairs)
    background = background or source  # real pages are harder to tell apart than made-up ones
    found = _find_out(places, source, background, categories, settings, as_json)
    _tell(found, as_json)
    may_ask = not yes and not as_json and sys.stdin.isatty()
    chosen = keywords or " ".join(one.word for one in found.keywords)
    if may_ask and keywords is None:
        chosen = click.prompt("Keywords", default=chosen, err=True)
    marked = list(good)
    if may_ask and not good and found.falls:
        marked = _ask_good(found.falls, categories)
    category = add_category or name
    if may_ask and add_category is None:
        category = click.prompt("Category of your examples", default=category, err=True)
    _write(file, name, chosen, description, category, marked, found, taxonomy, depth, background)
    if not as_json:
        _hint_good(found, marked)
    _done(file, chosen, category, marked, found, as_json)


def _categories(taxonomy: str | None, depth: int | None) -> Categories | None:
    from scenthound.lab.topics.taxonomies import read_categories

    return None if taxonomy is None else read_categories(taxonomy, depth)


def _check_good(good: Sequence[str], categories: Categories | None, added: str | None) -> None:
    from scenthound.errors import BadUsage
    from scenthound.lab.run.topic_lessons import category_name
    from scenthound.lab.topics.taxonomies import check_good, path_named

    if good and categories is None:
        raise BadUsage("--good marks categories, and there is no taxonomy", "add --taxonomy PLACE")
    if categories is not None:
        own = [category_name(path_named(added))] if added else []
        check_good(good, [*categories.names, *own])


def _settings(flags: Mapping[str, Any], pairs: Sequence[str]) -> Any:
    from scenthound.cli.lab_beds import pair
    from scenthound.loop.settings import Settings, read

    given = {key: list(value) if isinstance(value, tuple) else value for key, value in flags.items() if value}
    return read(Settings, {**dict(map(pair, pairs)), **given})


def _find_out(
    places: Sequence[str],
    source: str | None,
    background: str | None,
    categories: Categories | None,
    settings: Any,
    as_json: bool,
) -> Found:
    import random

    from scenthound.cli.lab_progress import Pieces
    from scenthound.lab.run.lesson_sources import GENERATED, open_source
    from scenthound.lab.run.topic_lessons import background as sample
    from scenthound.lab.topics.example_file import Example, content, different
    from scenthound.lab.topics.example_sources import gather
    from scenthound.lab.topics.from_examples import leave_one_out, match_categories, propose_keywords
    from scenthound.model import Candidate
    from scenthound.page.page import Page

    known = None if source is None else open_source(source)
    with Pieces("reading examples", quiet=as_json) as tell:
        gathered = gather(places, settings, known, tick=tell)
    ground = open_source(background or GENERATED)
    all_examples = [Example.of(page) for page in gathered.pages]
    kept = different(all_examples)
    by_url = {page.url: page for page in gathered.pages}
    pages = [by_url[example.url] for example in kept]
    away = {*by_url, *ground.likely, *(url for url, on_topic in ground.labels.items() if on_topic)}
    urls = sample(ground.bed, away, random.Random("background:0"))
    fetched = [ground.bed.fetch(Candidate(url, 0.0)) for url in urls]
    ours = {content(example) for example in kept}  # a copy of an example is no background
    others = [page for page in fetched if isinstance(page, Page) and content(Example.of(page)) not in ours]
    return Found(
        kept,
        len(all_examples) - len(kept),
        gathered.problems,
        propose_keywords(pages, others),
        match_categories(pages, categories) if categories is not None else [],
        leave_one_out(pages, others),
        ground,
    )


def _tell(found: Found, as_json: bool) -> None:
    """What was found out, for people: on stderr, since stdout is for the file's name."""
    from rich.console import Console

    from scenthound.exports.clean import clean

    if as_json:
        return
    for problem in found.problems[:20]:
        say(f"left out: {clean(problem, 300)}")
    if len(found.problems) > 20:
        say(f"left out: {len(found.problems) - 20:,} more")
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    rows = [(one.word, f"{one.score:.2f}", f"{one.examples:,}", f"{one.others:,}") for one in found.keywords]
    if rows:
        console.print(table(("keyword", "score", "examples", "background"), rows, numbers=(1, 2, 3)))
    if found.falls:
        shown = [
            (place, one.name, f"{one.probability:.3f}", f"{one.first_of:,}" if one.is_leaf else "")
            for place, one in enumerate(found.falls[:SHOWN], 1)
            if one.probability >= LEAST or place <= 3
        ]
        console.print(table(("", "category", "probability", "first for"), shown, numbers=(0, 2, 3)))
    for sentence in sureness_told(found):
        say(sentence)


def _hint_good(found: Found, good: Sequence[str]) -> None:
    """A category that holds most examples and is not good would teach that they are off topic."""
    from scenthound.exports.clean import clean

    for falls in found.falls:
        inside = any(falls.name == name or falls.name.startswith(f"{name}/") for name in good)
        if falls.is_leaf and falls.first_of * 2 > len(found.examples) and not inside:
            say(
                f"note: {falls.first_of:,} of {len(found.examples):,} examples look like `{clean(falls.name, 100)}`. "
                "If that is your topic, mark it with --good; else its pages count as off topic."
            )


def sureness_told(found: Found) -> list[str]:
    """How sure a classifier is, in sentences that promise nothing."""
    number, ground = len(found.examples), found.background
    told = [f"{number:,} {'example' if number == 1 else 'different examples'}."]
    if found.same:
        told.append(f"{found.same:,} more have the same text as another one and count once.")
    if found.sureness is None:
        told.append("How sure a classifier would be can't be said: that takes two examples at least, better ten.")
        return told
    sure = found.sureness
    told.append(
        f"Left out one by one, a classifier that learned from the others recognised {sure.recognised}; of "
        f"{ground.name} it took {sure.mistaken} for the topic. AUC {sure.auc:.3f} ± {sure.auc_error:.3f}."
    )
    if number < FEW:
        told.append(f"That is little to go by: with {number:,} examples the interval is wide. More examples narrow it.")
    if ground.is_made_up:
        told.append(
            "The background is a web of made-up pages, easier to tell apart than real ones: --background BED_OR_CRAWL "
            "gives a fairer figure."
        )
    return told


def _ask_good(falls: Sequence[CategoryMatch], categories: Categories | None) -> list[str]:
    """Which categories are good, by their numbers in the table or by name; asked again until it makes sense."""
    from scenthound.errors import ScenthoundError
    from scenthound.lab.topics.taxonomies import check_good

    names = categories.names if categories is not None else []
    while True:
        said = click.prompt("Good categories (numbers or names, with commas; empty for none)", default="", err=True)
        parts = [part.strip() for part in said.split(",") if part.strip()]
        chosen = [
            falls[int(part) - 1].name if part.isdigit() and 0 < int(part) <= min(SHOWN, len(falls)) else part
            for part in parts
        ]
        try:
            return check_good(chosen, names)
        except ScenthoundError as error:
            say(str(error))


def _write(
    file: Path,
    name: str,
    keywords: str,
    description: str,
    category: str,
    good: Sequence[str],
    found: Found,
    taxonomy: str | None,
    depth: int | None,
    background: str | None,
) -> None:
    from dataclasses import replace

    from scenthound.lab.topics.example_file import TopicFile, examples_beside, write_examples, write_topic_file
    from scenthound.model import Topic
    from scenthound.wiring import check_topic

    addresses = tuple(str(one.url) for one in found.examples if one.has_address)
    made = Topic(" ".join(keywords.split()), name, description, addresses, tuple(good))
    check_topic(made)
    examples = [replace(example, category=category) for example in found.examples]
    write_examples(examples_beside(file), examples)

    def seen(place: str | None) -> str:
        return "" if place is None else os.path.relpath(place, file.absolute().parent)

    ground = "" if background in (None, "generated") else seen(background)
    write_topic_file(file, TopicFile(made, tuple(examples), seen(taxonomy), depth or 0, ground))


def _done(file: Path, keywords: str, category: str, good: Sequence[str], found: Found, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        emit(
            {
                "topic": str(file),
                "keywords": keywords,
                "proposed": [asdict(one) for one in found.keywords],
                "category": category,
                "good": list(good),
                "categories": [asdict(one) for one in found.falls],
                "examples": len(found.examples),
                "same": found.same,
                "problems": found.problems,
                "background": {"kind": found.background.kind, "name": found.background.name},
                "sureness": None if found.sureness is None else asdict(found.sureness),
                "told": sureness_told(found),
            }
        )
        return
    click.echo(file)
    say(f"Crawl for it: scenthound crawl {file} --seed URL; or let a strategy learn it first: scenthound train --help")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@json_option
def show(file: Path, as_json: bool) -> None:
    """Show a topic file: its keywords, its good categories, and the examples beside it.

    \b
      $ scenthound topic show reefs.toml
    """
    from scenthound.exports.clean import clean
    from scenthound.lab.topics.example_file import read_topic_file

    known = read_topic_file(file)
    made = known.topic
    if as_json:
        emit(
            {
                "topic": str(file),
                "name": made.name,
                "keywords": made.keywords,
                "description": made.description,
                "good": list(made.good),
                "taxonomy": known.taxonomy,
                "background": known.background or "generated",
                "examples": [
                    {"url": one.url, "title": one.title, "category": one.category, "characters": len(one.text)}
                    for one in known.examples
                ],
            }
        )
        return
    rows = [
        ("name", made.name),
        ("keywords", made.keywords),
        ("description", made.description),
        ("good", ", ".join(made.good)),
        ("taxonomy", known.taxonomy),
        ("background", known.background or "generated"),
    ]
    for label, value in rows:
        if value:
            click.echo(f"{label:>12}  {clean(value, 400)}")
    if known.examples:
        listed = [
            (one.category, clean(one.title, 50) or "(no title)", f"{len(one.text):,}", clean(one.url, 80))
            for one in known.examples
        ]
        out().print(table(("category", "example", "characters", "url"), listed, numbers=(2,)))
    else:
        say("no examples beside it")
