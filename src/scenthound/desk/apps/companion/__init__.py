"""The browsing companion: fetches pages ahead while a person browses, and suggests links to follow, like Letizia.

The browser extension in `extension/` sends the active page to the desk on the same machine; the desk passes it to
`Companion`, returns suggestions to the extension, and shows the reader everything the companion knows.

* `reader_profile` learns weighted words from the pages read and saves them.
* `reading_history` keeps recent pages, in memory only.
* `look_ahead` crawls a few pages ahead, breadth-first and politely; `short_crawl` runs such crawls in memory.
* `suggestions` ranks links by the profile.
* `companion` combines these for one reader.
"""

from importlib import resources
from pathlib import Path

from scenthound.desk.apps.companion.companion import Companion, SuggestionList, Visit
from scenthound.desk.apps.companion.look_ahead import LooksAhead, PageReceiver, Scout, settings_for, summarise
from scenthound.desk.apps.companion.reader_profile import Profile, Word, spellings, vector
from scenthound.desk.apps.companion.reading_history import LESSONS, LessonKind, Reader
from scenthound.desk.apps.companion.suggestions import CompanionPage, PageLink, Suggestion, suggest

__all__ = [
    "LESSONS",
    "Companion",
    "CompanionPage",
    "LessonKind",
    "LooksAhead",
    "PageLink",
    "PageReceiver",
    "Profile",
    "Reader",
    "Scout",
    "Suggestion",
    "SuggestionList",
    "Visit",
    "Word",
    "extension_folder",
    "settings_for",
    "spellings",
    "suggest",
    "summarise",
    "vector",
]


def extension_folder() -> Path:
    """The folder from which a browser loads the extension."""
    return Path(str(resources.files("scenthound.desk.apps.companion") / "extension"))
