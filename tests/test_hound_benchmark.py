"""The benchmark of hound: its variants, and how its figures are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.ports import Strategy
from scenthound.strategies import STRATEGIES
from scenthound.strategies.hound.features import FEATURES, SHIPPED
from scenthound.strategies.hound.hound import Hound

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(STRATEGIES, "_plugins", dict(STRATEGIES._plugins))  # the variants register themselves


def test_a_variant_differs_from_hound_by_what_is_switched_off_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hound_variants import HoundVariant

    monkeypatch.setenv("SCENTHOUND_CACHE", str(tmp_path))
    web = GeneratedWeb(300, seed=3)
    bed, topic = prepare(web), web.topics[0]

    def trail(strategy: Strategy) -> list[str]:
        result = run_strategy(bed, topic.topic, strategy, topic.seeds, ReplayLimits(60))
        assert not result.error
        return [step.url for step in result.steps]

    shipped = " ".join(map(str, SHIPPED.tolist()))
    assert trail(HoundVariant()) == trail(HoundVariant(weights=shipped)) == trail(Hound())
    for part in ("words of the link", "anchor+beside", "keywords"):
        assert trail(HoundVariant(without=part)) != trail(Hound()), part
    with pytest.raises(ValueError, match="no part called luck"):
        HoundVariant(without="luck").start(topic.topic, topic.seeds)


def test_every_feature_belongs_to_one_cue() -> None:
    from hound_variants import CUES

    assert sorted(feature for features in CUES.values() for feature in features) == sorted(FEATURES)


def test_weights_are_fitted_to_what_tells_targets_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hound_variants import fitted

    monkeypatch.setenv("SCENTHOUND_CACHE", str(tmp_path))
    web = GeneratedWeb(300, seed=3)
    weights = dict(zip(FEATURES, fitted(prepare(web), web.topics[:1], 60), strict=True))
    assert sum(weights.values()) > 0, "most features speak for targets"
    assert sum(value**2 for value in weights.values()) == pytest.approx(float((SHIPPED**2).sum()))


def test_a_table_is_put_between_the_comments_with_its_name(tmp_path: Path) -> None:
    from hound_lab import insert_table

    document = tmp_path / "results.md"
    document.write_text("a\n<!-- recall -->\nold\n<!-- end of recall -->\nb\n")
    insert_table(document, "recall", "new\n")
    assert document.read_text() == "a\n<!-- recall -->\nnew\n<!-- end of recall -->\nb\n"
    with pytest.raises(SystemExit, match="has no place for `seeds`"):
        insert_table(document, "seeds", "new")


def test_a_small_negative_number_is_written_without_its_sign() -> None:
    from hound_lab import number

    assert [number(value, sign=True) for value in (0.5, -0.0123, -0.0001, None)] == ["+.500", "−.012", "+.000", "–"]


def test_an_oracle_has_no_cost() -> None:
    from hound_lab import Curves

    curves = Curves((50, 100), {}, {"hound": {"a": 0.1, "b": 0.3}}, {}, {}, {}, {})
    assert (curves.cost("hound"), curves.cost("path-oracle")) == (2.0, 0.0)
