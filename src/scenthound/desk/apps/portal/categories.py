"""Assign pages to the categories of a portal.

Categories come from a taxonomy with examples, or are proposed by clustering the pages and saved in categories.toml.

A proposed category has a name and weighted words; a page belongs to the category whose words match it best. The
file may be edited (names, words, weights, categories added or deleted); the next run uses the edited file.
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

from scenthound.desk.apps.portal.collect import PortalPage
from scenthound.desk.apps.portal.naming import name_groups
from scenthound.desk.apps.portal.page_vectors import Vectors, clusters
from scenthound.errors import BadConfig, BadUsage, NotAUrl, from_os_error
from scenthound.files import check_own_file, write_text
from scenthound.formats import printable, toml_key, toml_value
from scenthound.papers.parts.taxonomy import Tree, TreeClassifier
from scenthound.search.portal_categories import STATE
from scenthound.text.tokens import Analyser, stem, tokens
from scenthound.url import make

FILE = "categories.toml"
OTHER = "other"
MOST_CLUSTERS = 100
MOST_WORDS = 25  # words of a proposed category
MOST_WEIGHT = 1e9  # largest weight of a word
_MOST_BYTES = 4_000_000  # bytes of a categories file
_EXAMPLE = (
    'write each category as a table [[category]] with the lines name = "Reefs" and '
    'examples = ["https://example.org/reef"]'
)
_FILE_HEADER = """\
# The categories of this portal, proposed from its pages. Change names and words, delete categories or add some, then
# run `scenthound portal` again: it keeps this file and puts each page in the category whose words match it best.
"""


@dataclass(frozen=True, slots=True)
class PortalCategory:
    id: str
    """Also its file name."""
    name: str
    parent: str = ""
    """Id of the parent category; empty at the top level."""
    words: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Categorised:
    """Categories in display order, and the category id of each page, in the order of the pages."""

    categories: list[PortalCategory]
    category_ids: list[str]


OTHER_PAGES = PortalCategory(OTHER, "Other pages")


# ---- proposed categories


def propose_categories(
    vectors: Vectors, titles: Sequence[Collection[str]], count: int | None, topic: str = ""
) -> list[PortalCategory]:
    """Propose `count` categories; by default sqrt(pages / 8), at least 2 and at most 12.

    `titles` holds the terms of each page's title.
    """
    non_empty = sum(map(bool, vectors.rows))
    cluster_count = count or max(2, min(12, round(math.sqrt(non_empty / 8))))
    taken: set[str] = {OTHER}
    categories = []
    groups = clusters(vectors.rows, cluster_count)
    group_names = name_groups(groups, vectors, titles, {stem(word) for word in tokens(topic)})
    for name, (centroid, _) in zip(group_names, groups, strict=True):
        best = sorted(centroid, key=lambda term: (-centroid[term], term))[:MOST_WORDS]
        words = {vectors.words[term]: round(centroid[term], 4) for term in best}
        categories.append(PortalCategory(_id(name, taken), name, words=words))
    return categories


def sort_by_words(categories: Sequence[PortalCategory], vectors: Vectors) -> Categorised:
    """Put each page in the category whose words match it best; pages that match none are "other pages"."""
    centroids = [_centroid(category.words) for category in categories]
    category_ids = []
    for row in vectors.rows:
        scores = [sum(weight * centroid.get(term, 0.0) for term, weight in row.items()) for centroid in centroids]
        best = max(range(len(scores)), key=lambda index: (round(scores[index], 9), -index), default=-1)
        category_ids.append(categories[best].id if best >= 0 and scores[best] > 0 else OTHER)
    return Categorised(_with_other(categories, category_ids), category_ids)


def _centroid(words: Mapping[str, float]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word, weight in words.items():
        for token in tokens(word):
            weights[stem(token)] = weights.get(stem(token), 0.0) + weight
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()} if length else {}


def _with_other(categories: Sequence[PortalCategory], category_ids: Sequence[str]) -> list[PortalCategory]:
    return [*categories, OTHER_PAGES] if OTHER in category_ids else list(categories)


def write_categories(file: Path, categories: Sequence[PortalCategory]) -> None:
    """Write the file of the categories. Unfinished it is in `.portal/`, because its own folder is published."""
    lines = [_FILE_HEADER]
    for category in categories:
        lines += ["[[category]]", f"id = {toml_value(category.id)}", f"name = {toml_value(category.name)}"]
        lines += ["[category.words]"]
        lines += [f"{toml_key(word)} = {toml_value(weight)}" for word, weight in category.words.items()]
        lines.append("")
    state = file.parent / STATE
    write_text(file, "\n".join(lines), scratch=state if state.is_dir() else None)


def read_categories(file: Path) -> list[PortalCategory]:
    """Read a categories.toml, which may have been edited. Raises `BadConfig`."""
    taken: set[str] = {OTHER}
    categories = []
    for table in _tables(file):
        name, words = _name(table, file), table.get("words", {})
        are_weights = isinstance(words, dict) and all(
            isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= MOST_WEIGHT
            for weight in words.values()
        )
        if not are_weights or not words:
            raise BadConfig(
                f"the category `{name}` in {file} has no words, or a weight that is not a number from 0 to 1e9",
                "add a table [category.words] below it, with lines such as: balloon = 0.5",
            )
        id_ = table.get("id", "")
        categories.append(PortalCategory(_id(id_ if isinstance(id_, str) and id_ else name, taken), name, words=words))
    return categories


def rename(file: Path, category: str, name: str) -> None:
    """Rename the category with this id. Raises `BadUsage` or `BadConfig`."""
    check_own_file(file)
    categories, new_name = read_categories(file), " ".join(name.split())
    if category not in {other.id for other in categories}:
        raise BadUsage(f"no category `{printable(category, 60)}`", "build the portal first, then rename its categories")
    if not printable(new_name) or new_name in {other.name for other in categories if other.id != category}:
        raise BadUsage(f"a category can't be called `{printable(new_name, 60)}`", "names must be unique and not empty")
    write_categories(file, [replace(other, name=new_name) if other.id == category else other for other in categories])


# ---- categories from a taxonomy


def sort_by_taxonomy(file: Path, entries: Sequence[PortalPage]) -> Categorised:
    """Put each page in the most probable leaf of a taxonomy, using the classifier of the `focused` strategies.

    A category has a `name`, optionally a `parent`, and training data: `examples`, which are URLs of collected pages, or
    `text`. Raises `BadConfig` if the categories do not form a tree or have no training data.
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
        (name, analyser.counts(text))
        for name, table in tables.items()
        for text in _training_texts(name, table, pages, file)
    ]
    classifier = TreeClassifier.learn(Tree(children, (leaves[0],), root), documents)
    taken: set[str] = {OTHER}
    ids = {name: _id(name, taken) for name in tables}
    category_ids = []
    for entry in entries:
        counts = analyser.counts(f"{entry.title}\n{entry.text}")
        category_ids.append(ids[classifier.best_leaf(counts)[0]] if counts else OTHER)
    categories = [PortalCategory(ids[name], name, ids.get(parents[name], "")) for name in tables]
    return Categorised(_with_other(categories, category_ids), category_ids)


def _parent(name: str, table: Mapping[str, Any], tables: Mapping[str, Any], file: Path) -> str:
    parent = table.get("parent", "")
    if not isinstance(parent, str) or (parent and parent not in tables):
        raise BadConfig(
            f"the category `{name}` in {file} has the parent `{printable(str(parent), 60)}`, which is not in the file",
            "use the name of another category as `parent`, or leave it out",
        )
    return parent


def _check_cycles(parents: Mapping[str, str], file: Path) -> None:
    for name in parents:
        path = [name]
        while parent := parents[path[-1]]:
            if parent in path:
                cycle = " > ".join([*path[path.index(parent) :], parent])
                raise BadConfig(f"the taxonomy {file} has a cycle: {cycle}", "remove one `parent`")
            path.append(parent)


def _training_texts(name: str, table: Mapping[str, Any], pages: Mapping[str, PortalPage], file: Path) -> list[str]:
    text, examples = table.get("text", ""), table.get("examples", [])
    if not isinstance(text, str) or not isinstance(examples, list) or not all(isinstance(u, str) for u in examples):
        raise BadConfig(f"`text` or `examples` of the category `{name}` in {file} is invalid", _EXAMPLE)
    texts = [text] if text.strip() else []
    for address in examples:
        try:
            page = pages.get(make(address))
        except NotAUrl as error:
            raise BadConfig(f"an example of the category `{name}` in {file}: {error.message}", error.hint) from None
        if page is None:
            raise BadConfig(
                f"the example {printable(address, 120)} of the category `{name}` is not a page of the portal",
                "use a collected page, or describe the category in `text`",
            )
        texts.append(f"{page.title}\n{page.text}")
    return texts


# ---- files


def _tables(file: Path) -> list[dict[str, Any]]:
    """Read the category tables of a TOML or JSON file. Raises `BadConfig`."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode("utf-8-sig")
        plain = json.loads(text) if file.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise from_os_error(
            error,
            file,
            BadConfig(f"{file} can't be read: {error.strerror}", "use a TOML or JSON file with categories"),
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
    """Make a unique id, usable as a file name, from the name of a category."""
    base = re.sub(r"[^a-z0-9]+", "-", " ".join(tokens(name)))[:60].strip("-") or "category"
    number, id_ = 1, base
    while id_ in taken:
        number += 1
        id_ = f"{base}-{number}"
    taken.add(id_)
    return id_
