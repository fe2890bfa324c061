"""The categories of a portal: from a taxonomy with examples, or proposed from the pages and kept in categories.toml.

A proposed category is a name and words with weights; a page belongs to the category whose words it is most like. People
may edit names, words and weights, and delete or add categories; the next run takes the file as it is.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenthound.apps.portal.collect import PortalPage
from scenthound.apps.portal.naming import names
from scenthound.apps.portal.page_vectors import Vectors, clusters
from scenthound.errors import BadConfig, BadUsage, NotAUrl, of_system
from scenthound.files import check_own_file, write_text
from scenthound.formats import printable, toml_key, toml_value
from scenthound.text.taxonomy import Tree, TreeClassifier
from scenthound.text.tokens import Analyser, stem, tokens
from scenthound.url import make

FILE = "categories.toml"
OTHER = "other"
MOST_CLUSTERS = 100
MOST_WORDS = 25  # of a proposed category
HEAVIEST = 1e9  # what a word may weigh
_LARGEST = 4_000_000  # bytes of a file with categories
_EXAMPLE = 'write tables as: [[category]], name = "Reefs", examples = ["https://example.org/reef"]'
_HEAD = """\
# The categories of this portal, proposed from its pages. Change names and words, delete categories or add some, then
# run `scenthound portal` again: it keeps this file, and puts each page into the category whose words it is most like.
"""


@dataclass(frozen=True, slots=True)
class PortalCategory:
    id: str
    """Names its file."""
    name: str
    parent: str = ""
    """The id of the category above it."""
    words: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Categories in the order in which they are shown, and the category of each page, in the pages' order."""

    categories: list[PortalCategory]
    places: list[str]


OTHER_PAGES = PortalCategory(OTHER, "Other pages")


# ---- proposed


def proposed(
    vectors: Vectors, titles: Sequence[Collection[str]], groups: int | None, topic: str = ""
) -> list[PortalCategory]:
    """Categories for these pages: as many as asked for, or the root of an eighth of the pages, from 2 to 12.

    `titles` are the terms of the pages' titles.
    """
    filled = sum(map(bool, vectors.rows))
    wanted = groups or max(2, min(12, round(math.sqrt(filled / 8))))
    taken: set[str] = {OTHER}
    made = []
    found = clusters(vectors.rows, wanted)
    called = names(found, vectors, titles, {stem(word) for word in tokens(topic)})
    for name, (middle, _) in zip(called, found, strict=True):
        best = sorted(middle, key=lambda term: (-middle[term], term))[:MOST_WORDS]
        words = {vectors.words[term]: round(middle[term], 4) for term in best}
        made.append(PortalCategory(_id(name, taken), name, words=words))
    return made


def sort_by_words(categories: Sequence[PortalCategory], vectors: Vectors) -> Sorted:
    """Each page in the category whose words it is most like; those like none are other pages."""
    middles = [_middle(category.words) for category in categories]
    places = []
    for row in vectors.rows:
        scores = [sum(weight * middle.get(term, 0.0) for term, weight in row.items()) for middle in middles]
        best = max(range(len(scores)), key=lambda place: (round(scores[place], 9), -place), default=-1)
        places.append(categories[best].id if best >= 0 and scores[best] > 0 else OTHER)
    return Sorted(_with_other(categories, places), places)


def _middle(words: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for word, weight in words.items():
        for token in tokens(word):
            found[stem(token)] = found.get(stem(token), 0.0) + weight
    length = math.sqrt(sum(weight * weight for weight in found.values()))
    return {term: weight / length for term, weight in found.items()} if length else {}


def _with_other(categories: Sequence[PortalCategory], places: Sequence[str]) -> list[PortalCategory]:
    return [*categories, OTHER_PAGES] if OTHER in places else list(categories)


def write_categories(file: Path, categories: Sequence[PortalCategory]) -> None:
    lines = [_HEAD]
    for category in categories:
        lines += ["[[category]]", f"id = {toml_value(category.id)}", f"name = {toml_value(category.name)}"]
        lines += ["[category.words]"]
        lines += [f"{toml_key(word)} = {toml_value(weight)}" for word, weight in category.words.items()]
        lines.append("")
    write_text(file, "\n".join(lines))


def read_proposed(file: Path) -> list[PortalCategory]:
    """The categories of a categories.toml that people may have edited. Raises `BadConfig`."""
    taken: set[str] = {OTHER}
    made = []
    for table in _tables(file):
        name, words = _name(table, file), table.get("words", {})
        numbers = isinstance(words, dict) and all(
            isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= HEAVIEST
            for weight in words.values()
        )
        if not numbers or not words:
            raise BadConfig(
                f"the category `{name}` in {file} has no words with weights",
                "write a table [category.words] below it, as: balloon = 0.5",
            )
        asked = table.get("id", "")
        made.append(PortalCategory(_id(asked if isinstance(asked, str) and asked else name, taken), name, words=words))
    return made


def rename(file: Path, category: str, name: str) -> None:
    """Give the category with this id another name. Raises `BadUsage` or `BadConfig`."""
    check_own_file(file)
    found, wanted = read_proposed(file), " ".join(name.split())
    if category not in {one.id for one in found}:
        raise BadUsage(f"no category `{printable(category, 60)}`", "make the portal first, then name its categories")
    if not printable(wanted) or wanted in {one.name for one in found if one.id != category}:
        raise BadUsage(f"a category can't be called `{printable(wanted, 60)}`", "give each a name of its own")
    write_categories(file, [replace(one, name=wanted) if one.id == category else one for one in found])


# ---- from a taxonomy


def sort_by_taxonomy(file: Path, entries: Sequence[PortalPage]) -> Sorted:
    """Each page in the most probable leaf of a taxonomy, by the classifier of the focused crawler.

    A category has a `name`, perhaps a `parent`, and what it is learned from: `examples`, addresses of collected pages,
    or `text`. Raises `BadConfig` for what is no tree, or has nothing to learn from.
    """
    tables = {_name(table, file): table for table in _tables(file)}
    parents = {name: _parent(name, table, tables, file) for name, table in tables.items()}
    _check_cycles(parents, file)
    leaves = [name for name in tables if name not in parents.values()]
    if len(leaves) < 2:
        raise BadConfig(f"the taxonomy {file} has fewer than two categories to choose from", _EXAMPLE)
    root = "the root of the taxonomy"
    children: dict[str, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent or root, []).append(name)
    analyser = Analyser()
    pages = {entry.url: entry for entry in entries}
    documents = [
        (name, analyser.counts(text)) for name, table in tables.items() for text in _lessons(name, table, pages, file)
    ]
    classifier = TreeClassifier.learn(Tree(children, (leaves[0],), root), documents)
    taken: set[str] = {OTHER}
    ids = {name: _id(name, taken) for name in tables}
    places = []
    for entry in entries:
        counts = analyser.counts(f"{entry.title}\n{entry.text}")
        places.append(ids[classifier.best_leaf(counts)[0]] if counts else OTHER)
    categories = [PortalCategory(ids[name], name, ids.get(parents[name], "")) for name in tables]
    return Sorted(_with_other(categories, places), places)


def _parent(name: str, table: Mapping[str, Any], tables: Mapping[str, Any], file: Path) -> str:
    parent = table.get("parent", "")
    if not isinstance(parent, str) or (parent and parent not in tables):
        raise BadConfig(
            f"the category `{name}` in {file} is below `{printable(str(parent), 60)}`, which is not in the file",
            "name another category as `parent`, or leave it out",
        )
    return parent


def _check_cycles(parents: Mapping[str, str], file: Path) -> None:
    for name in parents:
        way = [name]
        while above := parents[way[-1]]:
            if above in way:
                circle = " > ".join([*way[way.index(above) :], above])
                raise BadConfig(f"the taxonomy {file} goes round in a circle: {circle}", "take out one `parent`")
            way.append(above)


def _lessons(name: str, table: Mapping[str, Any], pages: Mapping[str, PortalPage], file: Path) -> list[str]:
    text, examples = table.get("text", ""), table.get("examples", [])
    if not isinstance(text, str) or not isinstance(examples, list) or not all(isinstance(u, str) for u in examples):
        raise BadConfig(f"`text` or `examples` of the category `{name}` in {file} can't be used", _EXAMPLE)
    lessons = [text] if text.strip() else []
    for raw in examples:
        try:
            page = pages.get(make(raw))
        except NotAUrl as error:
            raise BadConfig(f"an example of the category `{name}` in {file}: {error.message}", error.hint) from None
        if page is None:
            raise BadConfig(
                f"the example {printable(raw, 120)} of the category `{name}` is not a page of the portal",
                "name a collected page, or write what it is about as `text`",
            )
        lessons.append(f"{page.title}\n{page.text}")
    return lessons


# ---- files


def _tables(file: Path) -> list[dict[str, Any]]:
    """The tables of a TOML or JSON file with categories. Raises `BadConfig`."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_LARGEST).decode("utf-8-sig")
        plain = json.loads(text) if file.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise of_system(
            error,
            file,
            BadConfig(f"{file} can't be read: {error.strerror}", "name a TOML or JSON file with categories"),
        ) from None
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"{file} can't be read: {printable(str(error), 200)}", _EXAMPLE) from None
    tables = plain.get("category") if isinstance(plain, dict) else None
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise BadConfig(f"{file} has no categories", _EXAMPLE)
    names = [table.get("name") for table in tables]
    for name in names:
        if names.count(name) > 1:
            raise BadConfig(f"{file} has two categories called `{printable(str(name), 60)}`", "names must differ")
    return tables


def _name(table: Mapping[str, Any], file: Path) -> str:
    name = table.get("name")
    if not isinstance(name, str) or not printable(name):
        raise BadConfig(f"a category in {file} has no name", 'write: name = "Reefs"')
    return name


def _id(name: str, taken: set[str]) -> str:
    """A file name made of a category's name, not taken yet."""
    base = re.sub(r"[^a-z0-9]+", "-", " ".join(tokens(name)))[:60].strip("-") or "category"
    number, made = 1, base
    while made in taken:
        number += 1
        made = f"{base}-{number}"
    taken.add(made)
    return made
