"""Functions that metrics share: the distinct pages of a trail, its redirects, and the values of a curve at points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from scenthound.lab.measure.metrics import Curve, Points, Trail
from scenthound.model import Step


def pages(trail: Trail) -> list[str]:
    """The distinct pages (final URLs) in the order of their first visit."""
    return list(dict.fromkeys(step.url if isinstance(step, Step) else step for step in trail))


def redirects(trail: Trail, known: Mapping[str, str]) -> Mapping[str, str]:
    """The redirects that are known, and those that the trail itself reports."""
    own: dict[str, str] = {
        step.requested: step.url for step in trail if isinstance(step, Step) and step.requested is not None
    }
    return {**known, **own} if own else known


def forms(url: str, aliases: Mapping[str, str]) -> Iterator[str]:
    """The URL and all URLs that it redirects to; a loop of redirects is followed once."""
    seen: set[str] = set()
    while url not in seen:
        seen.add(url)
        yield url
        url = aliases.get(url, url)


def wanted(targets: Iterable[str], seeds: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """The targets that count for recall, in URL order: none that is a seed, directly or by redirects."""
    given = {form for seed in seeds for form in forms(seed, aliases)}
    return sorted(target for target in set(targets) if given.isdisjoint(forms(target, aliases)))


def arrivals(crawled: Sequence[str], targets: Iterable[str], aliases: Mapping[str, str]) -> list[int]:
    """For each page, how many targets it is the first to reach. Every URL of a redirected target counts."""
    position = {url: number for number, url in enumerate(crawled)}
    reached = [0] * len(crawled)
    for target in targets:
        positions = [position[form] for form in forms(target, aliases) if form in position]
        if positions:
            reached[min(positions)] += 1
    return reached


def marks(crawled: Sequence[str], wanted: Iterable[str], aliases: Mapping[str, str]) -> list[int]:
    """1 for each page that is wanted, under any of its URLs, else 0."""
    all_forms = {form for url in wanted for form in forms(url, aliases)} if aliases else set(wanted)
    return [1 if url in all_forms else 0 for url in crawled]


def sums(values: Iterable[float]) -> list[float]:
    return list(accumulate(values))


def shares(values: Iterable[float]) -> Curve:
    """The mean of all values so far, after each of them."""
    return [total / number for number, total in enumerate(accumulate(values), start=1)]


def sampled(values: Sequence[float | None], at: Points) -> Curve:
    """`values[t - 1]` for every t of `at`. The last value is carried forward; before page 1 it is None."""
    if at is None:
        return list(values)
    last = len(values)
    return [values[min(t, last) - 1] if t > 0 and last else None for t in at]


def undefined(count_of: Collection[object], at: Points) -> Curve:
    """A curve of None values, for topics without answers."""
    return [None] * len(count_of if at is None else at)
