"""Which of several anchors to the same URL counts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.lab.testing import page_of
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.page.views.anchors import best_anchors, first_anchors, outlink_anchors

LINKS = st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.sampled_from([0.0, 0.5, 1.0])), max_size=12)


def plain_best(page: Page, worth: list[float]) -> list[int]:
    """The definition: a better anchor replaces the first."""
    best: dict[Url, int] = {}
    for position, link in enumerate(page.links):
        if worth[position] > worth[best.setdefault(link.url, position)]:
            best[link.url] = position
    best.pop(page.url, None)
    return list(best.values())


@settings(deadline=None)
@given(LINKS)
def test_the_anchor_with_the_highest_score_counts_and_the_first_of_equals(links: list[tuple[str, float]]) -> None:
    page = page_of("".join(f"<a href='/{name}'>x</a>" for name, _ in links))
    anchors, worth = outlink_anchors(page.record), [value for _, value in links]
    assert best_anchors(anchors, worth).tolist() == plain_best(page, worth)
    assert first_anchors(anchors).tolist() == plain_best(page, [0.0] * len(links))
    assert [page.links[position].url for position in first_anchors(anchors)] == [link.url for link in page.outlinks]
