"""`scenthound doctor`: check what is installed, what is missing, and how to fix it."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.extras import WHAT_FOR, extras, missing

if TYPE_CHECKING:
    from scenthound.plugins import Registry

OLDEST = (3, 11)
LEAST_FREE = 200_000_000  # bytes


class Finding(NamedTuple):
    """The result of one check."""

    what: str
    state: str
    """`ok`, `missing` (optional) or `broken` (crawls can't run)."""
    detail: str
    todo: str = ""


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Check the installation: what is missing, and how to fix it. Exit code 1 if something essential is broken.

    \b
      $ scenthound doctor
    """
    findings = list(examine())
    broken = any(finding.state == "broken" for finding in findings)
    if as_json:
        emit({"ok": not broken, "findings": [finding._asdict() for finding in findings]})
    else:
        out().print(
            table(
                ("", "what", "result", "what to do"),
                [(f.state, f.what, f.detail, f.todo) for f in findings],
            )
        )
        say("Something essential is broken; see above." if broken else "Ready to crawl.")
    return 1 if broken else 0


def examine(here: Path = Path()) -> Iterator[Finding]:
    """Run all checks. No check raises: an error becomes a finding."""
    yield _safely("python", _python)
    yield _safely("scenthound", lambda: Finding("scenthound", "ok", metadata.version("scenthound")))
    yield from _packages()
    yield from _extras()
    yield _safely("sqlite", _sqlite)
    yield _safely("folder", lambda: _folder(here))
    yield _safely("loopback", _loopback)
    yield from _plugins()


def _safely(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:
        return Finding(name, "broken", f"{type(error).__name__}: {error}")


def _python() -> Finding:
    fine = sys.version_info >= OLDEST
    return Finding(
        "Python", "ok" if fine else "broken", platform.python_version(), "" if fine else "install Python 3.11 or newer"
    )


def _packages() -> Iterator[Finding]:
    """The packages that our metadata requires."""
    missing: list[str] = []
    present: list[str] = []
    for line in metadata.requires("scenthound") or []:
        if "extra ==" in line:  # see `_extras`
            continue
        name = line.split(";")[0].split(">")[0].split("=")[0].split("<")[0].split("[")[0].strip()
        version = _version(name)
        (present if version else missing).append(f"{name} {version}".strip())
    yield Finding("packages", "ok", f"{len(present)} present: {', '.join(present)}")
    for name in missing:
        yield Finding(name, "broken", "not installed", f"pip install {name}")


def _extras() -> Iterator[Finding]:
    """All extras of the package's metadata, installed or not, and what each is for."""
    for extra, packages in extras().items():
        absent, use = missing(extra), WHAT_FOR.get(extra, "")
        if absent:
            detail = f"{', '.join(absent)} not installed; for {use}"
            yield Finding(f"extra {extra}", "missing", detail, f"pip install 'scenthound[{extra}]'")
        else:
            present = ", ".join(f"{name} {_version(name)}" for name in packages)
            yield Finding(f"extra {extra}", "ok", f"{present}; for {use}")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _sqlite() -> Finding:
    from scenthound.store.database import CrawlDatabase

    with tempfile.TemporaryDirectory() as scratch:
        database = CrawlDatabase(Path(scratch) / "crawl.db")
        mode = (database.row("PRAGMA journal_mode") or ("?",))[0]
        version = (database.row("SELECT sqlite_version()") or ("?",))[0]
        database.close()
    fine = str(mode).lower() == "wal"
    todo = "" if fine else "use a local disk: SQLite's write-ahead log needs shared memory"
    return Finding("SQLite", "ok" if fine else "broken", f"{version}, journal {mode}", todo)


def _folder(here: Path) -> Finding:
    folder = here.resolve()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(
            "this folder",
            "broken",
            f"{folder}: {error.strerror}",
            "change to a folder that you can write to, or use --out",
        )
    free = shutil.disk_usage(folder).free
    detail = f"writable, {free / 1e9:,.1f} GB free"
    if free < LEAST_FREE:
        return Finding("this folder", "broken", detail, "free some space: a crawl stops when the disk is nearly full")
    return Finding("this folder", "ok", detail)


def _loopback() -> Finding:
    """Check that this machine accepts connections on loopback, as the demo and `lab serve` need."""
    import asyncio

    async def connect() -> None:
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            _, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)
            writer.close()
            await writer.wait_closed()

    try:
        asyncio.run(connect())
    except OSError as error:
        return Finding(
            "loopback", "missing", str(error), "allow connections to 127.0.0.1: demo and lab serve need them"
        )
    return Finding("loopback", "ok", "127.0.0.1 accepts connections")


def _plugins() -> Iterator[Finding]:
    from scenthound.exports import EXPORTERS
    from scenthound.strategies import STRATEGIES

    registries: tuple[tuple[str, Registry[Any]], ...] = (("strategies", STRATEGIES), ("export formats", EXPORTERS))
    for kind, registry in registries:
        yield _safely(kind, partial(_list_names, kind, registry))
        for name, why in registry.broken.items():
            yield Finding(f"plug-in {name}", "missing", why, f"update or uninstall the package that provides `{name}`")


def _list_names(kind: str, registry: Registry[Any]) -> Finding:
    return Finding(kind, "ok", ", ".join(registry.names()))
