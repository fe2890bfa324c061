"""Parameters of strategies that read words: the stop list, stemming, and how classifiers score a page."""

from __future__ import annotations

from typing import Any

from scenthound.parameters import parameter
from scenthound.text.stopwords import STOP_LISTS

LENGTH = 10
"""Length, in words, to which per-word scores shrink a longer page. Small enough that no score is 0 or 1 to the last
digit."""
SCORES = "rank links by this: per-word does not saturate on long pages, probability is as published, logit its log-odds"


def stop_words_parameter() -> Any:
    return parameter("english", "stop list: english, dialog, small or none", among=STOP_LISTS)


def stem_parameter(default: bool = True) -> Any:
    return parameter(default, "take Porter stems of words")
