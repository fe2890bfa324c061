"""Tiny webs and contract suites, for our tests and for authors of plug-ins.

`TinyWeb` is a web that fits in your head; `walk` crawls it without a network. The contracts check what the loop relies
on beyond the types in `ports`: `strategy_contract`, `judge_contract`, `seed_source_contract`, `history_contract` and
`repository_contract` yield checks as (name, function); `frontier.FrontierContract` is a Hypothesis state machine beside
the simplest model of a frontier, and `CheckedFrontier` wraps any frontier and checks its rules during a crawl. An
implementation that passes its contract works with every driver, resume and report.
"""

from scenthound.testing.checked_frontier import CheckedFrontier
from scenthound.testing.history import history_contract
from scenthound.testing.judge import judge_contract
from scenthound.testing.repository import repository_contract
from scenthound.testing.seed_source import seed_source_contract
from scenthound.testing.strategy import CONTRACT_TOPIC, CONTRACT_WEB, contract_lessons, ready, strategy_contract
from scenthound.testing.tiny_web import TinyLessons, TinyWeb, Walk, named, page_of, walk

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
