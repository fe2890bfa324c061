"""A strategy that learns before it crawls, from labels too, kept tiny for tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Declaration, Lessons
from scenthound.strategies import strategy
from scenthound.text.tokens import Analyser

ANALYSER = Analyser()


@strategy("test-pupil")
@dataclass
class Pupil:
    """A link is worth the words of its page: each word the share of examples that had it, less that of others."""

    weight: float = field(default=1.0, metadata={"doc": "of the examples"})

    @property
    def declaration(self) -> Declaration:
        return Declaration(training="required", lessons=("examples", "others"))

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        self.words_: dict[str, float] = {}
        for pages, share in ((lessons.examples, self.weight), (lessons.others, -1.0)):
            for page in pages:
                for word in page.record.counts(ANALYSER):
                    self.words_[word] = self.words_.get(word, 0.0) + share / len(pages)
        progress(f"{len(self.words_)} words")

    def model(self) -> Mapping[str, Any]:
        words = sorted(self.words_)
        return {"words": words, "values": np.array([self.words_[word] for word in words])}

    def use(self, model: Mapping[str, Any]) -> None:
        self.words_ = dict(zip(model["words"], map(float, model["values"]), strict=True))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.read_: dict[str, list[str]] = {}
        self.waiting_: dict[str, str] = {}
        return [Candidate(url, float("inf")) for url in seeds]

    def _worth(self, url: str) -> float:
        return sum(self.words_.get(word, 0.0) for word in self.read_[url]) / (1 + len(self.read_[url]))

    def read(self, page: Page) -> Iterable[Candidate]:
        self.read_[page.url] = list(page.record.counts(ANALYSER))
        for link in page.outlinks:
            self.waiting_[link.url] = page.url
        return [page.offer(link, self._worth(page.url)) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        for word in self.read_.get(url, ()):
            self.words_[word] = self.words_.get(word, 0.0) + (1.0 if on_topic else -1.0)
        return [Candidate(Url(url), self._worth(parent), rescored=True) for url, parent in self.waiting_.items()]

    def save(self) -> Mapping[str, Any]:
        return {"words": self.words_, "read": self.read_, "waiting": self.waiting_}

    def load(self, state: Mapping[str, Any]) -> None:
        self.words_, self.read_, self.waiting_ = dict(state["words"]), dict(state["read"]), dict(state["waiting"])
