"""Which URLs a crawl may visit."""

from __future__ import annotations

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import named
from scenthound.loop.figures import Figures
from scenthound.loop.scope import Scope
from scenthound.model import Candidate, Step


def refused(scope: Scope, name: str, depth: int = 0) -> str | None:
    return scope.refuses(Candidate(named(name), 0.0, depth=depth))


def test_hosts_and_domains_to_stay_in_and_keep_out() -> None:
    scope = Scope(hosts=frozenset({"a.test"}), domains=frozenset({"b.test"}), not_hosts=frozenset({"bad.b.test"}))
    assert refused(scope, "a.test/x") is None
    assert refused(scope, "www.a.test/x") == "out-of-scope"
    assert refused(scope, "deep.er.b.test/") is None
    assert refused(scope, "bad.b.test/") == "out-of-scope"
    assert refused(scope, "notb.test/") == "out-of-scope"
    assert refused(Scope(not_domains=frozenset({"ads.test"})), "x.ads.test/") == "out-of-scope"


def test_path_patterns_match_in_linear_time() -> None:
    scope = Scope(paths=("^/news/", "(a+)+$"), not_paths=(r"\.pdf$",))
    assert refused(scope, "a.test/news/1") is None
    assert refused(scope, "a.test/other") == "out-of-scope"
    assert refused(scope, "a.test/news/x.pdf") == "out-of-scope"
    assert refused(scope, "a.test/" + "a" * 1000 + "!") == "out-of-scope"
    with pytest.raises(BadConfig, match="not a pattern"):
        Scope(paths=("(",))


def test_depth() -> None:
    assert refused(Scope(depth=2), "a.test/", depth=3) == "too-deep"
    assert refused(Scope(depth=2), "a.test/", depth=2) is None


def step(n: int, similarity: float) -> Step:
    return Step(
        n,
        named(f"a.test/{n}"),
        None,
        "",
        0.0,
        {},
        similarity,
        0,
        200,
        10,
        0.0,
        f"page {n}",
        relevance=similarity,
        relevant=similarity >= 0.5,
    )


def test_the_figures_know_harvest_and_best_pages() -> None:
    figures = Figures()
    for n in range(1, 201):
        figures.page(step(n, 0.9 if n <= 50 else 0.1))
    assert (figures.pages, figures.relevant, figures.harvest, figures.harvest_recent) == (200, 50, 0.25, 0.0)
    assert sorted(-number for _, number, _, _ in figures.best) == list(range(1, 11)), "first come of equals"


def test_the_crawl_is_dry_after_page_13_of_the_worked_example() -> None:
    figures = Figures(dry_window=5, dry_floor=0.3, dry_patience=3)
    for n, flag in enumerate([1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0], 1):
        figures.page(step(n, float(flag)))
        if figures.dry:
            break
    assert n == 13


def test_figures_taken_up_again_stop_at_the_same_page() -> None:
    flags = [1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0]
    first, second = (Figures(dry_window=5, dry_floor=0.3, dry_patience=3) for _ in range(2))
    for n, flag in enumerate(flags[:9], 1):
        first.page(step(n, float(flag)))
    second.load(first.save())
    for n, flag in enumerate(flags[9:], 10):
        second.page(step(n, float(flag)))
    assert second.dry
