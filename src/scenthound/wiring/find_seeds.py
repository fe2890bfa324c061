"""Ask seed sources for seeds and back-links, before a crawl and again while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from scenthound import url as urls
from scenthound.errors import BadUsage, ScenthoundError, SourceFailed
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.identity import product_token
from scenthound.loop.settings import Settings
from scenthound.loop.steering import Steering
from scenthound.model import Candidate, Event, Topic, Url
from scenthound.ports import Fetcher
from scenthound.seeding import Asker, FoundUrl, KnowsBackLinks, ReadsFiles, SeedSource
from scenthound.sources import named_source
from scenthound.sources.polite_requests import PoliteAsker
from scenthound.web.addresses import parse_networks
from scenthound.wiring.parts_from_settings import make_fetcher

Question = Callable[[SeedSource, Asker], Awaitable[Sequence[FoundUrl]]]
RESEEDED = "reseeded"  # the kind of the events
MOST_ASKED_FOR = 500  # maximum URLs in one answer of a source, however often it was asked before


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The answer of one source, or the problem that occurred."""

    source: str
    found: tuple[FoundUrl, ...] = ()
    problem: str = ""
    hint: str = ""


def check_sources(texts: Iterable[str]) -> None:
    """Raise `BadConfig` or `UnknownName` for the first text that does not name a source."""
    for text in texts:
        named_source(text)


@asynccontextmanager
async def asking(settings: Settings, fetcher: Fetcher | None = None) -> AsyncIterator[Asker]:
    """Yield an `Asker` that sends the requests of sources within the limits and politeness of the settings."""
    networks = parse_networks(settings.allow_private)

    def asker(fetcher: Fetcher) -> Asker:
        return PoliteAsker(fetcher, product_token(settings), settings.delay, networks, settings.robots)

    if fetcher is not None:
        yield asker(fetcher)
    else:
        async with make_fetcher(settings) as new_fetcher:
            yield asker(new_fetcher)


async def find_seeds(
    topic: Topic, settings: Settings, most: int | None = None, fetcher: Fetcher | None = None
) -> list[SourceAnswer]:
    """The answer of each source in the settings for a topic: up to `most` URLs, by default `settings.found_seeds`."""
    limit = settings.found_seeds if most is None else most

    async def ask(source: SeedSource, asker: Asker) -> Sequence[FoundUrl]:
        return await source.seeds(topic, limit, asker)

    async with asking(settings, fetcher) as asker:
        return await _ask_all(settings.sources, ask, asker)


async def find_back_links(url: Url, settings: Settings, most: int, asker: Asker) -> list[SourceAnswer]:
    """The answer of each source in the settings: pages that link to a URL. Sources without links report a problem."""

    async def ask(source: SeedSource, asker: Asker) -> Sequence[FoundUrl]:
        if not isinstance(source, KnowsBackLinks):
            raise BadUsage("this source knows no links", "ask collections:FOLDER or searxng:ADDRESS")
        return await source.back_links(url, most, asker)

    return await _ask_all(settings.sources, ask, asker)


async def _ask_all(sources: Iterable[str], ask: Question, asker: Asker) -> list[SourceAnswer]:
    answers = []
    for text in dict.fromkeys(sources):
        try:
            answers.append(SourceAnswer(text, tuple(await ask(named_source(text), asker))))
        except ScenthoundError as error:
            answers.append(SourceAnswer(text, problem=error.message, hint=error.hint))
        except Exception as error:  # a bug in a plug-in must not stop a crawl
            answers.append(SourceAnswer(text, problem=f"{type(error).__name__}: {error}"[:300]))
    return answers


def _reads_files(text: str) -> bool:
    try:
        return isinstance(named_source(text), ReadsFiles)
    except ScenthoundError:  # reported when the source is asked
        return False


def found_urls(answers: Sequence[SourceAnswer]) -> list[str]:
    """The different URLs in all answers, one from each source in turn. Raises `SourceFailed` if there are none."""
    spellings: dict[Url, str] = {}
    for rank in range(max((len(answer.found) for answer in answers), default=0)):
        for answer in answers:
            if rank < len(answer.found):
                spellings.setdefault(urls.make(answer.found[rank].url), answer.found[rank].url)
    if spellings:
        return list(spellings.values())
    problems = [f"{answer.source}: {answer.problem or 'it knows no page about this'}" for answer in answers]
    hints = [answer.hint for answer in answers if answer.hint]
    raise SourceFailed("no source found a page to start from\n" + "\n".join(problems), (hints or ["add --seed URL"])[0])


def urls_by_source(answers: Sequence[SourceAnswer]) -> dict[str, tuple[str, ...]]:
    """The URLs by source, in the form recorded in crawl.toml."""
    return {answer.source: tuple(found.url for found in answer.found) for answer in answers}


class Reseeding:
    """Asks the sources for more seeds every `reseed_every` pages, while the crawl continues.

    New seeds become orders of the crawl, in the same commit that records that the sources were asked. So a resumed
    crawl has the same seeds, and asks next at the same page as an uninterrupted crawl.
    """

    def __init__(
        self, folder: CrawlFolder, crawl: Crawl, steering: Steering, fetcher: Fetcher | None, is_resumed: bool
    ) -> None:
        self._folder, self._crawl, self._steering, self._fetcher = folder, crawl, steering, fetcher
        self._settings = folder.request.settings
        if is_resumed and self._settings.reseed_every:
            self._settings = self._without_files(self._settings)
        self._every = self._settings.reseed_every if self._settings.sources else 0
        self._task: asyncio.Task[list[SourceAnswer]] | None = None
        self._times = folder.database.meta_number("reseeded")

    def _without_files(self, settings: Settings) -> Settings:
        """The settings without sources that read local files; `ReadsFiles` explains why."""
        local = [text for text in settings.sources if _reads_files(text)]
        reason = "is not asked again, because a resumed folder may come from someone else; `scenthound seeds` asks it"
        self._folder.recovered += [f"{text} {reason}" for text in local]
        return replace(settings, sources=[text for text in settings.sources if text not in local])

    @property
    def is_due(self) -> bool:
        return bool(self._every) and self._crawl.pages >= (self._times + 1) * self._every

    def step(self, now: float) -> bool:
        """Ask if it is time, and process answers that have arrived. Call this between commits; commit again if True."""
        if self._task is None:
            if self.is_due and not self._crawl.end_reason:
                most = min(self._settings.found_seeds * (self._times + 2), MOST_ASKED_FOR)
                request = self._folder.request
                self._task = asyncio.create_task(find_seeds(request.topic, self._settings, most, self._fetcher))
            return False
        if not self._task.done():
            return False
        task, self._task = self._task, None
        self._take(task.result(), now)
        return True

    def _take(self, answers: Sequence[SourceAnswer], now: float) -> None:
        self._times = max(self._times + 1, self._crawl.pages // self._every)
        self._folder.database.save_meta("reseeded", str(self._times))
        number = self._crawl.recorder.last_number
        taken = 0
        for answer in answers:
            new = [found.url for found in answer.found if self._is_new(found.url)]
            new = new[: self._settings.found_seeds - taken]
            for url in new:
                self._steering.add_seed(url, now)
            taken += len(new)
            facts: Mapping[str, object] = {"source": answer.source, "seeds": new, "problem": answer.problem}
            self._crawl.recorder.events([Event(RESEEDED, facts, n=number)])

    def _is_new(self, raw: str) -> bool:
        """Whether a URL is new and in scope. Unlike a user, a source can't widen the scope of a crawl."""
        crawl, url = self._crawl, urls.make(raw)
        if url in crawl.frontier or url in crawl.selection.chosen or crawl.history.seen(url):
            return False
        return crawl.scope is None or not crawl.scope.refuses(Candidate(url, 0.0))

    async def close(self) -> None:
        """Cancel a question that is not answered yet."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
