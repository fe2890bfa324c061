"""Parameters of strategies that read words: the stop list, stemming, and how classifiers score a page."""

from __future__ import annotations

from typing import Any

from scenthound.parameters import parameter
from scenthound.text.stopwords import STOP_LISTS

LENGTH = 10
"""Length, in words, to which per-word scores shrink a longer page. Small enough that no score is rounded to 0 or 1."""
SCORES = "score of links: per-word (does not saturate on long pages), probability (as published), logit (its log-odds)"


def stop_words_parameter() -> Any:
    return parameter("english", "stop list: english, dialog, small or none", among=STOP_LISTS)


def stem_parameter(default: bool = True) -> Any:
    return parameter(default, "reduce words to their Porter stems")
