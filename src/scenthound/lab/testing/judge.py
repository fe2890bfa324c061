"""The contract of a judge.

    for name, check in judge_contract(MyJudge):
        check()

The pages are about balloons and other things. A judge is free to call any of them relevant or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenthound.judging import HearsLabels, Judge, Revises, UsesClassifier, Verdict
from scenthound.lab.testing.tiny_web import page_of
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Saves
from scenthound.store import blobs

TOPIC = Topic("hot air balloon", description="Pages about balloon flights with a burner and a basket")
SEEDS = [Url("http://a.test/0"), Url("http://a.test/1")]
_ON = "hot air balloon basket burner envelope propane flight pilot festival"
_OFF = ("bank loan interest account money credit", "goal match team league player coach", "recipe oven flour butter")


def _page(url: str, words: str, links: str = "", title: str = "") -> Page:
    anchors = "".join(f'<a href="{target}">{target}</a>' for target in links.split())
    record = page_of(f"<title>{title}</title><body>{' '.join([words] * 4)} {anchors}</body>", url).record
    return Page(Url(url), Candidate(Url(url), 0.5, parent=Url("http://a.test/0"), depth=1), record, 200, 1000)


def judged_pages() -> list[Page]:
    """Forty pages in crawl order: two seeds, pages on and off topic, an empty page, and a page without words."""
    pages = [
        _page(str(seed), f"{_ON} alpha{n}", "http://a.test/5 http://b.test/", "Balloon") for n, seed in enumerate(SEEDS)
    ]
    for n in range(2, 38):
        words, host = (_ON, "a") if n % 4 == 1 else (_OFF[n % 3], "b")
        pages.append(_page(f"http://{host}.test/{n}", f"{words} gamma{n}", f"http://a.test/{n + 1} http://a.test/5"))
    return [*pages, _page("http://c.test/empty", ""), _page("http://c.test/marks", "!? ... 中文")]


def judge_contract(make: Callable[[], Judge]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks for a judge, each as a name and a function that asserts."""

    def started_judge(topic: Topic = TOPIC, seeds: list[Url] = SEEDS) -> Judge:
        judge = make()
        if isinstance(judge, UsesClassifier):
            judge.use_classifier(lambda page: min(1.0, len(page.text) / 1000))
        judge.start(topic, seeds)
        return judge

    def verdicts(judge: Judge) -> list[Verdict]:
        return [judge.judge(page) for page in judged_pages()]

    def probabilities() -> None:
        judge = started_judge()
        assert isinstance(judge, Judge), "a judge has start, judge and doubts"
        for probability, is_relevant in verdicts(judge):
            assert 0.0 <= probability <= 1.0
            assert is_relevant in (True, False)
        assert all(isinstance(doubt, str) and doubt for doubt in judge.doubts())

    def nothing_to_go_by() -> None:
        for topic, seeds in ((Topic("balloon"), []), (Topic("xyzzy"), SEEDS[:1]), (TOPIC, [])):
            judge = started_judge(topic, seeds)
            judge.doubts()
            assert len(verdicts(judge)) == len(judged_pages())

    def is_deterministic() -> None:
        first, second = started_judge(), started_judge()
        assert verdicts(first) == verdicts(second), "verdicts are not random"
        first.start(TOPIC, SEEDS)
        assert verdicts(first) == verdicts(started_judge()), "`start` resets the judge"

    def pages_stay_as_they_are() -> None:
        judge, pages = started_judge(), judged_pages()
        before = [(page.url, page.candidate, page.record, page.status, page.size) for page in pages]
        for page in pages:
            judge.judge(page)
        assert before == [(page.url, page.candidate, page.record, page.status, page.size) for page in pages]

    def after_a_restart() -> None:
        uninterrupted, pages = verdicts(started_judge()), judged_pages()
        for stop in (0, 1, 7, 30):
            judge = started_judge()
            for page in pages[:stop]:
                judge.judge(page)
            resumed = started_judge()
            if isinstance(judge, Saves) and isinstance(resumed, Saves):
                resumed.load(blobs.unpack(blobs.pack(judge.save())))
            assert [resumed.judge(page) for page in pages[stop:]] == uninterrupted[stop:], (
                f"stopped after {stop} pages: `save` and `load` must include all that the judge learns"
            )
            if isinstance(judge, Revises) and isinstance(resumed, Revises):
                for page in pages[stop:]:
                    judge.judge(page)
                assert dict(resumed.revised()) == dict(judge.revised())

    def later_verdicts() -> None:
        judge = started_judge()
        verdicts(judge)
        if isinstance(judge, Revises):
            later, urls = dict(judge.revised()), {page.url for page in judged_pages()}
            assert later.keys() <= urls, "it revises only pages that it has judged"
            assert all(0.0 <= verdict.probability <= 1.0 for verdict in later.values())
            other = started_judge()
            other_verdicts = []
            for page in judged_pages():
                other_verdicts.append(other.judge(page))
                assert isinstance(other, Revises)
                list(other.revised())
            assert other_verdicts == verdicts(started_judge()), "calling `revised` changes nothing"

    def labels() -> None:
        for is_early in (True, False):
            judge = started_judge()
            if not isinstance(judge, HearsLabels):
                return
            on, off = judged_pages()[5], judged_pages()[4]
            for page in () if is_early else judged_pages():
                judge.judge(page)
            judge.take_label(on.url, False)
            judge.take_label(off.url, True)
            judge.take_label(Url("http://never.test/"), True)
            assert not judge.judge(on).is_relevant, "a label is not overruled"
            assert judge.judge(off).is_relevant, "a label is not overruled"

    yield "verdicts are probabilities with a flag", probabilities
    yield "it works with keywords alone, without seeds, and with pages that have no words", nothing_to_go_by
    yield "the same crawl gives the same verdicts", is_deterministic
    yield "it does not change pages", pages_stay_as_they_are
    yield "after a restart it gives the same verdicts", after_a_restart
    yield "it revises only pages that it has seen", later_verdicts
    yield "labels overrule it", labels
