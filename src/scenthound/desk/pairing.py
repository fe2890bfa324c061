"""Pair the companion's browser extension with the desk: a short code, entered once, is exchanged for a token.

The desk stores the origin of each paired extension (`chrome-extension://…`, `moz-extension://…`) and a digest of its
token in `pairings.json`. A code is valid for `CODE_SECONDS`, for one use, and for at most `MOST_TRIES` attempts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from pathlib import Path

from scenthound.errors import BadUsage, FileDamaged
from scenthound.files import check_own_file, make_folder, write_text

FILE = "pairings.json"
CODE_SECONDS = 600.0
MOST_TRIES = 5
MOST_PAIRINGS = 20
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # no characters that look alike
_EXTENSION = re.compile(r"(chrome|moz)-extension://[a-z0-9-]{1,64}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NEW_CODE_HINT = "get a new one at the desk, on the Companion page, or restart `scenthound companion`"


def is_extension(origin: str) -> bool:
    """Whether an origin is that of a browser extension; a web page can't have such an origin."""
    return _EXTENSION.match(origin) is not None


class Pairings:
    """The extensions that may use the companion."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        self._path = folder / FILE
        self.port, self._digests = _load(self._path)
        self._code, self._until, self._tries = "", 0.0, 0

    @property
    def origins(self) -> list[str]:
        """The origins of paired extensions, oldest first."""
        return list(self._digests)

    def new_code(self, now: float) -> str:
        """Return a new code such as `abcd-efgh`; earlier codes become invalid."""
        letters = "".join(secrets.choice(LETTERS) for _ in range(8))
        self._code, self._until, self._tries = letters, now + CODE_SECONDS, 0
        return f"{letters[:4]}-{letters[4:]}"

    def pair(self, origin: str, code: str, now: float) -> str:
        """Return a token for an extension that knows the code. Raises `BadUsage`."""
        if not self._code or now > self._until or self._tries >= MOST_TRIES:
            raise BadUsage("there is no valid code", _NEW_CODE_HINT)
        self._tries += 1
        entered = re.sub(r"[\s-]", "", code.lower())
        if not hmac.compare_digest(entered.encode("utf-8", "replace"), self._code.encode()):
            raise BadUsage("wrong code", f"enter it as shown, or {_NEW_CODE_HINT}")
        self._code, token = "", secrets.token_urlsafe(24)
        self._digests.pop(origin, None)
        self._digests[origin] = _digest(token)
        for oldest in list(self._digests)[:-MOST_PAIRINGS]:
            del self._digests[oldest]
        self._save()
        return token

    def unpair(self, origin: str) -> None:
        """Revoke the token of an extension. Raises `BadUsage` if it is not paired."""
        if origin not in self._digests:
            raise BadUsage(f"no such extension: {origin[:80]}", "GET /api/companion lists them")
        del self._digests[origin]
        self._save()

    def knows(self, token: str, origin: str | None) -> bool:
        """Whether this is the token of the extension with this origin, or of any extension if `origin` is None."""
        digests = self._digests.values() if origin is None else [self._digests.get(origin, "")]
        return any(hmac.compare_digest(_digest(token), digest) for digest in digests)

    def listen_on(self, port: int) -> None:
        """Save the port, so that paired extensions can find the desk again."""
        if port != self.port:
            self.port = port
            self._save()

    def _save(self) -> None:
        document = {"version": 1, "port": self.port, "extensions": self._digests}
        write_text(self._path, json.dumps(document, indent=1) + "\n", mode=0o600)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _load(path: Path) -> tuple[int, dict[str, str]]:
    check_own_file(path)
    if not path.exists():
        return 0, {}
    try:
        document = json.loads(path.read_bytes())
        digests = {str(origin): str(digest) for origin, digest in document["extensions"].items()}
        port = int(document["port"])
        if document["version"] != 1 or not 0 <= port <= 65535 or not all(map(is_extension, digests)):
            raise ValueError
        if not all(_DIGEST.fullmatch(digest) for digest in digests.values()):
            raise ValueError
        return port, digests
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise FileDamaged(path, "is not a list of pairings", "move it away and pair again") from None
