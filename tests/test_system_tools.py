"""Nothing is installed system-wide before it was announced, and each program can be declined."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from support import system_tools

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "system_tools.sh"
PACKAGES = {"chromium": "chromium", "searx": "searx-run"}
"""The program that each package brings."""


class Run(NamedTuple):
    code: int
    said: str
    announced: str
    """What had been said when apt-get was called first."""
    installed: list[str]


class Machine:
    """A folder with the only programs that the script finds, and an apt-get that notes what it is asked for."""

    def __init__(self, folder: Path, user: int = 0, failing: bool = False) -> None:
        self.folder = folder
        for tool in ("bash", "chmod"):
            (folder / tool).symlink_to(shutil.which(tool) or "")
        self.add("id", f"echo {user}")
        install = [
            f"{package}) : > {folder}/{program}; chmod +x {folder}/{program} ;;"
            for package, program in PACKAGES.items()
        ]
        self.add(
            "apt-get",
            "exit 100"
            if failing
            else f"""
[ -e {folder}/announced ] || echo "$(< {folder}/said)" > {folder}/announced
echo "${{@: -1}}" >> {folder}/installed
case "${{@: -1}}" in
{chr(10).join(install)}
esac""",
        )

    def add(self, program: str, body: str = "") -> None:
        (self.folder / program).write_text(f"#!{self.folder}/bash\n{body}\n")
        (self.folder / program).chmod(0o755)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text() if (self.folder / name).exists() else ""

    def run(self, *tools: str, **switches: str) -> Run:
        environment = {"PATH": str(self.folder), **switches}
        command = [str(self.folder / "bash"), str(SCRIPT), *tools]
        with (self.folder / "said").open("w") as said:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, timeout=60
            )
        assert done.stdout == b""
        return Run(done.returncode, self.text("said"), self.text("announced"), self.text("installed").split())


def test_what_root_installs_is_announced_first_with_the_way_to_decline(tmp_path: Path) -> None:
    run = Machine(tmp_path).run("chromium", "searx")
    assert run.code == 0
    assert run.installed == ["chromium", "searx"]
    for words in (
        "chromium: for the browser tests",
        "BROWSER_TESTS=0",
        "searx: for",
        "SEARX_TESTS=0",
        "SYSTEM_INSTALL=0",
    ):
        assert words in run.announced


@pytest.mark.parametrize(
    ("switches", "installed"),
    [
        ({"BROWSER_TESTS": "0"}, ["searx"]),
        ({"SEARX_TESTS": "0"}, ["chromium"]),
        ({"BROWSER_TESTS": "0", "SEARX_TESTS": "0"}, []),
        ({"SYSTEM_INSTALL": "0"}, []),
    ],
)
def test_what_was_declined_is_not_installed(tmp_path: Path, switches: dict[str, str], installed: list[str]) -> None:
    run = Machine(tmp_path).run("chromium", "searx", **switches)
    assert run.code == 0
    assert run.installed == installed
    assert not (installed == [] and "will be installed" in run.said)


def test_nothing_is_said_where_everything_is_installed(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.add("google-chrome")
    machine.add("searx-run")
    assert machine.run("chromium", "searx") == Run(0, "", "", [])


@pytest.mark.parametrize(("user", "failing"), [(1000, False), (0, True)])
def test_without_rights_or_network_tests_are_skipped_and_a_hint_says_what_to_install(
    tmp_path: Path, user: int, failing: bool
) -> None:
    run = Machine(tmp_path, user, failing).run("chromium", "searx")
    assert (run.code, run.installed) == (0, [])
    assert "note: chromium is not installed, so the tests that need it will be skipped" in run.said
    assert "apt-get install searx" in run.said


@pytest.mark.parametrize(
    ("program", "switch"),
    [
        (system_tools.chromium, "BROWSER_TESTS"),
        (system_tools.firefox, "BROWSER_TESTS"),
        (system_tools.searx, "SEARX_TESTS"),
    ],
)
def test_declined_tests_are_skipped_and_say_why(
    program: Callable[[], str], switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(switch, "0")
    with pytest.raises(pytest.skip.Exception, match=f"{switch}=0"):
        program()
