"""One clock for all hosts: when each may be asked again, why not sooner, and what waits for that.

The life of a host is told in docs/concepts/architecture.md. Nothing here reads a clock: the loop moves the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Literal, NamedTuple

from scenthound import url as urls
from scenthound.model import Candidate, Miss
from scenthound.web.addresses import Network, forbidden
from scenthound.web.robots import REFUSE_ALL, RobotsRules, comparable

DAY = 86_400.0
ADDRESS_SHARE = 0.25  # the default delay for one IP address, as a share of the delay for one host
MOST_ADDRESSES = 20_000  # kept in memory

HostBehaviour = Literal["proven", "new", "silent"]
"""`proven`: the host has sent pages; `new`: it has sent none yet; `silent`: its last request got no reply."""


class KnownHost(NamedTuple):
    """The state of one host."""

    next_allowed: float = 0.0
    """When it may be asked again; infinity while a request is in flight."""
    failures: int = 0
    """Failures in a row."""
    barren: int = 0
    """Pages in a row that were not relevant."""
    pages: int = 0
    met: bool = False
    """Whether this process has sent a request to it."""
    silent: bool = False
    """Whether the last request of this process to it got no reply."""


@dataclass(frozen=True, slots=True)
class OriginRules:
    """The robots rules of one origin, until when they are valid, and how often they could not be fetched."""

    rules: RobotsRules
    until: float
    failures: int = 0
    why: str = "robots-unreachable"

    @property
    def weight(self) -> int:
        """Its size in memory, in lines of rules."""
        return 10 + len(self.rules.rules)


class Changes(NamedTuple):
    """The hosts and origins whose state has changed since the last call of `take_changes`."""

    hosts: Mapping[str, KnownHost]
    origins: Mapping[str, OriginRules]


@dataclass(slots=True)
class AddressDelay:
    """Spaces out the requests to hosts that share an IP address: a thousand host names may be one machine."""

    seconds: Callable[[str], float]
    """How long an address rests after a request."""
    _ready: dict[str, float] = field(default_factory=dict)
    _waiting: dict[str, dict[str, float]] = field(default_factory=dict)

    def ready_at(self, host: str, address: str, now: float) -> float:
        """Return `now` if the request may be sent (it then counts as sent), otherwise the time to try again."""
        rest = self.seconds(address)
        if not rest:
            return now
        ready, waiting = self._ready.get(address, 0.0), self._waiting.get(address, {})
        if ready <= now:
            self._forget(now)
            self._ready[address] = now + rest
            waiting.pop(host, None)
            return now
        # Each host waits for the hosts before it. A host that is long overdue is not expected any more.
        waiting = {name: until for name, until in waiting.items() if until > now - 10 * rest and name != host}
        waiting[host] = ready + rest * len(waiting)
        self._waiting[address] = waiting
        return waiting[host]

    def __len__(self) -> int:
        return len(self._ready)

    def _forget(self, now: float) -> None:
        if len(self._ready) >= MOST_ADDRESSES:
            self._ready = {address: ready for address, ready in self._ready.items() if ready > now}
            self._waiting = {address: hosts for address, hosts in self._waiting.items() if address in self._ready}


def seconds_between(address: str, setting: float, delay: float, private: Sequence[Network] = ()) -> float:
    """Seconds between two requests to an address: `setting`, or a share of the delay for one host if that is -1.

    By default there is no delay in `private`, the private networks that the user allowed, because these are the user's
    own machines.
    """
    if setting >= 0:
        return setting
    return 0.0 if private and forbidden(address) is not None else ADDRESS_SHARE * delay


class Pending:
    """Candidates whose turn has come but whose host rests, ordered by when the host wakes, then by arrival.

    A host in flight sleeps until `wake` says when it wakes.
    """

    def __init__(self) -> None:
        self._timed: list[tuple[float, int, Candidate]] = []
        self._asleep: dict[str, list[tuple[int, Candidate]]] = {}
        self._count = 0

    def put(self, candidate: Candidate, until: float) -> None:
        self._count += 1
        self._insert(until, self._count, candidate)

    def pop(self, now: float) -> Candidate | None:
        """Take out the candidate whose host wakes first, if that host is awake now."""
        if self._timed and self._timed[0][0] <= now:
            return heapq.heappop(self._timed)[2]
        return None

    def wake(self, host: str, until: float) -> None:
        """Set the time at which a host wakes, for its candidates without a known time."""
        for number, candidate in self._asleep.pop(host, ()):
            self._insert(until, number, candidate)

    def ready_at(self) -> float:
        return self._timed[0][0] if self._timed else inf

    def __iter__(self) -> Iterator[Candidate]:
        timed = [(number, candidate) for _, number, candidate in self._timed]
        asleep = [entry for waiting in self._asleep.values() for entry in waiting]
        return (candidate for _, candidate in sorted([*timed, *asleep], key=lambda entry: entry[0]))

    def __len__(self) -> int:
        return len(self._timed) + sum(map(len, self._asleep.values()))

    def _insert(self, until: float, number: int, candidate: Candidate) -> None:
        if until == inf:
            self._asleep.setdefault(urls.host(candidate.url), []).append((number, candidate))
        else:
            heapq.heappush(self._timed, (until, number, candidate))


def _nothing(name: str) -> None:
    """Nothing is known about this host or origin."""


@dataclass(slots=True, eq=False)
class HostClock:
    """The state of all hosts and origins, and the order in which hosts wake.

    A frontier asks `is_ready` before it offers a URL. If the host rests, `take_woken` names the host when it is ready.
    `begin` says how long a crawl waits for a host; a crawl that is patient keeps the turn of a URL whose host rests, so
    to its frontier only those hosts rest that are passed over (see `loop.fetch_order`).
    """

    delay: float = 1.0
    backoff: float = 10.0
    obey: bool = True
    robots_cache: float = 3600.0
    """Seconds for which robots rules are valid."""
    tries: int = 2
    """How often an unreachable robots.txt is requested before its origin is left alone for a day."""
    recall_host: Callable[[str], KnownHost | None] = _nothing
    """Reads the state of a host that is not in memory. It is awake: hosts that rest stay in memory."""
    recall_origin: Callable[[str], OriginRules | None] = _nothing
    most_hosts: int = 20_000
    """Hosts kept in memory."""
    most_rules: int = 200_000
    """Lines of robots.txt files kept in memory."""
    addresses: AddressDelay | None = None
    now: float = 0.0
    """The current time, which never goes back."""
    is_patient: bool = False
    """Whether the URLs of resting hosts keep their turn. Set it with `be_patient`."""
    pending: Pending = field(default_factory=Pending)
    _patience: float = inf
    _resumed_at: float | None = None
    _hosts: dict[str, KnownHost] = field(default_factory=dict)
    _origins: dict[str, OriginRules] = field(default_factory=dict)
    _changed_hosts: set[str] = field(default_factory=set)
    _changed_origins: set[str] = field(default_factory=set)
    _rules_held: int = 0
    _without_rules: set[str] = field(default_factory=set)  # hosts that rest until a redirected robots.txt has come
    _flying: dict[str, float] = field(default_factory=dict)  # hosts in flight, oldest first, and the start of each
    _passed_over: dict[str, float] = field(default_factory=dict)  # hosts, and until when
    _resting: dict[str, None] = field(default_factory=dict)  # the hosts that rest, and some that have woken
    _wanted: dict[str, float] = field(default_factory=dict)  # hosts that `take_woken` returns, and not before when
    _alarms: list[tuple[float, str]] = field(default_factory=list)  # at least one for each of these with a known time

    def begin(self, patience: float, is_patient: bool) -> None:
        """Begin a crawl: nothing waits for a host yet. A host that rests longer than `patience` is passed over."""
        self._patience, self.is_patient, self.pending = patience, is_patient, Pending()
        for waiting in (self._without_rules, self._flying, self._passed_over, self._wanted, self._alarms):
            waiting.clear()

    def rest_on(self, now: float) -> None:
        """Continue the rests from before `begin`. A host whose request was cancelled rests for one delay."""
        self.advance(now)
        for host, state in list(self._hosts.items()):
            if state.next_allowed > now:
                self.rest(host, state.next_allowed if state.next_allowed < inf else now + self.delay)

    # ---- what a frontier asks

    def advance(self, now: float) -> None:
        """Move the time forward."""
        self.now = max(self.now, now)

    def ready_at(self, host: str) -> float:
        """From when a frontier may offer URLs of this host; infinity if that is not known yet."""
        if self.is_patient:
            return self._passed_over.get(host, 0.0)
        return self._rests_until(host)

    def is_ready(self, host: str) -> bool:
        """Whether a frontier may offer URLs of this host now. If not, `take_woken` will return the host."""
        if self.ready_at(host) <= self.now:
            return True
        self.want(host)
        return False

    def want(self, host: str, due: float = 0.0) -> None:
        """Let `take_woken` return this host when it is ready, and not before `due` unless it is already wanted."""
        if due < self._wanted.get(host, inf):
            self._wanted[host] = due
            self._set_alarm(host)

    def forget(self, host: str) -> None:
        """Do not return this host from `take_woken`: the frontier has no URL of it any more."""
        self._wanted.pop(host, None)

    def forget_all(self) -> None:
        """Return no host from `take_woken` that was asked for before."""
        self._wanted.clear()
        self._alarms.clear()

    def take_woken(self) -> list[str]:
        """The wanted hosts that are ready now, each once."""
        woken = []
        while self._alarms and self._alarms[0][0] <= self.now:
            host = heapq.heappop(self._alarms)[1]
            if host in self._wanted and self._wakes_at(host) <= self.now:
                del self._wanted[host]
                woken.append(host)
        return woken

    def next_wake(self) -> float:
        """When the next wanted host is ready; infinity if none is, or if its time is not known yet."""
        while self._alarms:
            moment, host = self._alarms[0]
            if host in self._wanted and self._wakes_at(host) <= moment:
                return moment
            heapq.heappop(self._alarms)
        return inf

    def not_ready(self) -> list[str]:
        """The hosts of which a frontier may offer no URL now."""
        if self.is_patient:
            return [host for host in self._passed_over if self.ready_at(host) > self.now]
        self._drop_woken()
        return [*self._resting]

    def _drop_woken(self) -> None:
        self._resting = {host: None for host in self._resting if self._rests_until(host) > self.now}

    def _rests_until(self, host: str) -> float:
        if host in self._without_rules:
            return inf
        state = self._hosts.get(host)
        return 0.0 if state is None else state.next_allowed

    def _wakes_at(self, host: str) -> float:
        return max(self.ready_at(host), self._wanted[host])

    def _set_alarm(self, host: str) -> None:
        if host in self._wanted and (moment := self._wakes_at(host)) < inf:
            heapq.heappush(self._alarms, (moment, host))
            if len(self._alarms) > 2 * len(self._wanted) + 64:
                alarms = [(self._wakes_at(wanted), wanted) for wanted in self._wanted]
                self._alarms = [alarm for alarm in alarms if alarm[0] < inf]
                heapq.heapify(self._alarms)

    # ---- a host's turns

    def host(self, name: str) -> KnownHost:
        state = self._hosts.get(name)
        if state is None:
            state = self._hosts[name] = self.recall_host(name) or KnownHost()
            if len(self._hosts) > self.most_hosts:
                self._drop_old_hosts(name)
        return state

    def _drop_old_hosts(self, new: str) -> None:
        """Drop the oldest tenth, except hosts that rest or are not saved yet."""
        for old in list(islice(self._hosts, self.most_hosts // 10)):
            if old not in self._changed_hosts and old != new and self._rests_until(old) <= self.now:
                del self._hosts[old]

    def next_allowed(self, host: str) -> float:
        """When a host may be asked again."""
        return self.host(host).next_allowed

    def launched(self, host: str) -> HostBehaviour:
        """Register a request. The host rests until the next call of `rest`. Returns how it has behaved so far."""
        state = self.host(host)
        self._hosts[host] = state._replace(next_allowed=inf, met=True)
        self._without_rules.discard(host)
        self._begin_rest(host, inf)
        return "silent" if state.silent else "proven" if state.pages else "new"

    def replied(self, host: str, is_silent: bool) -> None:
        """Store whether a request got a reply."""
        state = self.host(host)
        if state.silent != is_silent:
            self._hosts[host] = state._replace(silent=is_silent)

    def rest_after(self, origin: str, now: float) -> float:
        """When a host that answered may be asked again: after one delay. The caller lets it `rest`."""
        return self._set_next(urls.host(origin), 0, now + self.delay_of(origin))

    def rest_after_miss(self, miss: Miss, origin: str, now: float) -> float:
        """Like `rest_after`, but after a failed request, and longer if the host itself is in trouble."""
        host, wait = urls.host(origin), self.delay_of(origin)
        failures = self.host(host).failures
        if miss.status and miss.status not in (429, 503):
            failures = 0  # any other status shows that the host works
        if miss.status in (429, 503) or (miss.status == 0 and miss.retry_after is not None):
            failures += 1
            doubled = self.backoff * 2 ** min(failures - 1, 8)
            wait = max(wait, min(miss.retry_after or doubled, DAY) if miss.status else doubled)
        return self._set_next(host, failures, now + wait)

    def _set_next(self, host: str, failures: int, until: float) -> float:
        self._changed_hosts.add(host)
        self._hosts[host] = self.host(host)._replace(failures=failures, next_allowed=until)
        self._resting[host] = None
        self._set_alarm(host)
        return until

    def rest(self, host: str, until: float) -> None:
        """Do not ask this host before `until`, and wake it then. A later call replaces an earlier one."""
        self._hosts[host] = self.host(host)._replace(next_allowed=until)
        self._without_rules.discard(host)
        self._begin_rest(host, until)

    def rest_without_rules(self, host: str, is_in_flight: bool = False) -> None:
        """Wake nothing of this host before the next call of `rest`: a robots.txt of it was redirected elsewhere."""
        self._without_rules.add(host)
        if not is_in_flight:  # else the rest that began with the request goes on
            self._begin_rest(host, inf)

    def _begin_rest(self, host: str, until: float) -> None:
        self._flying.pop(host, None)
        self._passed_over.pop(host, None)
        self._resting[host] = None
        if len(self._resting) > 2 * self.most_hosts:
            self._drop_woken()
        if until == inf:
            self._flying[host] = self.now
        else:
            self.pending.wake(host, until)
            if until - self.now > self._patience:
                self._pass_over(host, until)
        self._set_alarm(host)

    def count_page(self, host: str, relevant: bool) -> None:
        """Count a page from this host."""
        self._changed_hosts.add(host)
        state = self.host(host)
        self._hosts[host] = state._replace(pages=state.pages + 1, barren=0 if relevant else state.barren + 1)

    def hold(self, candidate: Candidate, until: float | None = None) -> None:
        """Make a candidate pending until its host wakes, or until `until` or the next `rest` of the host."""
        self.pending.put(candidate, self.next_allowed(urls.host(candidate.url)) if until is None else until)

    # ---- patience

    def be_patient(self, is_patient: bool) -> None:
        """Change the policy: from now on, other hosts are ready."""
        self.is_patient = is_patient
        for host in list(self._hosts):
            if (until := self._rests_until(host)) > self.now:
                self._begin_rest(host, until)
        for host in self._wanted:
            self._set_alarm(host)

    def passes_over(self, host: str) -> bool:
        return self._passed_over.get(host, 0.0) > self.now

    def lose_patience(self, slow: Iterable[str] = ()) -> None:
        """Pass over these hosts, and all whose request takes too long, until their requests end."""
        late = [*slow]
        for host, since in self._flying.items():
            if since + self._patience > self.now:
                break
            late.append(host)
        for host in late:
            if self._flying.pop(host, None) is not None:
                self._pass_over(host, inf)

    def next_overdue(self) -> float:
        """When the next request takes too long."""
        return next(iter(self._flying.values()), inf) + self._patience

    def _pass_over(self, host: str, until: float) -> None:
        if len(self._passed_over) > 1000:
            self._passed_over = {name: end for name, end in self._passed_over.items() if end > self.now}
        self._passed_over[host] = until

    # ---- after a restart

    def resume_at(self, now: float) -> None:
        """Set the time of the resume. When hosts were last asked is not known exactly."""
        self._resumed_at = now

    def due(self, origin: str) -> float:
        """When a host may first be asked after a restart (one whole delay later); 0 if it was asked since."""
        if self._resumed_at is None or self.host(urls.host(origin)).met:
            return 0.0
        return self._resumed_at + self.delay_of(origin)

    def take_changes(self) -> Changes:
        """Return what has changed since the last call. The caller saves it, so that it can be dropped from memory."""
        hosts = {name: self._hosts[name] for name in self._changed_hosts}
        origins = {name: self._origins[name] for name in self._changed_origins}
        self._changed_hosts.clear()
        self._changed_origins.clear()
        return Changes(hosts, origins)

    # ---- robots.txt

    def origin(self, name: str) -> OriginRules | None:
        rules = self._origins.get(name)
        if rules is None and (rules := self.recall_origin(name)) is not None:
            self._keep(name, rules)
        return rules

    def _keep(self, name: str, rules: OriginRules) -> None:
        """Keep an origin's rules in memory; drop the oldest if there are too many rules in total."""
        before = self._origins.pop(name, None)
        self._rules_held += rules.weight - (before.weight if before else 0)
        self._origins[name] = rules
        while self._rules_held > self.most_rules:
            old = next((old for old in self._origins if old not in self._changed_origins and old != name), None)
            if old is None:
                return
            self._rules_held -= self._origins.pop(old).weight

    def verdict(self, spelling: str, now: float) -> str:
        """Decide about a URL whose host is awake: `fetch`, `ask-robots`, or the reason not to fetch it."""
        if not self.obey:
            return "fetch"
        rules = self.origin(urls.origin(spelling))
        if rules is None or rules.until <= now:
            return "ask-robots"
        if rules.failures:
            return rules.why
        return "fetch" if rules.rules.may_fetch(comparable(spelling)) else "robots"

    def learn(
        self, origin: str, rules: RobotsRules | None, now: float, hopeless: str = "", retry_after: float = 0.0
    ) -> None:
        """Store an origin's rules. None means that they could not be fetched, which forbids everything for a while.

        `hopeless` is the reason why another request can't help: no such host, an address that is not allowed.
        """
        self._changed_origins.add(origin)
        if rules is not None:
            self._keep(origin, OriginRules(rules, now + min(self.robots_cache, DAY)))
            return
        before = self.origin(origin)
        failures = before.failures + 1 if before is not None else 1
        if hopeless or failures >= self.tries:
            self._keep(origin, OriginRules(REFUSE_ALL, now + DAY, self.tries, hopeless or "robots-unreachable"))
        else:
            wait = max(self.backoff * 2 ** (failures - 1), min(retry_after, DAY))
            self._keep(origin, OriginRules(REFUSE_ALL, now + wait, failures))

    def asks_again(self, origin: str) -> bool:
        """True while an unreachable robots.txt will be requested again soon."""
        rules = self.origin(origin)
        return rules is not None and 0 < rules.failures < self.tries

    def delay_of(self, origin: str) -> float:
        """The delay for an origin: ours, or the delay in its robots.txt if that is longer."""
        rules = self.origin(origin)
        robots_delay = rules.rules.delay if rules and self.obey else None
        return max(self.delay, robots_delay or 0.0)
