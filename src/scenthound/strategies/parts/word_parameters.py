"""The two parameters of every strategy that reads words: its stop list, and whether words are stemmed."""

from __future__ import annotations

from typing import Any

from scenthound.parameters import parameter
from scenthound.text.stopwords import STOP_LISTS


def stop_words_parameter() -> Any:
    return parameter("english", "stop list: english, dialog, small or none", among=STOP_LISTS)


def stem_parameter(default: bool = True) -> Any:
    return parameter(default, "take Porter stems of words")
