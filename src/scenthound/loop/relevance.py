"""How relevant a recorded page is, for exports, reports and scripts: asked here and nowhere else."""

from __future__ import annotations

from typing import NamedTuple

from scenthound.loop.settings import Settings
from scenthound.model import Step


class Relevance(NamedTuple):
    """A judgement of one page."""

    value: float
    """Between 0 and 1; higher is better."""
    is_relevant: bool


def relevance_of(step: Step, settings: Settings) -> Relevance:
    """The relevance of a page of the history."""
    return Relevance(step.similarity, step.similarity >= settings.relevant)
