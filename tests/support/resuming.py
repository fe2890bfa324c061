"""A crawl in a folder, driven step by step on a generated web: for tests that stop and resume it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.run.topic_lessons import lessons_of
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.messages import Done, Fetch
from scenthound.loop.settings import Settings, read
from scenthound.model import Candidate, Miss, Response, Topic, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.parameters import values_of
from scenthound.ports import Failure, Trains, declaration_of
from scenthound.store.model_folder import TrainedModel, TrainedOn, save_model
from scenthound.strategies import strategy
from scenthound.wiring import Session, begin, make_strategy

WEB = GeneratedWeb(pages=400, seed=5)
TOPIC = WEB.topics[0]
SETTINGS = {
    "delay": 0,
    "robots": False,
    "pages": 120,
    "host_patience": 0,
    "concurrency": 4,
    "seed_number": 3,
    "snapshot": 7,
}


@strategy("test-learner")
@dataclass
class Learner:
    """Prefers links whose host gave more pages so far: its decisions depend on everything it has read."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.read_: dict[str, int] = {}
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        host = page.url.split("/")[2]
        self.read_[host] = self.read_.get(host, 0) + 1
        for link in page.outlinks:
            yield page.offer(link, self.read_.get(link.url.split("/")[2], 0) / (1.0 + len(link.url) % 7))

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.read_["missed"] = self.read_.get("missed", 0) + 1
        return ()

    def save(self) -> Mapping[str, Any]:
        return {"read": dict(self.read_)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.read_ = dict(state["read"])


class Recorded:
    """A fetcher that knows the generated web."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        return WEB.get(url) or Response(url, 404, "Not Found", (), b"")


def born(folder: Path, name: str = "best-first", parameters: Mapping[str, Any] | None = None, **more: Any) -> Session:
    settings = read(Settings, {**SETTINGS, **more})
    model = model_of(name, folder.with_name(f"{folder.name}.model"))
    return begin(
        TOPIC.topic,
        TOPIC.seeds,
        folder,
        strategy=name,
        parameters=parameters,
        settings=settings,
        fetcher=Recorded(),
        model=model,
    )


def model_of(name: str, folder: Path) -> Path | None:
    """A model for a strategy that can't start without, trained on the generated web; None for all others."""
    made = make_strategy(name)
    if not isinstance(made, Trains) or declaration_of(made).training != "required":
        return None
    made.train(lessons_of(prepare(WEB), TOPIC, WEB.topics), random.Random(0), lambda _: None)
    on = TrainedOn("generated", WEB.name, WEB.digest)
    save_model(folder, TrainedModel(name, values_of(made), TOPIC.topic, on, made.model()))
    return folder


def step_through(session: Session, steps: int, commit_every: int = 5, in_flight: int = 1) -> bool:
    """Run some steps of a crawl by hand, so many requests at a time; True when it has ended.

    Which of them lands first depends on its URL alone. Requests that are in flight after the last step never land.
    """
    now = float(session.crawl.figures.attempts)
    flying: list[Fetch] = []
    for number in range(steps):
        while len(flying) < in_flight and isinstance(step := session.crawl.next(now), Fetch):
            flying.append(step)
        if not flying:
            assert isinstance(step, Done), step
            return True
        now += 1.0
        fetch = min(flying, key=lambda one: hashlib.md5(one.candidate.url.encode()).digest())
        flying.remove(fetch)
        response = WEB.get(fetch.spelling)
        found = Miss(fetch.candidate, "http-404") if response is None else land(fetch.candidate, response)
        session.crawl.landed(found, now, response)
        if number % commit_every == commit_every - 1:
            session.folder.commit(now)
    return False


def trail(folder: Path) -> list[tuple[Any, ...]]:
    with CrawlFolder.look(folder) as found:
        return [(s.n, s.url, s.parent, s.score, s.depth, s.similarity) for s in found.history.trail()]
