"""Notices when nobody answers any more: then it is our own line that is down, and nobody's fault."""

from __future__ import annotations

from typing import Any

from scenthound import url as urls
from scenthound.crawl.steps import RobotsLanded
from scenthound.model import Miss

HOSTS = 16  # so many hosts in a row without any answer
PAUSE = 15.0  # the first pause then, in seconds; doubled until somebody answers
LONGEST = 300.0


class Silence:
    """Hears every result; says whether the line seems to be down, and how long to wait before trying again."""

    def __init__(self) -> None:
        self._mute: set[str] = set()
        self._pause = PAUSE

    def hears(self, result: Any) -> bool:
        """True while `HOSTS` different hosts in a row gave no answer at all."""
        if not _is_mute(result):
            self._mute.clear()
            self._pause = PAUSE
            return False
        self._mute.add(urls.host(result.candidate.url))
        return len(self._mute) >= HOSTS

    def pause(self) -> float:
        """How long to wait now; the next pause will be longer."""
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST)
        return pause


def _is_mute(result: Any) -> bool:
    if isinstance(result, Miss):
        return result.status == 0 and result.retry_after is not None
    if isinstance(result, RobotsLanded):
        return result.rules is None and not result.hopeless and not result.answered
    return False
