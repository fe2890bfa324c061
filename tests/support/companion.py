"""The companion for tests: its command in a process of its own, and Chromium with the extension loaded."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenthound.desk.apps.companion import extension_folder
from support.desk import FLAGS, chromium
from support.running_crawl import environment

API = "/api/companion"
PAGES = ["http://*/*", "https://*/*"]


def mac(key: str, *parts: str) -> str:
    return hmac.new(key.encode(), "\n".join(parts).encode(), hashlib.sha256).hexdigest()


class Extension:
    """What the extension does to be recognised, written once more: the protocol is a contract of both sides."""

    def __init__(self, http: Any, origin: str, code: str, port: int = 8770) -> None:
        self.http, self.origin, self.port = http, origin, port
        self.key = mac(code.replace("-", ""), "key", origin)

    def challenge(self, is_pairing: bool = False) -> Any:
        """The desk's answer to a challenge, and whether it has proved that it knows the key."""
        nonce = secrets.token_hex(32)
        sent = {"nonce": nonce, "pairing": is_pairing}
        answer = self.http.post(f"{API}/challenges", json=sent, headers={"Origin": self.origin})
        given = answer.json()
        is_proved = given.get("proof") == mac(self.key, "desk", str(self.port), nonce, given.get("nonce", ""))
        return answer, is_proved

    def signed(self, method: str, target: str, body: bytes = b"", is_pairing: bool = False) -> dict[str, str]:
        """The headers of a signed request."""
        given = self.challenge(is_pairing)[0].json().get("nonce", "0" * 64)
        proof = mac(self.key, "request", str(self.port), given, method, target, hashlib.sha256(body).hexdigest())
        return {"Authorization": f"Scenthound nonce={given}, mac={proof}"}

    def pair(self) -> Any:
        return self.post("/pairings", {}, is_pairing=True)

    def post(self, path: str, sent: Any, is_pairing: bool = False, **headers: str) -> Any:
        body = json.dumps(sent).encode()
        signed = self.signed("POST", f"{API}{path}", body, is_pairing)
        return self.http.post(API + path, content=body, headers={"Origin": self.origin, **signed, **headers})

    def get(self, path: str) -> Any:
        """As Chromium asks: with no origin."""
        return self.http.get(API + path, headers=self.signed("GET", f"{API}{path}"))


@contextmanager
def companion_process(folder: Path, *words: str) -> Iterator[dict[str, Any]]:
    """`scenthound companion`; gives what it prints with `--json`."""
    command = [sys.executable, "-m", "scenthound", "companion", str(folder), "--no-browser", "--json"]
    command += ["--home", str(folder / "collections"), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment())
    try:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1].rstrip() != "}":
            lines.append(process.stdout.readline())
            assert lines[-1], "the companion ended"
        yield json.loads("".join(lines))
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def extension_id(folder: Path) -> str:
    """The id that Chromium gives an extension that is loaded from a folder: a digest of its path."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest)


@contextmanager
def browser_with_extension(profile: Path, proxy: str, may_read: bool = True) -> Iterator[Any]:
    """Chromium with the extension from its folder. `may_read`: as if the person had allowed it to read pages."""
    path, folder = chromium(), extension_folder().resolve()
    from playwright.sync_api import sync_playwright

    if may_read:
        granted = {"api": ["bookmarks"], "explicit_host": PAGES, "manifest_permissions": [], "scriptable_host": []}
        settings = {
            extension_id(folder): dict.fromkeys(["granted_permissions", "runtime_granted_permissions"], granted)
        }
        (profile / "Default").mkdir(parents=True)
        (profile / "Default" / "Preferences").write_text(json.dumps({"extensions": {"settings": settings}}))
    flags = [flag for flag in FLAGS if flag != "--headless"]
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=path,
            headless=False,  # the old headless mode has no extensions
            args=[*flags, "--headless=new", f"--proxy-server={proxy}", f"--load-extension={folder}"],
            ignore_default_args=["--disable-extensions"],
            viewport={"width": 1000, "height": 800},
        )
        try:
            context.set_default_timeout(20_000)
            yield context
        finally:
            context.close()
