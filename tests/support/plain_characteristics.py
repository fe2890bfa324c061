"""The characteristics of a topic straight from the formulas (sheet 60.5), to check the lab's tables against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenthound.graph.link_graph import LinkGraph
from scenthound.lab.measure.quality import Pages, WordCounts, concatenated
from scenthound.lab.topics.characteristics import Characteristics, authority, link_cohesiveness, text_cohesiveness
from scenthound.text.vectors import cosine


def characteristics(
    targets: Iterable[str],
    seeds: Iterable[str],
    keywords: Iterable[str],
    description: WordCounts,
    snapshot: Pages,
    links: Mapping[str, Iterable[str]],
    pool: LinkGraph | None = None,
    specificity: int | None = None,
) -> Characteristics:
    """All of them at once. `snapshot` holds the term counts of every recorded page, `links` what each links to."""
    wanted = sorted(set(targets))
    return Characteristics(
        specificity=specificity,
        link_set_size=len(wanted),
        popularity=popularity(snapshot, keywords),
        text_cohesiveness=text_cohesiveness(snapshot[url] for url in wanted if url in snapshot),
        link_cohesiveness=link_cohesiveness(wanted, links),
        authority=None if pool is None else authority(wanted, pool),
        seed_target_similarity=cosine(concatenated(snapshot, seeds), description),
    )


def popularity(snapshot: Pages, keywords: Iterable[str]) -> int | None:
    """Pages of the snapshot that hold all keywords; undefined without keywords.

    >>> popularity({"p": {"solar": 1, "panel": 2}, "q": {"solar": 1}}, ["solar", "panel"])
    1
    """
    wanted = frozenset(keywords)
    return sum(1 for counts in snapshot.values() if wanted <= counts.keys()) if wanted else None
