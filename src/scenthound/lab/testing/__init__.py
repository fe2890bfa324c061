"""Tiny webs and contract suites, for our tests and for authors of plug-ins.

`tiny_web` has `TinyWeb`, a web that fits in your head, and `walk`, which crawls it without a network. The contracts
check the rules that the loop relies on and that the types in `ports` can't express. `strategy`, `judge`, `seed_source`
and `stores` (histories, repositories) have functions `..._contract` that yield checks as (name, function).
`frontier.FrontierContract` is a Hypothesis state machine that compares a frontier with the simplest possible model;
`checked_frontier.CheckedFrontier` wraps any frontier and checks its rules during a crawl. An implementation that passes
its contract works with every driver, resume and report.
"""

from scenthound.lab.testing.checked_frontier import CheckedFrontier
from scenthound.lab.testing.judge import judge_contract
from scenthound.lab.testing.seed_source import seed_source_contract
from scenthound.lab.testing.stores import history_contract, repository_contract
from scenthound.lab.testing.strategy import CONTRACT_TOPIC, CONTRACT_WEB, contract_lessons, ready, strategy_contract
from scenthound.lab.testing.tiny_web import TinyLessons, TinyWeb, Walk, named, page_of, walk

__all__ = [
    "CONTRACT_TOPIC",
    "CONTRACT_WEB",
    "CheckedFrontier",
    "TinyLessons",
    "TinyWeb",
    "Walk",
    "contract_lessons",
    "history_contract",
    "judge_contract",
    "named",
    "page_of",
    "ready",
    "repository_contract",
    "seed_source_contract",
    "strategy_contract",
    "walk",
]
