"""How much agents may crawl. The limits are set by the person who starts the server; no caller can raise them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound import url as urls
from scenthound.errors import BadUsage, NotAUrl
from scenthound.model import Url

MOST_SEEDS = 100
MOST_CHARACTERS = 2_000  # of a topic or a query


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """The limits of one server, and methods that check requests against them."""

    pages: int = 200
    """Maximum number of pages of one crawl."""
    seconds: float = 600.0
    """Maximum duration of one crawl."""
    crawls: int = 5
    """Number of crawls that this server may start."""
    at_once: int = 2
    """Number of crawls that may run at the same time."""
    domains: tuple[str, ...] = ()
    """Domains that crawls must stay in; empty: no restriction."""

    def check_pages(self, pages: int) -> int:
        """Return `pages`, or raise `BadUsage` if it is not within the limit."""
        if not 1 <= pages <= self.pages:
            raise BadUsage(
                f"{pages:,} pages is outside the limit: a crawl may have 1 to {self.pages:,}",
                "ask for fewer; only the person who runs this server can raise the limit (--pages)",
            )
        return pages

    def check_seeds(self, seeds: Sequence[str]) -> list[Url]:
        """Return the seeds as URLs. Raises `BadUsage` if there are none or too many, or one may not be crawled."""
        if not 1 <= len(seeds) <= MOST_SEEDS:
            raise BadUsage(f"{len(seeds)} seeds given", f"give 1 to {MOST_SEEDS} URLs to start from")
        return [self._check_seed(seed) for seed in seeds]

    def _check_seed(self, seed: str) -> Url:
        try:
            url = urls.make(seed.strip()[:MOST_CHARACTERS])
        except NotAUrl as error:
            raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
        host = urls.host(url).partition(":")[0]
        if self.domains and not any(host == domain or host.endswith(f".{domain}") for domain in self.domains):
            raise BadUsage(
                f"{url} is outside the domains that may be crawled: {', '.join(self.domains)}",
                "start from pages in these domains; only the person who runs this server can add others (--domain)",
            )
        return url

    def check_number(self, started: int, running: int) -> None:
        """Raise `BadUsage` if no further crawl may start."""
        if started >= self.crawls:
            raise BadUsage(
                f"this server has already started {self.crawls} crawls, the maximum",
                "use their pages; only the person who runs this server can allow more (--crawls)",
            )
        if running >= self.at_once:
            raise BadUsage(f"{running} crawls are running, the maximum", "wait for one to end, or stop one")

    def options(self) -> tuple[str, ...]:
        """The limits as command-line options of `scenthound crawl`."""
        arguments = ["--time", f"{self.seconds:g} s"]
        for domain in self.domains:
            arguments += ["--domain", domain]
        return tuple(arguments)
