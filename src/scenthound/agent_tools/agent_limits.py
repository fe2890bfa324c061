"""What agents may do. Set by the person who starts the server; nothing that a caller says can raise it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound import url as urls
from scenthound.errors import BadUsage, NotAUrl
from scenthound.model import Url

MOST_SEEDS = 100
MOST_WORDS = 2_000  # characters of a topic or a query


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Limits of one server."""

    pages: int = 200
    """Pages of one crawl."""
    seconds: float = 600.0
    """Duration of one crawl."""
    crawls: int = 5
    """Crawls that this server starts."""
    at_once: int = 2
    """Crawls that run at the same time."""
    domains: tuple[str, ...] = ()
    """Crawls stay in these domains; anywhere if empty."""

    def check_pages(self, pages: int) -> int:
        """The number of pages; `BadUsage` if it is too large."""
        if not 1 <= pages <= self.pages:
            raise BadUsage(
                f"{pages:,} pages: a crawl may have 1 to {self.pages:,}",
                "ask for fewer; only the person who runs this server can raise the limit (--pages)",
            )
        return pages

    def check_seeds(self, seeds: Sequence[str]) -> list[Url]:
        """The seeds as URLs; `BadUsage` if there are none or too many, or one may not be crawled."""
        if not 1 <= len(seeds) <= MOST_SEEDS:
            raise BadUsage(f"{len(seeds)} seeds", f"give 1 to {MOST_SEEDS} addresses to start from")
        return [self._check_seed(seed) for seed in seeds]

    def _check_seed(self, seed: str) -> Url:
        try:
            url = urls.make(seed.strip()[:MOST_WORDS])
        except NotAUrl as error:
            raise BadUsage(error.message, "write the whole address, as https://example.org/page") from None
        host = urls.host(url).partition(":")[0]
        if self.domains and not any(host == domain or host.endswith(f".{domain}") for domain in self.domains):
            raise BadUsage(
                f"{url} is outside of the domains that may be crawled: {', '.join(self.domains)}",
                "start from pages in these; only the person who runs this server can add others (--domain)",
            )
        return url

    def check_number(self, started: int, running: int) -> None:
        """`BadUsage` if no further crawl may start."""
        if started >= self.crawls:
            raise BadUsage(
                f"this server has started its {self.crawls} crawls",
                "use their collections; only the person who runs this server can allow more (--crawls)",
            )
        if running >= self.at_once:
            raise BadUsage(f"{running} crawls are running, the most allowed", "wait for one to end, or stop one")

    def options(self) -> tuple[str, ...]:
        """The limits as options of `scenthound crawl`."""
        words = ["--time", f"{self.seconds:g} s"]
        for domain in self.domains:
            words += ["--domain", domain]
        return tuple(words)
