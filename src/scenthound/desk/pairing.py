"""Pair the companion's browser extension with the desk, and let them recognise each other without sending a secret.

A person copies a code of 25 letters from the desk to the extension. Both derive the same key from it and from the
origin of the extension (`chrome-extension://…`, `moz-extension://…`); neither code nor key is ever sent. Whatever
listens on the desk's port while the desk is not running therefore receives nothing. Before each request:

    extension   POST /api/companion/challenges {"nonce": E}
    desk        {"nonce": D, "proof": HMAC(key, "desk", port, E, D)}; the extension goes on only if this is right
    extension   METHOD TARGET with Authorization: Scenthound nonce=D, mac=M,
                where M = HMAC(key, "request", port, D, METHOD, TARGET, hash)

HMAC is HMAC-SHA-256 over the parts joined by line ends, in hexadecimal digits; `hash` is the SHA-256 of the body. The
port is a part, so a proof can't be relayed from a desk on another port; a nonce is used once, so no request can be
repeated. The first request with the key of a code is the pairing itself; it makes the key permanent and the code
invalid. The keys are in `pairings.json`, which only its owner may read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from scenthound.errors import BadUsage, FileDamaged
from scenthound.files import check_own_file, make_folder, write_text
from scenthound.typed_data import from_json

FILE = "pairings.json"
VERSION = 2
CODE_SECONDS = 600.0
CHALLENGE_SECONDS = 30.0
MOST_CHALLENGES = 1_000
MOST_PAIRINGS = 20
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # no characters that look alike
CODE_LENGTH = 25
"""124 bits: a listener who gets an HMAC made with the key of a code can't find the code by trying."""
SCHEME = "Scenthound"
_EXTENSION = re.compile(r"(chrome|moz)-extension://[a-z0-9-]{1,64}\Z")
_KEY = re.compile(r"[0-9a-f]{64}\Z")
_AUTHORIZATION = re.compile(rf"{SCHEME} nonce=([0-9a-f]{{64}}), mac=([0-9a-f]{{64}})\Z")


def is_extension(origin: str) -> bool:
    """Whether an origin is that of a browser extension; a web page can't have such an origin."""
    return _EXTENSION.match(origin) is not None


def key_of(code: str, origin: str) -> str:
    """The key that an extension and the desk derive from a code."""
    return _mac(re.sub(r"[\s-]", "", code.lower()), "key", origin)


class SignedRequest(NamedTuple):
    """The parts of a request that its HMAC covers."""

    method: str
    target: str
    """Path and query, as sent."""
    body: bytes


@dataclass(frozen=True, slots=True)
class PairingsFile:
    """The content of `pairings.json`: the key of each extension, by its origin."""

    version: Annotated[int, Meta(ge=1, le=VERSION)]
    port: Annotated[int, Meta(ge=0, le=65535)]
    extensions: dict[str, Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]]


class _Challenge(NamedTuple):
    origin: str
    key: str
    is_pairing: bool
    until: float


class Pairings:
    """The extensions that may use the companion."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder)
        self._path = folder / FILE
        self.port, self._keys = _load(self._path)
        self._code, self._until = "", 0.0
        self._challenges: OrderedDict[str, _Challenge] = OrderedDict()

    @property
    def origins(self) -> list[str]:
        """The origins of paired extensions, oldest first."""
        return list(self._keys)

    def new_code(self, now: float) -> str:
        """Return a new code such as `abcde-efghk-…`; earlier codes become invalid."""
        letters = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
        self._code, self._until = letters, now + CODE_SECONDS
        return "-".join(letters[start : start + 5] for start in range(0, CODE_LENGTH, 5))

    def challenge(self, origin: str, nonce: str, is_pairing: bool, port: int, now: float) -> dict[str, str] | None:
        """Prove to an extension that this is its desk; None if it is not paired (or, if it pairs, there is no code).

        The answer has a nonce for one request of this extension.
        """
        if not _KEY.match(nonce):
            raise BadUsage("this is not a nonce", "send 64 hexadecimal digits, chosen at random")
        key = self._code_key(origin, now) if is_pairing else self._keys.get(origin, "")
        if not key:
            return None
        own = secrets.token_hex(32)
        self._challenges[own] = _Challenge(origin, key, is_pairing, now + CHALLENGE_SECONDS)
        while len(self._challenges) > MOST_CHALLENGES:
            self._challenges.popitem(last=False)
        return {"nonce": own, "proof": _mac(key, "desk", str(port), nonce, own)}

    def accepts(
        self,
        authorization: str,
        origin: str | None,
        signed: SignedRequest,
        port: int,
        now: float,
        is_pairing: bool = False,
    ) -> bool:
        """Whether a request comes from a paired extension (`is_pairing`: from one that knows the code).

        `origin` is None if the browser did not name it. The nonce is used up.
        """
        match = _AUTHORIZATION.match(authorization)
        challenge = self._challenges.pop(match[1], None) if match else None
        if match is None or challenge is None or now > challenge.until or challenge.is_pairing != is_pairing:
            return False
        valid_key = self._code_key(challenge.origin, now) if is_pairing else self._keys.get(challenge.origin)
        if origin not in (None, challenge.origin) or challenge.key != valid_key:
            return False
        digest = hashlib.sha256(signed.body).hexdigest()
        expected = _mac(challenge.key, "request", str(port), match[1], signed.method, signed.target, digest)
        return hmac.compare_digest(expected, match[2])

    def pair(self, origin: str, now: float) -> None:
        """Make the key of the code permanent for an extension that has proved to know it. Raises `BadUsage`."""
        if not (key := self._code_key(origin, now)):
            raise BadUsage("there is no valid code", "get one at the desk, on the Companion page")
        self._code = ""
        self._keys.pop(origin, None)
        self._keys[origin] = key
        for oldest in list(self._keys)[:-MOST_PAIRINGS]:
            del self._keys[oldest]
        self._save()

    def unpair(self, origin: str) -> None:
        """Forget the key of an extension. Raises `BadUsage` if it is not paired."""
        if origin not in self._keys:
            raise BadUsage(f"no such extension: {origin[:80]}", "GET /api/companion lists them")
        del self._keys[origin]
        self._save()

    def listen_on(self, port: int) -> None:
        """Save the port, so that paired extensions can find the desk again."""
        if port != self.port:
            self.port = port
            self._save()

    def _code_key(self, origin: str, now: float) -> str:
        return key_of(self._code, origin) if self._code and now <= self._until else ""

    def _save(self) -> None:
        document = asdict(PairingsFile(VERSION, self.port, self._keys))
        write_text(self._path, json.dumps(document, indent=1) + "\n", mode=0o600)


def _mac(key: str, *parts: str) -> str:
    return hmac.new(key.encode(), "\n".join(parts).encode(), hashlib.sha256).hexdigest()


def _load(path: Path) -> tuple[int, dict[str, str]]:
    check_own_file(path)
    if not path.exists():
        return 0, {}
    try:
        saved = from_json(path.read_bytes(), PairingsFile)
    except ValueError:
        saved = None
    if saved is None or not all(map(is_extension, saved.extensions)):
        raise FileDamaged(path, "is not a list of pairings", "move it away and pair again")
    # version 1 had digests of tokens: those have to pair again
    return saved.port, saved.extensions if saved.version == VERSION else {}
