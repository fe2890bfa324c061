"""The URLs that look like traps. They wait behind all others, and a few of them are fetched as samples.

They are grouped by host and pattern. While other URLs are left, a host gets a sample now and then, at intervals that
double with each sample in a row that gave nothing new. When nothing else is left, each host gets further samples, as
long as all of them together take at most a share of the rest of the budget. A sample that says something new counts
towards neither limit. `TrapWatch` decides when a suspension ends; then the URLs return to the frontier.

In the frontier these URLs are in flight: its table keeps them, and a resumed crawl finds them waiting there.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenthound.loop.trap_watch import patterns
from scenthound.model import Candidate, Url
from scenthound.url import host as host_of

MOST = 100_000  # suspended and other URLs, unless the frontier has another bound
INTERVAL = 16  # pages between a suspension and the first sample of its host; doubled after each in vain
OF_PATTERN, OF_HOST = 6.0, 8.0  # samples of a pattern and of a host that may give nothing new …
HALF = 0.5  # … of which one counts half whose text is new, but whose links lead on without end
OLDEST_EVERY = 3  # samples: the others are the newest URLs, which show whether a pattern comes to an end


@dataclass(slots=True)
class _SuspendedHost:
    """The suspended URLs of one host."""

    groups: dict[str, dict[Url, Candidate]] = field(default_factory=dict)
    """By pattern."""
    vain: dict[str, float] = field(default_factory=dict)
    """The number of samples in a row that gave nothing new, by pattern."""
    vain_in_all: float = 0.0
    tried: int = 0
    """The number of samples."""
    due: float = 0.0
    """The number of pages of the crawl at which it gets its next sample."""


@dataclass(slots=True)
class SuspendedUrls:
    """Holds suspended candidates, and chooses which of them are fetched as samples."""

    most: int = MOST
    """The maximum number of candidates, together with those in the frontier."""
    share: float = 0.1
    """The share of the rest of the budget that samples may take when nothing else is left."""
    spent: int = 0
    """Samples that gave nothing new since nothing else was left."""
    _hosts: dict[str, _SuspendedHost] = field(default_factory=dict)
    urls: dict[Url, tuple[str, int]] = field(default_factory=dict)
    """All suspended URLs, with their patterns, numbered in the order in which they came."""
    _number: int = 0
    _exempt: set[Url] = field(default_factory=set)
    _due: list[tuple[float, str]] = field(default_factory=list)
    _samples: dict[Url, bool] = field(default_factory=dict)
    """Samples without a result yet, and whether nothing else was left when they were chosen."""

    def __len__(self) -> int:
        return len(self.urls)

    def __contains__(self, url: object) -> bool:
        return url in self.urls

    def __iter__(self) -> Iterator[Candidate]:
        for host in self._hosts.values():
            for group in host.groups.values():
                yield from group.values()

    def put(self, candidate: Candidate, pages: int) -> None:
        """Add a candidate; `pages` is the number of pages of the crawl."""
        name, pattern = host_of(candidate.url), patterns(candidate.url)[0]
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _SuspendedHost()
        if not host.groups:
            self._schedule(name, host, max(host.due, pages + INTERVAL))
        host.groups.setdefault(pattern, {})[candidate.url] = candidate
        self._number += 1
        self.urls[candidate.url] = (pattern, self._number)

    def take(self, url: Url) -> Candidate | None:
        """Remove a URL and return its candidate; None if it is not suspended."""
        self._exempt.discard(url)
        if url not in self.urls:
            return None
        pattern, _ = self.urls.pop(url)
        host = self._hosts[host_of(url)]
        candidate = host.groups[pattern].pop(url)
        if not host.groups[pattern]:
            del host.groups[pattern]
        return candidate

    def last(self) -> Candidate:
        """The newest candidate of the largest group, which is the first to go when there is no room."""
        groups = (group for host in self._hosts.values() for group in host.groups.values())
        return next(reversed(max(groups, key=len).values()))

    # ---- samples

    def exempt(self, url: Url) -> None:
        """Do not suspend a URL, because a redirect led to it."""
        self._exempt.add(url)

    def may_be_fetched(self, url: Url) -> bool:
        """Whether a suspended URL is a sample or the target of a redirect."""
        return url in self._samples or url in self._exempt

    def next_sample(self, pages: int) -> Candidate | None:
        """Take out a sample if one is due while other URLs are left."""
        while self._due and self._due[0][0] <= pages:
            due, name = heapq.heappop(self._due)
            host = self._hosts[name]
            if due == host.due and (sample := self._sample(host, is_last=False)) is not None:
                self._schedule(name, host, pages + INTERVAL * 2.0**host.vain_in_all)
                return sample
        return None

    def last_samples(self, pages_left: int) -> list[Candidate]:
        """Take out a sample of each host, because nothing else is left; empty if there may be no more."""
        samples: list[Candidate] = []
        allowed = self.share * (pages_left + self.spent) - self.spent
        for host in self._hosts.values():
            if len(samples) >= min(allowed, pages_left):
                break
            if (sample := self._sample(host, is_last=True)) is not None:
                samples.append(sample)
        return samples

    def _sample(self, host: _SuspendedHost, is_last: bool) -> Candidate | None:
        """The newest URL of the host, if one may be tried.

        It is often a link of the last sample, so that samples lead to where a site comes to an end. Every third sample
        is the oldest URL of the pattern with the fewest samples in vain, the largest of several.
        """
        vain = host.vain
        groups = [pattern for pattern in host.groups if vain.get(pattern, 0) < OF_PATTERN]
        if not groups or host.vain_in_all >= OF_HOST:
            return None
        host.tried += 1
        if host.tried % OLDEST_EVERY == 0:
            pattern = min(groups, key=lambda name: (vain.get(name, 0), -len(host.groups[name])))
            url = next(iter(host.groups[pattern]))
        else:
            url = max((next(reversed(host.groups[pattern])) for pattern in groups), key=lambda url: self.urls[url][1])
        sample = self.take(url)
        assert sample is not None
        self._samples[sample.url] = is_last
        return sample

    def drop_sample(self, url: Url) -> None:
        """Forget a sample that is not requested after all."""
        self._samples.pop(url, None)

    def result(self, url: Url, says_new: bool, is_text_new: bool = False) -> None:
        """Count the result of a sample; other URLs are ignored."""
        is_last = self._samples.pop(url, None)
        if is_last is None:
            return
        host, pattern = self._hosts[host_of(url)], patterns(url)[0]
        if says_new:
            host.vain.pop(pattern, None)
            host.due = 0.0
            self._schedule(host_of(url), host, 0.0)
        else:
            vain = HALF if is_text_new else 1.0
            host.vain[pattern] = host.vain.get(pattern, 0.0) + vain
            host.vain_in_all += vain
            self.spent += is_last

    def forgive(self, url: Url) -> None:
        """Do not count a sample as one in vain: it has led to something new."""
        host, pattern = self._hosts.get(host_of(url)), patterns(url)[0]
        if host is not None and (vain := min(1.0, host.vain.get(pattern, 0.0))):
            host.vain[pattern] -= vain
            host.vain_in_all -= vain
            self.spent = max(0, self.spent - 1)

    def release(self, host: str, is_suspended: Callable[[Url, Url | None], bool]) -> list[Candidate]:
        """Take out the candidates of a host that are no longer suspended."""
        released: list[Candidate] = []
        known = self._hosts.get(host)
        for pattern, group in list(known.groups.items()) if known is not None else ():
            example = next(iter(group.values()))
            if not is_suspended(example.url, example.parent):
                released += group.values()
                assert known is not None
                known.vain_in_all -= known.vain.pop(pattern, 0)
        for candidate in released:
            self.take(candidate.url)
        return released

    def release_all(self) -> list[Candidate]:
        """Take out all candidates."""
        released = list(self)
        for candidate in released:
            self.take(candidate.url)
        return released

    def _schedule(self, name: str, host: _SuspendedHost, due: float) -> None:
        host.due = due
        heapq.heappush(self._due, (due, name))

    # ---- saved with the crawl

    def save(self) -> dict[str, Any]:
        """The samples in vain as JSON values. The candidates are in the frontier."""
        vain = {name: [host.vain_in_all, dict(host.vain)] for name, host in self._hosts.items() if host.vain_in_all}
        return {"vain": vain, "spent": self.spent} if vain else {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Load what `save` returned."""
        self.spent = int(state.get("spent", 0))
        for name, (vain_in_all, vain) in state.get("vain", {}).items():
            times_of = {str(pattern): float(times) for pattern, times in vain.items()}
            self._hosts[name] = _SuspendedHost(vain=times_of, vain_in_all=float(vain_in_all))
