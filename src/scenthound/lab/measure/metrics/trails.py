"""Shared functions of metrics: the distinct pages of a trail, its redirects, and the values of a curve at points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from scenthound.lab.measure.metrics import Curve, Points, Trail
from scenthound.model import Step


def pages(trail: Trail) -> list[str]:
    """The distinct pages (final URLs) in the order of their first visit."""
    return list(dict.fromkeys(step.url if isinstance(step, Step) else step for step in trail))


def redirects(trail: Trail, known: Mapping[str, str]) -> Mapping[str, str]:
    """The known redirects, plus those that the trail itself reports."""
    own: dict[str, str] = {
        step.requested: step.url for step in trail if isinstance(step, Step) and step.requested is not None
    }
    return {**known, **own} if own else known


def forms(url: str, aliases: Mapping[str, str]) -> Iterator[str]:
    """Yield the URL and all URLs that it redirects to; a loop of redirects is followed once."""
    seen: set[str] = set()
    while url not in seen:
        seen.add(url)
        yield url
        url = aliases.get(url, url)


def counted_targets(targets: Iterable[str], seeds: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """The targets that count for recall, in URL order: those that are not seeds, directly or through redirects."""
    seed_forms = {form for seed in seeds for form in forms(seed, aliases)}
    return sorted(target for target in set(targets) if seed_forms.isdisjoint(forms(target, aliases)))


def arrivals(crawled: Sequence[str], targets: Iterable[str], aliases: Mapping[str, str]) -> list[int]:
    """For each page, the number of targets that it is the first to reach. Every URL of a redirected target counts."""
    indexes = {url: index for index, url in enumerate(crawled)}
    reached = [0] * len(crawled)
    for target in targets:
        visits = [indexes[form] for form in forms(target, aliases) if form in indexes]
        if visits:
            reached[min(visits)] += 1
    return reached


def marks(crawled: Sequence[str], urls: Iterable[str], aliases: Mapping[str, str]) -> list[int]:
    """1 for each crawled page that is among `urls`, directly or through redirects, else 0."""
    all_forms = {form for url in urls for form in forms(url, aliases)} if aliases else set(urls)
    return [1 if url in all_forms else 0 for url in crawled]


def running_sums(values: Iterable[float]) -> list[float]:
    return list(accumulate(values))


def running_means(values: Iterable[float]) -> Curve:
    """After each value, the mean of all values so far."""
    return [total / count for count, total in enumerate(accumulate(values), start=1)]


def moving_means(values: Iterable[float], window: int) -> Curve:
    """After each value, the mean of the last `window` values, or of all values if there are fewer."""
    if window < 1:
        raise ValueError(f"a window holds at least one page, not {window}")
    totals = [0.0, *running_sums(values)]
    return [(totals[t] - totals[max(t - window, 0)]) / min(t, window) for t in range(1, len(totals))]


def sampled(values: Sequence[float | None], at: Points) -> Curve:
    """`values[t - 1]` for every t of `at`. The last value is carried forward; before page 1 the value is None."""
    if at is None:
        return list(values)
    last = len(values)
    return [values[min(t, last) - 1] if t > 0 and last else None for t in at]


def undefined(crawled: Collection[object], at: Points) -> Curve:
    """A curve of None values, for topics without answers."""
    return [None] * len(crawled if at is None else at)
