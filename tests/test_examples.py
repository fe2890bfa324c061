"""Every file under examples/ runs as its docstring says; the plug-in package is found like an installed one."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PLUGIN = EXAMPLES / "plugin"
SAYS = {
    "crawl_with_callback.py": "30 pages in ",
    "stream_pages.py": "3 pages contain the word among the first ",
    "custom_strategy.py": "new-hosts-first: 5",  # 50 or 51 of 60: on a busy machine a request may fail at first
    "custom_judge.py": " of 60 pages are relevant",
    "custom_seed_source.py": " seeds were found and 20 pages were fetched",
    "custom_metric.py": "host_share after 1, 2 and 4 pages: [1.0, 0.5, 0.5]",
    "crawl_in_asyncio.py": "outdoors air paragliding: 30 pages",
    "load_into_pandas.py": "best page: ",
    "compare_in_the_lab.py": "hound is better than breadth-first",
}
"""Text that each program prints."""
NEEDS = {"load_into_pandas.py": ["pandas"], "compare_in_the_lab.py": ["pyarrow", "scipy"]}


def run(arguments: list[str], folder: Path, **environment: str) -> str:
    variables = {**os.environ, "SCENTHOUND_CACHE": str(folder / "cache"), **environment}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_every_example_is_listed_here_and_in_its_readme() -> None:
    programs = {path.name for path in EXAMPLES.glob("*.py")}
    assert programs == SAYS.keys()
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in programs)


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_an_example_says_what_it_shows(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    for package in NEEDS.get(name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}, which is not installed")
    assert SAYS[name] in run(["-W", "error", str(EXAMPLES / name)], tmp_path)


def test_the_tests_of_the_plug_in_package_pass(tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(PLUGIN)]
    assert " passed" in run(words, tmp_path, PYTHONPATH=str(PLUGIN), PYTHONDONTWRITEBYTECODE="1")


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """The path of the plug-in package with its entry points, as `pip install` would install it."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = tmp_path / "site" / "my_parts-0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return os.pathsep.join([str(about.parent), str(PLUGIN)])


def test_an_installed_strategy_can_be_chosen_by_name(installed: str, tmp_path: Path) -> None:
    output = run(["-m", "scenthound", "strategies", "longest-anchor", "--json"], tmp_path, PYTHONPATH=installed)
    assert [parameter["name"] for parameter in json.loads(output)["parameters"]] == ["cap"]


def test_an_installed_metric_and_exporter_are_found(installed: str, tmp_path: Path) -> None:
    code = """
from scenthound.exports import EXPORTERS
from scenthound.lab.measure.metrics import curves
assert "host_share" in curves(), curves()
print(EXPORTERS.get("bookmarks").__doc__)
"""
    assert "bookmarks file" in run(["-c", code], tmp_path, PYTHONPATH=installed)
