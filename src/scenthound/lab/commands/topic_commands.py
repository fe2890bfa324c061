"""`scenthound topic`: make a topic from example pages, show one, or move an example to another category."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, out, repeatable, say, table
from scenthound.cli.root_command import Commands
from scenthound.errors import BadUsage, ScenthoundError
from scenthound.formats import printable
from scenthound.model import Candidate, Topic

if TYPE_CHECKING:
    from scenthound.lab.run.lesson_sources import Source
    from scenthound.lab.topics.example_file import Example
    from scenthound.lab.topics.from_examples import CategoryMatch, Keyword, LeaveOneOut
    from scenthound.lab.topics.taxonomies import Categories
    from scenthound.loop.settings import Settings


SHOWN = 10
LEAST_PROBABILITY = 0.001  # less probable categories are not listed, except the first three
FEW_EXAMPLES = 10  # with fewer, the estimate is unreliable
MODULES: Mapping[str, tuple[str, str]] = {
    "new": ("scenthound.lab.commands.topic_commands", "Make a topic file from example pages."),
    "show": ("scenthound.lab.commands.topic_commands", "Show a topic file and its examples."),
    "move": ("scenthound.lab.commands.topic_commands", "Move an example to another category."),
}


@click.group(cls=Commands, modules=MODULES)
def topic() -> None:
    """Describe what you are looking for with example pages.

    \b
      $ scenthound topic new reefs.toml --examples urls.txt
      $ scenthound topic show reefs.toml
      $ scenthound topic move reefs.toml https://example.org/aquarium nature/zoos
    """


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """The options of `topic new` that define the topic and the pages it is made from."""

    places: tuple[str, ...]
    source: str | None
    name: str | None
    keywords: str | None
    description: str
    taxonomy: str | None
    depth: int | None
    good: tuple[str, ...]
    add_category: str | None
    background: str | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything computed from the examples, before the user decides."""

    examples: list[Example]
    duplicates: int
    """Number of examples left out because another example has the same text."""
    problems: list[str]
    keywords: list[Keyword]
    matches: list[CategoryMatch]
    estimate: LeaveOneOut | None
    background: Source


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@repeatable(
    "--examples places",
    "PLACE",
    "A URL, a file of URLs, bookmarks, a folder of pages, or a crawl folder; can be repeated.",
)
@option("--from source", "BED_OR_CRAWL", "Look up URLs there instead of fetching them.")
@option("--name", "NAME", "Name of the topic.  [default: FILE without .toml]")
@option("--keywords", "WORDS", "Use these keywords instead of the proposed ones.")
@option("--description", "TEXT", "A longer description, for people and judges.", default="")
@option(
    "--taxonomy",
    "PLACE",
    "Categories: an ODP dump, a bed with topics, or a folder of folders of text.",
)
@option("--depth", "N", "Number of taxonomy levels to distinguish.", type=click.IntRange(min=1))
@repeatable("--good", "CATEGORY", "A category of the taxonomy that counts as on topic; can be repeated.")
@option("--add-category", "CATEGORY", "Category of the examples, e.g. `nature/reefs`.  [default: NAME]")
@option(
    "--background",
    "PLACE",
    "Pages to compare with: a bed, a crawl, or HTML pages.  [default: --from, else a generated web]",
)
@click.option("--yes", is_flag=True, help="Accept the proposals without asking.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@option("--contact", "MAIL", "Address for site owners, sent in the User-Agent.")
@option("--delay", "TIME", "Pause between two requests to a host.  [default: 1 s]")
@option("--proxy", "URL", "Fetch through this proxy (http://, socks5://).")
@repeatable("--allow-private", "NET", "Allow this private network, e.g. `loopback` or `10.0.0.0/8`.")
@repeatable("--set pairs", "KEY=VALUE", "Any crawl setting, used when fetching the examples.")
@json_option
def new(file: Path, yes: bool, force: bool, pairs: tuple[str, ...], as_json: bool, **flags: Any) -> None:
    """Make FILE.toml from example pages, and keep their text in FILE.examples.jsonl next to it.

    It proposes keywords, shows which categories of a taxonomy the examples fall into, lets you correct both (in the
    terminal or with options), and estimates how well a classifier trained on these examples alone would do.

    \b
      $ scenthound topic new reefs.toml --examples urls.txt --contact me@example.org
      $ scenthound topic new reefs.toml --examples bookmarks.html --taxonomy content.rdf.u8 --good Science/Biology
      $ scenthound topic new reefs.toml --examples pages/ --background beds/schools --keywords "coral reef" --yes
    """
    if file.suffix != ".toml":
        raise BadUsage(f"{file} does not end in .toml", f"name it {file.with_suffix('.toml').name}")
    if file.exists() and not force:
        raise BadUsage(f"{file} exists", "choose another file, or overwrite it with --force")
    if not file.absolute().parent.is_dir():
        raise BadUsage(f"there is no folder {file.parent}", "create it first")
    options = TopicOptions(**{f.name: flags.pop(f.name) for f in fields(TopicOptions)})
    if not options.places:
        raise BadUsage("no examples of what you are looking for", "add --examples urls.txt, or --examples URL")
    if options.background is None:  # real pages are harder to tell apart than generated ones
        options = replace(options, background=options.source)
    name = options.name or file.name.removesuffix(".toml")
    categories = _categories(options.taxonomy, options.depth)
    _check_good(options.good, categories, options.add_category)
    analysis = _analyse(options, categories, _settings(flags, pairs), as_json)
    if not as_json:
        _print_analysis(analysis)
    may_ask = not yes and not as_json and sys.stdin.isatty()
    keywords = options.keywords or " ".join(keyword.word for keyword in analysis.keywords)
    if may_ask and options.keywords is None:
        keywords = click.prompt("Keywords", default=keywords, err=True)
    good = list(options.good)
    if may_ask and not good and analysis.matches:
        good = _ask_good(analysis.matches, categories)
    category = options.add_category or name
    if may_ask and options.add_category is None:
        category = click.prompt("Category of your examples", default=category, err=True)
    topic = Topic(" ".join(keywords.split()), name, options.description, (), tuple(good))
    _write(file, topic, category, analysis, options)
    if as_json:
        emit(_as_json(file, keywords, category, good, analysis))
        return
    _warn_about_categories(analysis, good)
    click.echo(file)
    crawl = f"scenthound crawl {shlex.quote(str(file))} --seed URL"
    say(f"Crawl for it: {crawl}; or train a strategy first: scenthound train --help")


def _categories(taxonomy: str | None, depth: int | None) -> Categories | None:
    from scenthound.lab.topics.taxonomies import read_categories

    return None if taxonomy is None else read_categories(taxonomy, depth)


def _check_good(good: Sequence[str], categories: Categories | None, added: str | None) -> None:
    from scenthound.lab.run.topic_lessons import category_name
    from scenthound.lab.topics.taxonomies import check_good, path_named

    if good and categories is None:
        raise BadUsage("--good names a category, but there is no taxonomy", "add --taxonomy PLACE")
    if categories is not None:
        own = [category_name(path_named(added))] if added else []
        check_good(good, [*categories.names, *own])


def _settings(flags: Mapping[str, Any], pairs: Sequence[str]) -> Settings:
    from scenthound.loop.settings import Settings, read

    values = {key: list(value) if isinstance(value, tuple) else value for key, value in flags.items() if value}
    return read(Settings, {**dict(map(key_value, pairs)), **values})


def _analyse(options: TopicOptions, categories: Categories | None, settings: Settings, as_json: bool) -> Analysis:
    """Fetch or look up the examples, and compare them with background pages."""
    import random

    from scenthound.lab.commands.lab_progress import TaskProgress
    from scenthound.lab.run.lesson_sources import GENERATED, open_source
    from scenthound.lab.run.topic_lessons import background as sample
    from scenthound.lab.topics.example_file import Example, content, different
    from scenthound.lab.topics.example_sources import gather
    from scenthound.lab.topics.from_examples import leave_one_out, match_categories, propose_keywords
    from scenthound.page.page import Page

    source = None if options.source is None else open_source(options.source)
    with TaskProgress("reading examples", quiet=as_json) as progress:
        gathered = gather(options.places, settings, source, tick=progress)
    background = open_source(options.background or GENERATED)
    all_examples = [Example.of(page) for page in gathered.pages]
    examples = different(all_examples)
    by_url = {page.url: page for page in gathered.pages}
    pages = [by_url[example.url] for example in examples]
    on_topic = {url for url, is_on_topic in background.labels.items() if is_on_topic}
    urls = sample(background.bed, {*by_url, *background.likely, *on_topic}, random.Random("background:0"))
    fetched = [background.bed.fetch(Candidate(url, 0.0)) for url in urls]
    texts = {content(example) for example in examples}  # a copy of an example must not count as background
    others = [page for page in fetched if isinstance(page, Page) and content(Example.of(page)) not in texts]
    return Analysis(
        examples,
        len(all_examples) - len(examples),
        gathered.problems,
        propose_keywords(pages, others),
        match_categories(pages, categories) if categories is not None else [],
        leave_one_out(pages, others),
        background,
    )


def _print_analysis(analysis: Analysis) -> None:
    """Print the analysis to stderr; stdout is for the name of the file."""
    from rich.console import Console

    for problem in analysis.problems[:20]:
        say(f"left out: {printable(problem, 300)}")
    if len(analysis.problems) > 20:
        say(f"left out: {len(analysis.problems) - 20:,} more")
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    rows = [(k.word, f"{k.score:.2f}", f"{k.examples:,}", f"{k.others:,}") for k in analysis.keywords]
    if rows:
        console.print(table(("keyword", "score", "examples", "background"), rows, numbers=(1, 2, 3)))
    if analysis.matches:
        shown = [
            (rank, match.name, f"{match.probability:.3f}", f"{match.first_of:,}" if match.is_leaf else "")
            for rank, match in enumerate(analysis.matches[:SHOWN], 1)
            if match.probability >= LEAST_PROBABILITY or rank <= 3
        ]
        console.print(table(("", "category", "probability", "best match for"), shown, numbers=(0, 2, 3)))
    for sentence in _accuracy_sentences(analysis):
        say(sentence)


def _warn_about_categories(analysis: Analysis, good: Sequence[str]) -> None:
    """Warn about a category with most examples that is not good, since training would learn that they are off topic."""
    count = len(analysis.examples)
    for match in analysis.matches:
        is_good = any(match.name == name or match.name.startswith(f"{name}/") for name in good)
        if match.is_leaf and match.first_of * 2 > count and not is_good:
            say(
                f"note: {match.first_of:,} of {count:,} examples look like `{printable(match.name, 100)}`. "
                "If that is your topic, mark it with --good; otherwise its pages count as off topic."
            )


def _accuracy_sentences(analysis: Analysis) -> list[str]:
    """How well a classifier tells the examples from the background, in words."""
    count, background, estimate = len(analysis.examples), analysis.background, analysis.estimate
    sentences = [f"{count:,} {'example' if count == 1 else 'different examples'}."]
    if analysis.duplicates:
        sentences.append(f"{analysis.duplicates:,} more have the same text as another example and are left out.")
    if estimate is None:
        sentences.append(
            "How well a classifier would do can't be estimated: that takes at least two examples, preferably ten."
        )
        return sentences
    sentences.append(
        f"Leave-one-out test: a classifier trained on the other examples recognised {estimate.recognised}. Of the "
        f"background ({background.name}) it mistook {estimate.mistaken} for the topic. "
        f"AUC {estimate.auc:.3f} ± {estimate.auc_error:.3f}."
    )
    if count < FEW_EXAMPLES:
        sentences.append(f"With {count:,} examples the interval is wide. More examples make it narrower.")
    if background.is_made_up:
        sentences.append(
            "The background is a generated web, whose pages are easier to tell apart than real ones: --background "
            "BED_OR_CRAWL gives a fairer figure."
        )
    return sentences


def _ask_good(matches: Sequence[CategoryMatch], categories: Categories | None) -> list[str]:
    """Ask for the good categories, by number in the table or by name, until the answer is valid."""
    from scenthound.lab.topics.taxonomies import check_good

    names = categories.names if categories is not None else []
    while True:
        answer = click.prompt(
            "Good categories (numbers or names, separated by commas; empty for none)", default="", err=True
        )
        parts = [part.strip() for part in answer.split(",") if part.strip()]
        chosen = [
            matches[int(part) - 1].name if part.isdigit() and 0 < int(part) <= min(SHOWN, len(matches)) else part
            for part in parts
        ]
        try:
            return check_good(chosen, names)
        except ScenthoundError as error:
            say(str(error))


def _write(file: Path, topic: Topic, category: str, analysis: Analysis, options: TopicOptions) -> None:
    from scenthound.lab.topics.example_file import TopicFile, examples_beside, write_examples, write_topic_file
    from scenthound.wiring import check_topic

    topic = replace(topic, examples=tuple(str(example.url) for example in analysis.examples if example.has_address))
    check_topic(topic)
    examples = [replace(example, category=category) for example in analysis.examples]
    write_examples(examples_beside(file), examples)

    def relative(path: str | None) -> str:
        return "" if path is None else os.path.relpath(path, file.absolute().parent)

    background = "" if options.background == "generated" else relative(options.background)
    taxonomy = relative(options.taxonomy)
    write_topic_file(file, TopicFile(topic, tuple(examples), taxonomy, options.depth or 0, background))


def _as_json(file: Path, keywords: str, category: str, good: Sequence[str], analysis: Analysis) -> dict[str, Any]:
    return {
        "topic": str(file),
        "keywords": keywords,
        "proposed": [asdict(keyword) for keyword in analysis.keywords],
        "category": category,
        "good": list(good),
        "categories": [asdict(match) for match in analysis.matches],
        "examples": len(analysis.examples),
        "same": analysis.duplicates,
        "problems": analysis.problems,
        "background": {"kind": analysis.background.kind, "name": analysis.background.name},
        "sureness": None if analysis.estimate is None else asdict(analysis.estimate),
        "told": _accuracy_sentences(analysis),
    }


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@json_option
def show(file: Path, as_json: bool) -> None:
    """Show a topic file: its keywords, its good categories, and its examples.

    \b
      $ scenthound topic show reefs.toml
    """
    from scenthound.lab.topics.example_file import read_topic_file

    topic_file = read_topic_file(file)
    topic = topic_file.topic
    if as_json:
        emit(
            {
                "topic": str(file),
                "name": topic.name,
                "keywords": topic.keywords,
                "description": topic.description,
                "good": list(topic.good),
                "taxonomy": topic_file.taxonomy,
                "background": topic_file.background or "generated",
                "examples": [
                    {
                        "url": example.url,
                        "title": example.title,
                        "category": example.category,
                        "on_topic": example.on_topic,
                        "characters": len(example.text),
                    }
                    for example in topic_file.examples
                ],
            }
        )
        return
    rows = [
        ("name", topic.name),
        ("keywords", topic.keywords),
        ("description", topic.description),
        ("good", ", ".join(topic.good)),
        ("taxonomy", topic_file.taxonomy),
        ("background", topic_file.background or "generated"),
    ]
    for label, value in rows:
        if value:
            click.echo(f"{label:>12}  {printable(value, 400)}")
    if topic_file.examples:
        listed = [
            (
                example.category if example.on_topic else f"{example.category} (off topic)",
                printable(example.title, 50) or "(no title)",
                f"{len(example.text):,}",
                printable(example.url, 80),
            )
            for example in topic_file.examples
        ]
        out().print(table(("category", "example", "characters", "url"), listed, numbers=(2,)))
    else:
        say("this topic has no examples")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.argument("url", metavar="URL")
@click.argument("category", metavar="CATEGORY")
@json_option
def move(file: Path, url: str, category: str, as_json: bool) -> None:
    """Move an example to another category of the taxonomy; the next training uses it there.

    In a good category, or in one that has other examples of the topic, it counts as on topic. Anywhere else it becomes
    an example of what is off topic.

    \b
      $ scenthound topic move reefs.toml https://example.org/aquarium nature/zoos
      $ scenthound train focused-soft --topic reefs.toml --from beds/schools --out model
    """
    from scenthound.lab.topics.example_file import (
        examples_beside,
        list_example,
        move_example,
        read_topic_file,
        write_examples,
    )

    category = "/".join(part.strip() for part in category.split("/") if part.strip())
    if not category:
        raise BadUsage(
            "the category has no name", "for example: nature/reefs; `scenthound topic show` lists the categories in use"
        )
    moved, topic = move_example(read_topic_file(file), url, category)
    if not any(example.on_topic for example in topic.examples):
        raise BadUsage("no example would be left on topic", "move it to a good category, or add examples first")
    write_examples(examples_beside(file), topic.examples)
    file_is_updated = not moved.has_address or list_example(file, moved.url, moved.on_topic)
    if as_json:
        emit({"topic": str(file), "url": moved.url, "category": moved.category, "on_topic": moved.on_topic})
    else:
        side = "on" if moved.on_topic else "off"
        say(f"{printable(moved.url, 200)} is now in {printable(category, 100)}: {side} topic")
    if not file_is_updated:
        say(f"note: please correct `examples` in {file} by hand; it can be updated only if each URL is on its own line")
