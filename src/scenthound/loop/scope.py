"""Decide which URLs a crawl may visit, based on host, domain, path and depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scenthound import url as urls
from scenthound.errors import BadConfig, NotAUrl
from scenthound.model import Candidate, Url


@dataclass(slots=True)
class Scope:
    """Decides whether a candidate is in scope. Reasons for refusal are short and can be counted."""

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    not_hosts: frozenset[str] = frozenset()
    not_domains: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    depth: int = 0
    _wanted: list[Any] = field(default_factory=list)
    _unwanted: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hosts, self.not_hosts = frozenset(map(_host, self.hosts)), frozenset(map(_host, self.not_hosts))
        self.domains, self.not_domains = frozenset(map(_host, self.domains)), frozenset(map(_host, self.not_domains))
        self._wanted = [_pattern(text) for text in self.paths]
        self._unwanted = [_pattern(text) for text in self.not_paths]

    def admit(self, host: str) -> None:
        """Add a host to the scope, because a seed is on it or redirects to it."""
        if (self.hosts or self.domains) and not self._may_visit(host) and host not in self.not_hosts:
            self.hosts = self.hosts | {host}

    def refuses(self, candidate: Candidate) -> str | None:
        """The reason not to visit a candidate, or None. Not called for seeds, which may be anywhere."""
        if self.depth and candidate.depth > self.depth:
            return "too-deep"
        return self.refuses_url(candidate.url)

    def refuses_url(self, url: Url) -> str | None:
        host = urls.host(url)
        if (self.hosts or self.domains or self.not_hosts or self.not_domains) and not self._may_visit(host):
            return "out-of-scope"
        if self._wanted or self._unwanted:
            path = _path(url)
            if self._wanted and not any(p.search(path) for p in self._wanted):
                return "out-of-scope"
            if any(p.search(path) for p in self._unwanted):
                return "out-of-scope"
        return None

    def _may_visit(self, host: str) -> bool:
        if host in self.not_hosts or (self.not_domains and self._under(host, self.not_domains)):
            return False
        if not self.hosts and not self.domains:
            return True
        return host in self.hosts or self._under(host, self.domains)

    @staticmethod
    def _under(host: str, domains: frozenset[str]) -> bool:
        while host:
            if host in domains:
                return True
            host = host.partition(".")[2]
        return False


def _host(text: str) -> str:
    """A host or domain that a user wrote, in the form used in URLs: lower case, punycode, no dots at the ends."""
    name = text.strip().strip(".")
    try:
        return urls.host(urls.make(f"http://{name}/"))
    except NotAUrl:
        raise BadConfig(f"not a host or domain: `{text}`", "write it as www.example.org, without http://") from None


def _path(url: Url) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]


def _pattern(text: str) -> Any:
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        return re2.compile(text, quiet)
    except re2.error as error:
        raise BadConfig(
            f"not a pattern: `{text}` ({error})", "patterns are RE2, such as `^/news/` or `[.]html$`"
        ) from None
