"""Send the requests of seed sources as a crawl would: with its fetcher, address checks, robots.txt and delays.

Answers are bounded in size and time. Redirects are followed if robots.txt allows their targets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from scenthound import url as urls
from scenthound.errors import NotAUrl, SourceFailed, Unreadable
from scenthound.formats import printable
from scenthound.loop.crawl_toml import masked
from scenthound.loop.replies import REDIRECTS, ROBOTS_BYTES
from scenthound.model import Response
from scenthound.ports import Failure, Fetcher
from scenthound.seeding import FoundUrl
from scenthound.web.addresses import Network, forbidden_name
from scenthound.web.decode import decompress
from scenthound.web.robots import ALLOW_ALL, RobotsRules, comparable, parse, verdict_for_status

LARGEST_ANSWER = 8_000_000  # bytes
RATIO = 1000  # how many times larger an answer may become when it is unpacked
LONGEST_TITLE = 300
LONGEST_DELAY = 30.0  # seconds: a larger Crawl-delay in robots.txt counts as this
PATIENCE = 60.0  # seconds for one answer, including redirects and robots.txt
_EXPLANATIONS = {
    401: "it requires a login",
    403: "access is refused",
    404: "there is nothing at this address",
    429: "too many requests",
    503: "it is busy",
}


class PoliteAsker:
    """An `Asker` that uses a fetcher. Requests to one host are `delay` seconds apart, or more if robots.txt says so."""

    def __init__(
        self,
        fetcher: Fetcher,
        agent: str,
        delay: float = 1.0,
        allow_private: Sequence[Network] = (),
        obey_robots: bool = True,
    ) -> None:
        self._fetcher, self._agent, self._delay, self._allowed = fetcher, agent, delay, tuple(allow_private)
        self._obey_robots = obey_robots
        self._rules: dict[str, RobotsRules | None] = {}  # by origin; None: nothing may be fetched now
        self._ready: dict[str, float] = {}  # by host: time of the next request

    async def get(self, url: str, robots: bool = True) -> bytes:
        """See `Asker.get`."""
        try:
            async with asyncio.timeout(PATIENCE):
                return self._body(await self._follow(url, robots and self._obey_robots))
        except TimeoutError:
            raise SourceFailed(f"{_shown(url)} took more than {PATIENCE:g} s", "try again later", url) from None

    async def rules(self, url: str) -> RobotsRules:
        """The robots rules for the origin of a URL. Raises `SourceFailed` if they are unavailable."""
        origin = urls.origin(url)
        if origin not in self._rules:
            self._rules[origin] = await self._read_rules(f"{origin}/robots.txt")
        rules = self._rules[origin]
        if rules is None:
            raise SourceFailed(f"{origin} does not serve its robots.txt, so nothing may be requested", "try later", url)
        return rules

    def checked(self, url: object, title: object = "") -> FoundUrl | None:
        """See `Asker.checked`."""
        if not isinstance(url, str) or len(url) > urls.LONGEST:
            return None
        try:
            spelling = urls.resolve(url)
            urls.canonical(spelling)
        except NotAUrl:
            return None
        if forbidden_name(urls.host(spelling), self._allowed) is not None:
            return None
        return FoundUrl(spelling, printable(title, LONGEST_TITLE) if isinstance(title, str) else "")

    async def _follow(self, url: str, robots: bool) -> Response:
        for _ in range(REDIRECTS + 1):
            if robots and not (await self.rules(url)).may_fetch(comparable(url)):
                raise SourceFailed(
                    f"robots.txt of {urls.host(url)} forbids requests for {_shown(url)}",
                    "if it is yours, or its owner agrees, add ,robots=false to the source",
                    url,
                )
            reply = await self._paced(url)
            if isinstance(reply, Failure):
                raise _failed(url, reply)
            if not 300 <= reply.status < 400:
                return reply
            try:
                url = urls.resolve(reply.header("location"), url)
            except NotAUrl:
                raise SourceFailed(
                    f"{_shown(url)} redirects to an invalid address", "check the address of the source", url
                ) from None
        raise SourceFailed(f"{_shown(url)} has too many redirects", "check the address of the source", url)

    async def _paced(self, url: str, most: int = LARGEST_ANSWER) -> Response | Failure:
        """Send one request, after the delay of its host."""
        loop, host = asyncio.get_running_loop(), urls.host(url)
        await asyncio.sleep(max(0.0, self._ready.get(host, 0.0) - loop.time()))
        reply = await self._fetcher.fetch(url, most)
        rules = self._rules.get(urls.origin(url))
        crawl_delay = rules.delay if rules is not None and rules.delay is not None else 0.0
        self._ready[host] = loop.time() + max(self._delay, min(crawl_delay, LONGEST_DELAY))
        return reply

    async def _read_rules(self, url: str) -> RobotsRules | None:
        reply = await self._paced(url, ROBOTS_BYTES)
        for _ in range(REDIRECTS):
            if isinstance(reply, Failure) or not 300 <= reply.status < 400:
                break
            try:
                url = urls.resolve(reply.header("location"), url)
            except NotAUrl:
                break
            reply = await self._paced(url, ROBOTS_BYTES)
        if isinstance(reply, Failure):
            raise _failed(url, reply)
        match verdict_for_status(reply.status):
            case "allow":
                return ALLOW_ALL
            case "parse":
                return parse(self._body(reply), self._agent)
        return None

    def _body(self, reply: Response) -> bytes:
        if reply.status != 200:
            explanation = _EXPLANATIONS.get(reply.status, "unexpected status")
            failure = SourceFailed(f"{_shown(reply.url)} answers {reply.status}: {explanation}", "try later", reply.url)
            failure.status = reply.status
            raise failure
        try:
            body = decompress(reply.body, reply.header("content-encoding"), limit=LARGEST_ANSWER + 1, ratio=RATIO)
        except Unreadable as error:
            raise SourceFailed(f"{_shown(reply.url)} can't be unpacked: {error.message}", "", reply.url) from None
        if reply.truncated or len(body.data) > LARGEST_ANSWER:
            raise SourceFailed(
                f"the answer of {_shown(reply.url)} is cut short or larger than {LARGEST_ANSWER:,} bytes",
                "request less",
                reply.url,
            )
        return body.data


def _failed(url: str, failure: Failure) -> SourceFailed:
    is_private = failure.reason == "refused-address"
    hint = "if it is yours, add --allow-private loopback, or its network" if is_private else "check the address"
    detail = f" ({failure.detail[:150]})" if failure.detail else ""
    return SourceFailed(f"{_shown(url)} can't be reached: {failure.reason}{detail}", hint, url)


def _shown(url: str) -> str:
    return printable(masked(url), 120)
