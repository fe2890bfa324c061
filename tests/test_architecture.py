"""The architecture: which package may import which."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "scenthound"

BASE = {
    "model",
    "url",
    "errors",
    "plugins",
    "processes",
    "files",
    "extras",
    "formats",
    "parameters",
    "looking_for",
    "templates",
    "typed_data",
}
READING = {"web", "text", "page"}
FLOOR = BASE | READING | {"ports", "hosts", "store", "graph"}
CRAWLER: dict[str, set[str]] = {
    "model": set(),
    "url": {"model", "errors", "formats"},
    "errors": set(),
    "plugins": {"errors"},
    "processes": set(),
    "files": {"errors"},
    "extras": {"errors"},
    "formats": {"errors", "model"},
    "parameters": {"errors"},
    "looking_for": {"model", "url", "errors"},
    "topic_list": BASE,
    "hosts": {"model", "url", "web"},
    "templates": {"formats"},
    "typed_data": set(),
    "web": BASE | {"ports"},
    "text": BASE,
    "page": BASE | {"ports", "web", "text"},
    "lessons": {"model", "page"},
    "ports": {"model", "page", "lessons", "looking_for", "hosts"},
    "store": BASE | {"ports", "hosts"},
    "graph": BASE | {"ports"},
    "loop": BASE | {"ports", "hosts", "page", "web", "store", "judging"},
    "strategies": BASE | {"lessons", "ports", "page", "text", "graph"},
    "judging": {"model", "page"},
    "seeding": {"model"},
    "judges": BASE | {"ports", "judging", "page", "text", "graph"},
    "search": FLOOR | {"loop"},
    "sources": FLOOR | {"loop", "search", "seeding"},
    "wiring": FLOOR | {"loop", "strategies", "judging", "judges", "seeding", "sources"},
    "report": FLOOR | {"loop", "wiring", "exports"},
    "exports": FLOOR | {"loop", "wiring", "report"},
    "cli": FLOOR
    | {"loop", "strategies", "wiring", "search", "exports", "report", "judges", "seeding", "sources", "topic_list"},
    "__main__": {"cli"},
}
GUESTS = {"papers": set(), "lab": {"papers"}, "desk": {"papers", "lab"}}
"""The guests of the crawler, and which of the others each may import. What they may import of the crawler is in
docs/reference/public-names.md."""
MAY_IMPORT = {
    **CRAWLER,
    **{guest: set(CRAWLER) - {"__main__"} | others for guest, others in GUESTS.items()},
    "": BASE
    | {"ports", "page", "wiring", "strategies", "loop", "lab", "exports"},  # the names for scripts, on first use
    "testing": {"lab"},  # a short name for authors of plug-ins
}
ONLY_IN = {  # a technology has one home
    "sqlite3": {"store"},
    "aiohttp": {"web"},
    "click": {"cli", "papers/commands", "lab/commands", "desk/commands"},
    "socket": {"web", "lab", "desk"},
    "starlette": {"desk"},
    "uvicorn": {"desk"},
    "mcp": {"desk/agent_tools"},
    "jinja2": {"templates"},
    "ray": {"cluster"},
    "multiprocessing": {"lab/process_pool"},
    "pickle": set(),
}


def package_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return "" if parts[0] == "__init__" else parts[0]


def imports(path: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                found.append((node.lineno, "." * node.level))
            elif node.module == "scenthound":
                found += [(node.lineno, f"scenthound.{name.name}") for name in node.names]
            else:
                found.append((node.lineno, node.module or ""))
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_imports_only_what_its_package_may(path: Path) -> None:
    package = package_of(path)
    assert package in MAY_IMPORT, f"{path}: `{package}` is not in the table"
    homes = {package, "/".join(path.relative_to(SOURCE).with_suffix("").parts[:2])}
    wrong = []
    for line, name in imports(path):
        top, _, rest = name.partition(".")
        if name.startswith("."):
            wrong.append(f"{path.name}:{line} relative import; write the whole name")
        elif top == "scenthound":
            target = rest.partition(".")[0]
            if target != package and target not in MAY_IMPORT[package]:
                wrong.append(
                    f"{path.name}:{line} `{package or 'the façade'}` may not import `{target or 'the package root'}`"
                )
        elif top in ONLY_IN and not homes & ONLY_IN[top]:
            wrong.append(f"{path.name}:{line} {top} belongs in {sorted(ONLY_IN[top]) or 'no package'}")
    assert not wrong, "\n".join(wrong)


def test_only_drivers_read_the_clock() -> None:
    """Only drivers and user interfaces read a clock (`time.time` and the like), never code that makes decisions."""
    allowed = {"loop/live.py", "lab/beds/bed_server.py"}
    for path in FILES:
        name = str(path.relative_to(SOURCE))
        if name in allowed or "/commands" in name or package_of(path) in {"cli", "wiring", "web", "exports", "desk"}:
            continue
        source = path.read_text(encoding="utf-8")
        for word in ("time.time(", "time.monotonic(", "datetime.now(", "time.sleep("):
            assert word not in source, f"{name} reads the clock ({word}): take `now` as an argument"


def test_nobody_asks_a_frontier_or_a_strategy_what_it_has() -> None:
    """The loop calls only what the ports declare: it never looks up a method or an attribute by name."""
    wrong = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
                continue
            if node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant):
                asked = ast.unparse(node.args[0]).lower()
                if any(word in asked for word in ("frontier", "strategy", "kind", "made")):
                    wrong.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["model.py", "ports.py", "loop/core.py"])
def test_what_a_newcomer_reads_first_is_short(name: str) -> None:
    assert len((SOURCE / name).read_text(encoding="utf-8").splitlines()) < 300


ONE_FILE_PER_PLUGIN = {"strategies", "papers", "exports", "judges", "sources", "lab/importers"}
"""Packages whose docstrings describe the pattern of their files instead of naming each."""
ONE_FILE_PER_COMMAND = {"cli", "desk", "desk/commands", "lab/commands"}
PACKAGES = sorted(path.parent for path in SOURCE.glob("*/**/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_says_what_is_made_there_and_names_its_modules(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert len(text.splitlines()) >= 4, "say in a few lines what is made here, who uses it, and where it goes"
    if str(package.relative_to(SOURCE)) not in ONE_FILE_PER_PLUGIN | ONE_FILE_PER_COMMAND:
        modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
        unnamed = {name for name in modules if not re.search(rf"`([\w.]+\.)?{name}(\.\w+)*`", text)}
        assert not unnamed, f"the docstring does not name {sorted(unnamed)}"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_package_has_a_file_of_the_same_name(package: Path) -> None:
    """A reader who looks for `limits.py` must not find four of them."""
    names = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    elsewhere = [path for path in FILES if path.parent != package and path.name in names]
    plugins = {SOURCE / name for name in ONE_FILE_PER_PLUGIN}  # a plug-in's file has the plug-in's name
    assert not [path for path in elsewhere if not {path.parent, package} & plugins]
