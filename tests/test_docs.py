"""References in the documents are valid: sheets, links, file names, module names, and code copied from files."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = ROOT / "docs" / "spec"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted(
    path for folder in ("src", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")
)
SHEET = re.compile(r"\b[Ss]heets? (\d\d(?:\.\d+)?(?:(?:, | and | to | or )\d\d(?:\.\d+)?)*)")
RULE = re.compile(r"\b[Rr]ules? (\d+(?:(?:, | and | to | or )\d+)*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
FILE = re.compile(r"`([a-z_]+(?:/[a-z_]+)*\.py)(?:::\w+)?`")
MODULE = re.compile(r"`(scenthound(?:\.[a-z_]+)+)`")
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(ANCHOR.findall(text))


SHEETS = {anchor for path in SPEC.glob("*.md") for anchor in ANCHOR.findall(path.read_text(encoding="utf-8"))}


def numbers(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.findall(text):
        yield from re.findall(r"\d+(?:\.\d+)?", found)


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=name)
def test_the_number_of_a_sheet_or_rule_resolves(path: Path) -> None:
    text = re.sub(r"\s*\n\s*#?\s*", " ", path.read_text(encoding="utf-8"))  # a number may stand on the next line
    wanted = {*numbers(SHEET, text), *(f"rule-{number}" for number in numbers(RULE, text))}
    assert wanted <= SHEETS, f"not in docs/spec: {sorted(wanted - SHEETS)}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_link_leads_somewhere(path: Path) -> None:
    broken = []
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_file_or_module_that_is_named_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    homes = [ROOT, ROOT / "src" / "scenthound", path.parent]
    missing = {file for file in FILE.findall(text) if not any((home / file).is_file() for home in homes)}
    missing = {file for file in missing if "/" in file or not list((ROOT / "src").rglob(file))}
    modules = {module for module in MODULE.findall(text) if not exists(module)}
    assert not missing | modules


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module, an attribute of a module, or one of our entry-point groups."""
    if f'"{dotted}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8"):
        return True
    module, _, attribute = dotted.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute) or importlib.util.find_spec(dotted) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_code_in_a_document_is_a_file_that_the_tests_run(path: Path) -> None:
    """After `<!-- file: PATH -->` a block must be that file, or consecutive lines of it."""
    for file, block in CODE.findall(path.read_text(encoding="utf-8")):
        assert block in (ROOT / file).read_text(encoding="utf-8"), f"the block of {file} differs from the file"


MISSING_NAMES = """
import importlib, json, sys
for page, module, names in json.load(sys.stdin):
    print(*(f"{page}: {module}.{name}" for name in names if not hasattr(importlib.import_module(module), name)))
"""


def test_what_code_in_documents_imports_exists() -> None:
    """In a process of its own, because importing the plug-ins of the guides registers them."""
    imported = [
        (name(page), node.module, [each.name for each in node.names])
        for page in PAGES
        if page.parent.name != "reference"
        for block in PYTHON.findall(page.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(textwrap.dedent(block)))
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MISSING_NAMES],
        input=json.dumps(imported),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "examples" / "plugin"), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(imported) > 20
    assert not done.stdout.split()


GUIDES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "README.md"]


@pytest.mark.parametrize("path", GUIDES, ids=name)
def test_code_in_a_guide_can_be_pasted_into_an_empty_file(path: Path) -> None:
    """Every name that a block uses is defined or imported in the block; blocks of files are run by the tests."""
    for number, block in enumerate(PYTHON.findall(path.read_text(encoding="utf-8")), 1):
        command = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select",
            "F821",
            "--output-format",
            "concise",
        ]
        done = subprocess.run([*command, "-"], input=block, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"block {number} of {path.name}: {done.stdout}{done.stderr}"
