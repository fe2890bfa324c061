"""Example pages of a topic as they are kept beside its file: `reefs.toml` has `reefs.examples.jsonl`.

One JSON object a line: url, title, text, category. So training needs no network, and anybody can read, mend or add to
what a classifier learned from.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scenthound.errors import BadConfig, NotAUrl
from scenthound.files import write_text
from scenthound.lab.beds.bed import toml_value
from scenthound.loop.crawl_toml import load_toml, topic_from
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.url import make

LONGEST_TEXT = 200_000  # characters of an example that are kept
LARGEST_FILE = 200_000_000
MOST_EXAMPLES = 5_000
NOWHERE = "http://examples.invalid/"
"""Pages without an address of their own lie below this one."""


@dataclass(frozen=True, slots=True)
class Example:
    """A page that shows what a topic is about: its address, title and text without the title, and its category."""

    url: Url
    title: str
    text: str
    category: str = ""

    @classmethod
    def of(cls, page: Page, category: str = "") -> Example:
        text = page.text[:LONGEST_TEXT]
        title = " ".join(page.title.split())
        return cls(page.url, title, text.removeprefix(page.title).strip(), category)

    @property
    def has_address(self) -> bool:
        return not self.url.startswith(NOWHERE)

    def page(self) -> Page:
        """The page again, without its links."""
        written = f"<title>{html.escape(self.title)}</title><p>{html.escape(self.text)}</p>"
        return Page(self.url, Candidate(self.url, 0.0), read_html(written, self.url), size=len(written))


@dataclass(frozen=True, slots=True)
class TopicFile:
    """A topic as its file tells it, with its examples and where its categories come from."""

    topic: Topic
    examples: tuple[Example, ...] = ()
    taxonomy: str = ""
    depth: int = 0
    background: str = ""


def examples_beside(path: Path) -> Path:
    """Where the examples of a topic file are kept."""
    return path.with_name(f"{path.name.removesuffix('.toml')}.examples.jsonl")


def read_topic_file(path: Path) -> TopicFile:
    """A topic file with all that lies beside it; raises `BadConfig` that names what is wrong."""
    data = load_toml(path, "topic file")
    inner = data.get("topic")
    topic = topic_from(inner if isinstance(inner, dict) else data, path)
    taxonomy, ground = (found if isinstance(found := data.get(key), dict) else {} for key in ("taxonomy", "background"))
    depth = taxonomy.get("depth", 0)
    return TopicFile(
        topic,
        tuple(read_examples(beside)) if (beside := examples_beside(path)).is_file() else (),
        _source(taxonomy.get("source", ""), path),
        depth if isinstance(depth, int) else 0,
        _source(ground.get("source", ""), path),
    )


def write_topic_file(path: Path, known: TopicFile) -> None:
    """Write a topic file that `crawl` and `train` understand, whole or not at all. Its examples are written apart."""
    made = known.topic
    lines = [
        "# Made by `scenthound topic new`; change what you like. The examples are kept in the file beside it.",
        "[topic]",
        f"name = {toml_value(made.name)}",
        f"keywords = {toml_value(made.keywords)}",
        *([f"description = {toml_value(made.description)}"] if made.description else []),
        "examples = ["
        + "".join(f"\n  {toml_value(url)}," for url in made.examples)
        + ("\n]" if made.examples else "]"),
        f"good = [{', '.join(map(toml_value, made.good))}]",
    ]
    if known.taxonomy:
        lines += ["", "[taxonomy]", f"source = {toml_value(known.taxonomy)}"]
        lines += [f"depth = {known.depth}"] if known.depth else []
    if known.background:
        lines += ["", "[background]", f"source = {toml_value(known.background)}"]
    write_text(path, "\n".join([*lines, ""]))


def _source(said: object, path: Path) -> str:
    """A folder named in a topic file, seen from that file."""
    if not isinstance(said, str) or not said or said == "generated":
        return said if isinstance(said, str) else ""
    return str(path.parent / said)


def read_examples(path: Path) -> list[Example]:
    """The examples of a file; raises `BadConfig` that names the line which is none."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise BadConfig(f"{path} is larger than {LARGEST_FILE:,} bytes", "keep fewer examples")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise BadConfig(f"the examples {path} can't be read: {error.strerror}", "check the path") from None
    found: list[Example] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
            words = {key: plain.get(key, "") for key in ("title", "text", "category")}
            if not all(isinstance(word, str) for word in words.values()):
                raise ValueError("title, text and category are texts")
            found.append(Example(make(plain["url"]), **words))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, NotAUrl) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise BadConfig(
                f"{path} line {number} is no example: {what}", "each line is a JSON object with url, title and text"
            ) from None
    return found


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write the examples of a topic, whole or not at all."""
    text = "".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in examples)
    write_text(path, text)


def content(example: Example) -> str:
    """What an example says, however it is spaced and cased: equal for pages that teach the same."""
    return " ".join(f"{example.title} {example.text}".lower().split())


def different(examples: Sequence[Example]) -> list[Example]:
    """Each text once: a page that is there twice teaches nothing new."""
    found: dict[str, Example] = {}
    for one in examples:
        found.setdefault(content(one), one)
    return list(found.values())
