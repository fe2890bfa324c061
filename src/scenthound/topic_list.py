"""Topics with known answers, and the file that lists them (`topics.jsonl`): one JSON object per line.

The lab's beds have such a file, and `scenthound crawl --topic-from` takes one that a user wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, NotAUrl, from_os_error
from scenthound.formats import replace_unprintable
from scenthound.looking_for import PAGES, checked
from scenthound.model import LookingFor, Topic, Url
from scenthound.url import make

MAX_LINE = 64 << 20  # bytes; a topic with 100,000 targets has about 10 MB
MAX_ERRORS = 5  # shown
Note = Callable[[str, str], None]
"""Called with a kind of problem and an example of it."""


@dataclass(frozen=True, slots=True)
class BedTopic:
    """A topic with its known answers. A crawler sees only `topic`."""

    id: str
    path: tuple[str, ...]
    keywords: str
    description: str
    seeds: tuple[Url, ...]
    targets: tuple[Url, ...]
    examples: tuple[Url, ...] = ()
    neighbours: tuple[Url, ...] = ()
    originals: tuple[Url, ...] = ()
    """The seeds before hubs were added. Only the lab reads them, for `hub-seeking:counted=originals`."""
    looking_for: LookingFor = "pages"
    """Whether pages or sites are looked for, as in `Topic`. A line of `topics.jsonl` without it means pages."""

    @property
    def topic(self) -> Topic:
        """The topic that a crawler sees: without the description, which is made from the answers, and without targets
        among the examples."""
        answers = set(self.targets)
        examples = tuple(url for url in self.examples if url not in answers)
        return Topic(self.keywords, name=self.id, examples=examples, looking_for=self.looking_for)


def read_topics(path: Path, note: Note) -> list[BedTopic]:
    """The topics of a file in the format of a bed's `topics.jsonl`.

    Raises `BadConfig` with the first few lines that are not topics. `note` is called for each invalid URL and each
    unknown key, which are left out.
    """
    topics: dict[str, BedTopic] = {}
    errors: list[str] = []
    for number, line in _lines(path):
        try:
            topic = _topic(json.loads(line), f"line {number}", note)
            if topic.id in topics:
                raise ValueError(f"a second topic called `{replace_unprintable(topic.id)}`")
            topics[topic.id] = topic
        except RecursionError:
            errors.append(f"line {number}: nested too deeply")
        except ValueError as error:
            errors.append(f"line {number}: {replace_unprintable(str(error), 300)}")
    if errors:
        more = f"\n  and {len(errors) - MAX_ERRORS} more" if len(errors) > MAX_ERRORS else ""
        raise BadConfig(
            f"{path} can't be used:\n  " + "\n  ".join(errors[:MAX_ERRORS]) + more,
            "each line is a JSON object with id, keywords, seeds and targets",
        )
    return list(topics.values())


def parse_topic(fields: Any, bad_url: Callable[[str, object, NotAUrl], None]) -> BedTopic:
    """The topic in a line of `topics.jsonl`. Raises ValueError.

    Texts that are not URLs are skipped; `bad_url` is called with the key, the text and the error for each of them.
    """
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    for key in ("id", "keywords", "seeds", "targets"):
        if key not in fields:
            raise ValueError(f"`{key}` is missing")
    for key in ("id", "keywords"):
        if not isinstance(fields[key], str):
            raise ValueError(f"`{key}` is not text")
    lists = {key: fields.get(key, []) for key in ("path", "seeds", "targets", "examples", "neighbours")}
    for key, value in lists.items():
        if not isinstance(value, list):
            raise ValueError(f"`{key}` is not a list")
    path = tuple(map(str, lists.pop("path")))
    urls: dict[str, dict[Url, None]] = {key: {} for key in lists}
    for key, texts in lists.items():
        for text in texts:
            try:
                urls[key][make(text if isinstance(text, str) else repr(text))] = None
            except NotAUrl as error:
                bad_url(key, text, error)
    description = str(fields.get("description", ""))
    try:
        looking_for = checked(fields.get("looking_for", PAGES))
    except BadConfig as error:
        raise ValueError(f"{error.message}: {error.hint}") from None
    lists_of_urls = {key: tuple(values) for key, values in urls.items()}
    return BedTopic(fields["id"], path, fields["keywords"], description, **lists_of_urls, looking_for=looking_for)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise BadConfig(f"{path} line {number} has more than {MAX_LINE:,} bytes")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the topics in {path} can't be read: {error.strerror or error}")
        ) from None


def _topic(raw: Any, line: str, note: Note) -> BedTopic:
    """The topic of a line, checked more strictly than in a bed, since it was written by hand."""
    topic = parse_topic(raw, lambda key, text, error: note(f"{key} that are not URLs", f"{text} ({line})"))
    if not isinstance(raw.get("description", ""), str):
        raise ValueError("`description` is not text")
    if not topic.id.strip():
        raise ValueError("`id` is empty")
    if not all(isinstance(label, str) for label in raw.get("path", [])):
        raise ValueError("`path` is not a list of texts")
    for key in raw.keys() - {field.name for field in fields(BedTopic)}:
        note("unknown topic keys", f"{key} ({line})")
    return topic
