"""Topic files and the example pages stored beside them: `reefs.toml` and `reefs.examples.jsonl`.

Each line of the latter is a JSON object: url, title, text, category, on_topic. So training needs no network, and users
can read and edit the examples that a classifier learns from.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scenthound.errors import BadConfig, NotAUrl, from_os_error
from scenthound.files import write_text
from scenthound.formats import toml_value
from scenthound.looking_for import PAGES
from scenthound.loop.crawl_toml import load_toml, topic_from
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.url import make

MAX_TEXT = 200_000  # characters kept of an example
MAX_FILE = 200_000_000  # bytes
NOWHERE = "http://examples.invalid/"
"""The start of the URLs that are made up for pages without one."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example page of a topic: its URL, title, text without the title, category, and whether it is on topic."""

    url: Url
    title: str
    text: str
    category: str = ""
    on_topic: bool = True

    @classmethod
    def of(cls, page: Page, category: str = "") -> Example:
        text = page.text[:MAX_TEXT]
        title = " ".join(page.title.split())
        return cls(page.url, title, text.removeprefix(page.title).strip(), category)

    @property
    def has_address(self) -> bool:
        return not self.url.startswith(NOWHERE)

    def page(self) -> Page:
        """The example as a page, without its links."""
        return text_page(self.url, self.title, self.text)


def text_page(url: Url, title: str, text: str) -> Page:
    """A page with this title and text."""
    source = f"<title>{html.escape(title)}</title><p>{html.escape(text)}</p>"
    return Page(url, Candidate(url, 0.0), read_html(source, url), size=len(source))


@dataclass(frozen=True, slots=True)
class TopicFile:
    """The content of a topic file, with its examples and the source of its categories."""

    topic: Topic
    examples: tuple[Example, ...] = ()
    taxonomy: str = ""
    depth: int = 0
    background: str = ""


def examples_beside(path: Path) -> Path:
    """The path of the examples of a topic file."""
    return path.with_name(f"{path.name.removesuffix('.toml')}.examples.jsonl")


def read_topic_file(path: Path) -> TopicFile:
    """Read a topic file and its examples. Raises `BadConfig` if either is invalid."""
    data = load_toml(path, "topic file")
    table = data.get("topic")
    topic = topic_from(table if isinstance(table, dict) else data, path)
    tables = (data.get(key) for key in ("taxonomy", "background"))
    taxonomy, background = (table if isinstance(table, dict) else {} for table in tables)
    depth = taxonomy.get("depth", 0)
    return TopicFile(
        topic,
        tuple(read_examples(beside)) if (beside := examples_beside(path)).is_file() else (),
        _source(taxonomy.get("source", ""), path),
        depth if isinstance(depth, int) else 0,
        _source(background.get("source", ""), path),
    )


def write_topic_file(path: Path, file: TopicFile) -> None:
    """Write a topic file for `crawl` and `train`, without its examples."""
    topic = file.topic
    lines = [
        "# Made by `scenthound topic new`; edit it as you like. The examples are in the file beside it.",
        "[topic]",
        f"name = {toml_value(topic.name)}",
        f"keywords = {toml_value(topic.keywords)}",
        *([f"looking_for = {toml_value(topic.looking_for)}"] if topic.looking_for != PAGES else []),
        *([f"description = {toml_value(topic.description)}"] if topic.description else []),
        "examples = ["
        + "".join(f"\n  {toml_value(url)}," for url in topic.examples)
        + ("\n]" if topic.examples else "]"),
        f"good = [{', '.join(map(toml_value, topic.good))}]",
    ]
    if file.taxonomy:
        lines += ["", "[taxonomy]", f"source = {toml_value(file.taxonomy)}"]
        lines += [f"depth = {file.depth}"] if file.depth else []
    if file.background:
        lines += ["", "[background]", f"source = {toml_value(file.background)}"]
    write_text(path, "\n".join([*lines, ""]))


def _source(value: object, path: Path) -> str:
    """A folder named in a topic file, relative to that file."""
    if not isinstance(value, str) or not value or value == "generated":
        return value if isinstance(value, str) else ""
    return str(path.parent / value)


def read_examples(path: Path) -> list[Example]:
    """The examples of a file. Raises `BadConfig` with the number of an invalid line."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise BadConfig(f"{path} is larger than {MAX_FILE:,} bytes", "keep fewer examples")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the examples {path} can't be read: {error.strerror}", "check the path")
        ) from None
    examples: list[Example] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            texts = {key: fields.get(key, "") for key in ("title", "text", "category")}
            if not all(isinstance(text, str) for text in texts.values()):
                raise ValueError("title, text and category must be strings")
            on_topic = fields.get("on_topic", True)
            if not isinstance(on_topic, bool):
                raise ValueError("on_topic must be true or false")
            examples.append(Example(make(fields["url"]), **texts, on_topic=on_topic))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, NotAUrl) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise BadConfig(
                f"{path} line {number} is not an example: {reason}",
                "each line is a JSON object with url, title and text",
            ) from None
    return examples


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write the examples of a topic."""
    text = "".join(json.dumps(asdict(example), ensure_ascii=False) + "\n" for example in examples)
    write_text(path, text)


def move_example(file: TopicFile, raw_url: str, category: str) -> tuple[Example, TopicFile]:
    """Move an example to another category. Raises `BadConfig` if there is no such example.

    It is on topic there if the category is one of `good` or has on-topic examples, or is below such a category.
    """
    try:
        url = make(raw_url)
    except NotAUrl:
        url = Url(raw_url)
    if url not in (example.url for example in file.examples):
        raise BadConfig(f"the topic has no example {raw_url}", "`scenthound topic show` lists them")
    others = {example.category for example in file.examples if example.url != url and example.on_topic}
    good = {*others, *file.topic.good} - {""}
    on_topic = any(category == name or category.startswith(f"{name}/") for name in good)
    moved = next(example for example in file.examples if example.url == url)
    moved = replace(moved, category=category, on_topic=on_topic)
    return moved, replace(file, examples=tuple(moved if example.url == url else example for example in file.examples))


def list_example(path: Path, url: Url, listed: bool) -> bool:
    """Add an example to the list in a topic file, or remove it; the rest of the file stays unchanged.

    Return False, and change nothing, if the list is not formatted as `write_topic_file` does it, with one URL per line.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    line = f"  {toml_value(str(url))},"
    if (line in lines) == listed:
        return listed or str(url) not in "\n".join(lines)
    if not listed:
        lines.remove(line)
    elif "examples = [" in lines:
        lines.insert(lines.index("examples = [") + 1, line)
    else:
        return False
    write_text(path, "\n".join(lines))
    return True


def content(example: Example) -> str:
    """The text of an example without case and spacing, to detect pages with the same content."""
    return " ".join(f"{example.title} {example.text}".lower().split())


def different(examples: Sequence[Example]) -> list[Example]:
    """The examples without duplicate texts."""
    distinct: dict[str, Example] = {}
    for example in examples:
        distinct.setdefault(content(example), example)
    return list(distinct.values())
