"""The companion (Letizia): looks ahead while somebody browses, and suggests what is worth following.

`extension/` is a WebExtension that sends the page in front to the desk of the same machine. `profile` learns words from
what is read, `look_ahead` crawls a few pages ahead, breadth-first and politely, `suggestions` ranks what was found,
`companion` puts them together. The desk offers it to the extension and shows all that it knows.
"""

from importlib import resources
from pathlib import Path

from scenthound.apps.companion.companion import Answer, Companion, Visit
from scenthound.apps.companion.look_ahead import LooksAhead, Scout, Sees, seen, settings_for
from scenthound.apps.companion.reader_profile import Profile, Word, spellings, vector
from scenthound.apps.companion.reading_history import LESSONS, Reader
from scenthound.apps.companion.suggestions import SeenLink, SeenPage, Suggestion, suggest

__all__ = [
    "LESSONS",
    "Answer",
    "Companion",
    "LooksAhead",
    "Profile",
    "Reader",
    "Scout",
    "SeenLink",
    "SeenPage",
    "Sees",
    "Suggestion",
    "Visit",
    "Word",
    "extension_folder",
    "seen",
    "settings_for",
    "spellings",
    "suggest",
    "vector",
]


def extension_folder() -> Path:
    """The folder that a browser loads the extension from."""
    return Path(str(resources.files("scenthound.apps.companion") / "extension"))
