"""Firefox for tests, driven by Marionette: JSON over a socket, as in its documentation. Needs no further package."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support import system_tools

GRANT = """
const [id, permissions, origins, done] = arguments;
const { ExtensionPermissions } = ChromeUtils.importESModule("resource://gre/modules/ExtensionPermissions.sys.mjs");
const { extension } = WebExtensionPolicy.getByID(id);
ExtensionPermissions.add(id, { permissions, origins, data_collection: [] }, extension).then(() => done(null));
"""


class Firefox:
    """A running Firefox."""

    def __init__(self, port: int) -> None:
        self._socket = _connected(port)
        self._stream = self._socket.makefile("rwb")
        self._read()
        self._number = 0
        self.call("WebDriver:NewSession", capabilities={})

    def call(self, command: str, **parameters: Any) -> Any:
        self._number += 1
        message = json.dumps([0, self._number, command, parameters]).encode()
        self._stream.write(str(len(message)).encode() + b":" + message)
        self._stream.flush()
        _, _, error, result = self._read()
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _read(self) -> Any:
        digits = b""
        while (digit := self._stream.read(1)) != b":":
            assert digit, "Firefox has closed the connection"
            digits += digit
        return json.loads(self._stream.read(int(digits)))

    def install(self, folder: Path) -> str:
        """Install an extension for this session, and return where its pages are."""
        extension = self.call("Addon:Install", path=str(folder), temporary=True)
        host = self.inside(f"return WebExtensionPolicy.getByID('{extension}').mozExtensionHostname")
        return f"moz-extension://{host}"

    def grant(self, extension: str, permissions: list[str], origins: list[str]) -> None:
        """Allow what an extension may ask for, as a person would."""
        self.call("Marionette:SetContext", value="chrome")
        self.call("WebDriver:ExecuteAsyncScript", script=GRANT, args=[extension, permissions, origins])
        self.call("Marionette:SetContext", value="content")

    def inside(self, script: str) -> Any:
        """Run a script in the browser itself."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteScript", script=script, args=[])
        finally:
            self.call("Marionette:SetContext", value="content")

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.call("WebDriver:ExecuteScript", script=script, args=list(arguments))

    def click(self, selector: str) -> None:
        """Click as a person does: a script could not ask for a permission."""
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)
        self.call("WebDriver:ElementClick", id=next(iter(found.values())))

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def goto(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def new_tab(self) -> str:
        """Open a tab and switch to it; returns its handle."""
        handle = str(self.call("WebDriver:NewWindow", type="tab", focus=True)["handle"])
        self.switch(handle)
        return handle

    def switch(self, handle: str) -> None:
        self.call("WebDriver:SwitchToWindow", handle=handle, focus=True)


def _connected(port: int) -> socket.socket:
    until = time.monotonic() + 90
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            assert time.monotonic() < until, "Firefox does not answer"
            time.sleep(0.2)


@contextmanager
def firefox(profile: Path, proxy: str) -> Iterator[Firefox]:
    """A Firefox without a window that asks the proxy for everything but loopback; skipped if there is none."""
    path = system_tools.firefox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host, _, proxy_port = proxy.rpartition("://")[2].rpartition(":")
    wanted = {
        "marionette.port": port,
        "network.proxy.type": 1,
        "network.proxy.http": host,
        "network.proxy.http_port": int(proxy_port),
        "dom.security.https_first": False,
        "app.update.enabled": False,
    }
    profile.mkdir(parents=True)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in wanted.items()]
    (profile / "user.js").write_text("\n".join(lines))
    words = [path, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote"]
    process = subprocess.Popen(
        [*words, "--profile", str(profile)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with contextlib.closing(Firefox(port)) as browser:
            yield browser
    finally:
        process.terminate()
        process.wait(timeout=60)
