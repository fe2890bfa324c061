"""A custom judge: a page is relevant if it is long enough and names a keyword in its title.

A judge is a dataclass with three methods. The decorator gives it a name, under which it is found like ours; in a
package of your own an entry point of the group `scenthound.judges` does the same. The pages here come from a tiny web.

    python examples/custom_judge.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.judges import JUDGES, judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.testing import page_of


@judge("titled")
@dataclass
class Titled:
    """Pages with a keyword in the title and at least `words` words."""

    words: int = 5

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.keywords_ = frozenset(topic.keywords.lower().split())

    def judge(self, page: Page) -> Verdict:
        named = not self.keywords_.isdisjoint(page.title.lower().split())
        probability = 0.9 if named and len(page.text.split()) >= self.words else 0.05
        return Verdict(probability, probability >= 0.5)

    def doubts(self) -> list[str]:
        return []


def main() -> list[Verdict]:
    rater = JUDGES.get("titled")()
    rater.start(Topic("bees honey"), [])
    pages = [
        page_of("<title>Bees in winter</title><p>A cluster of bees keeps itself warm on its honey.</p>"),
        page_of("<title>Bank news</title><p>A page with enough words about loans and interest.</p>"),
    ]
    verdicts = [rater.judge(page) for page in pages]
    print("relevant:", [verdict.is_relevant for verdict in verdicts])
    return verdicts


if __name__ == "__main__":
    main()
