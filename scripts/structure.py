"""Counts what makes a source tree hard to read, for any checkout.

    python scripts/structure.py [--json] [--list] [FOLDER ...]

Several folders are printed side by side. To compare with an older commit:

    git worktree add /tmp/old 19beebe
    python scripts/structure.py /tmp/old .
    git worktree remove /tmp/old

Package names may differ between checkouts, so the script finds the functions it needs for a crawl by their names. The
files executed for a page are those whose functions are called in the crawling thread between the tenth and the
twentieth page; files that are only imported do not count. The live crawl fetches a generated web over HTTP, the lab
replays one. Both run best-first.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "scenthound"
MOST_PARAMETERS = 7
MUTABLE = {"dict", "list", "set", "Counter", "defaultdict", "OrderedDict", "deque", "bytearray"}
CHANGES = set("add append appendleft clear discard extend insert pop popitem popleft remove setdefault update".split())
CACHES = {"cache", "lru_cache"}

PROBE = """
import importlib, json, os, sys, tempfile
from pathlib import Path

kind, source, found = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
files, landed = set(), 0

def profile(frame, event, argument):
    global landed
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(source) or code.co_name == "<module>":
        return
    if code.co_name == "landed" and code.co_filename.endswith("core.py"):
        landed += 1
    if 10 <= landed < 20:
        files.add(os.path.relpath(code.co_filename, source))

def named(what):
    return getattr(importlib.import_module(found[what]), what)

with tempfile.TemporaryDirectory() as scratch:
    os.environ["SCENTHOUND_CACHE"] = scratch + "/cache"
    if kind == "live":
        import scenthound
        web = named("GeneratedWeb")(400, 3)
        topic = web.topics[0]
        with named("serving")(web) as address:
            sys.setprofile(profile)
            scenthound.crawl(topic.keywords, list(topic.seeds), pages=40, out=scratch + "/crawl",
                             strategy="best-first", proxy=f"http://{address}", delay=0, concurrency=1).close()
            sys.setprofile(None)
    else:
        named("generate")(scratch + "/bed", 400, 3)
        experiment = importlib.import_module(found["experiment"])
        options = {"topics": 1, "pages": 40, "oracles": False}
        if "RunOptions" in vars(experiment):  # later checkouts
            options = {"options": experiment.RunOptions(**options)}
        sys.setprofile(profile)
        experiment.run(scratch + "/bed", "best-first", scratch + "/run", **options)
        sys.setprofile(None)
print(json.dumps(sorted(files)))
"""


@dataclass(frozen=True)
class Module:
    """One source file."""

    path: Path
    name: str
    """Path relative to the package, such as `loop/core.py`."""
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.partition("/")[0] if "/" in self.name else "(root)"


def modules(checkout: Path) -> list[Module]:
    source = checkout / "src" / PACKAGE
    if not source.is_dir():
        sys.exit(f"{checkout} has no src/{PACKAGE}")
    result = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        result.append(Module(path, path.relative_to(source).as_posix(), text, ast.parse(text)))
    return result


# ---- what is counted: each function yields locations such as `loop/core.py:46 next`


def calls_of(found: list[Module], names: set[str]) -> Iterator[str]:
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield f"{module.name}:{node.lineno} {node.func.id}"


def type_ignores(found: list[Module]) -> Iterator[str]:
    for module in found:
        for number, line in enumerate(module.text.splitlines(), 1):
            if re.search(r"#\s*type:\s*ignore", line):
                yield f"{module.name}:{number}"


def long_signatures(found: list[Module]) -> Iterator[str]:
    """Functions with more than seven named parameters, without self and cls."""
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                count = len(names) - (names[:1] in (["self"], ["cls"]))
                if count > MOST_PARAMETERS:
                    yield f"{module.name}:{node.lineno} {node.name} ({count})"


def mutable_globals(found: list[Module]) -> Iterator[str]:
    """Containers created at module level that a function changes, in this module or in one that imports them."""
    changed_by_importers: dict[str, set[str]] = defaultdict(set)
    for module in found:
        imported = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
            for alias in node.names
        }
        for name in changed_names(module.tree) & imported.keys():
            origin, original = imported[name]
            changed_by_importers[f"{origin}.{original}"].add(module.name)
    for module in found:
        changed = changed_names(module.tree)
        dotted = f"{PACKAGE}." + module.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name, line, value in module_level(module.tree):
            if is_container(value) and (name in changed or f"{dotted}.{name}" in changed_by_importers):
                yield f"{module.name}:{line} {name}"


def global_objects(found: list[Module]) -> Iterator[str]:
    """Objects created at module level whose class is in this package and not frozen."""
    classes = {
        node.name: not is_frozen(node)
        for module in found
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    for module in found:
        others = {
            alias.asname or alias.name
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(PACKAGE)
            for alias in node.names
        }
        for name, line, value in module_level(module.tree):
            if isinstance(value, ast.Call) and classes.get(called(value)) and called(value) not in others:
                yield f"{module.name}:{line} {name} = {called(value)}()"


def cached_functions(found: list[Module]) -> Iterator[str]:
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and any(
                last_name(decorator) in CACHES for decorator in node.decorator_list
            ):
                yield f"{module.name}:{node.lineno} {node.name}"


def doubled_classes(found: list[Module]) -> Iterator[str]:
    modules_of = defaultdict(list)
    for module in found:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                modules_of[node.name].append(module.name)
    for name, names in sorted(modules_of.items()):
        if len(names) > 1:
            yield f"{name}: {', '.join(names)}"


def confusable_names(found: list[Module]) -> Iterator[str]:
    """Pairs of file names that are equal, or differ in at most two letters and less than half of the shorter name."""
    files = [module for module in found if not Path(module.name).stem.startswith("__")]
    for first, second in combinations(files, 2):
        one, other = Path(first.name).stem, Path(second.name).stem
        distance = edit_distance(one, other)
        if distance == 0 or (distance <= 2 and 2 * distance < min(len(one), len(other))):
            yield f"{first.name} and {second.name}"


# ---- reading the source


def module_level(tree: ast.Module) -> Iterator[tuple[str, int, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.lineno, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.lineno, node.value


def is_container(value: ast.expr) -> bool:
    literal = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
    return isinstance(value, literal) or (isinstance(value, ast.Call) and last_name(value) in MUTABLE)


def changed_names(tree: ast.Module) -> set[str]:
    """Names that functions of the module change: `X[...] = `, `del X[...]`, `X.add(...)`, `X += ...`, `global X`."""
    changed: set[str] = set()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        own = local_names(function)
        for node in ast.walk(function):
            targets: Iterable[ast.expr] = ()
            if isinstance(node, ast.Assign | ast.Delete):
                targets = (target for target in node.targets if isinstance(target, ast.Subscript))
            elif isinstance(node, ast.AugAssign):
                targets = [node.target]
            elif isinstance(node, ast.Global):
                changed |= set(node.names)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
                targets = [node.func]
            for target in targets:
                inner = target.value if isinstance(target, ast.Subscript | ast.Attribute) else target
                if isinstance(inner, ast.Name) and inner.id not in own:
                    changed.add(inner.id)
    return changed


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    globals_ = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    return (parameters | stored) - globals_


def is_frozen(node: ast.ClassDef) -> bool:
    bases = {last_name(base) for base in node.bases}
    if bases & {"NamedTuple", "Enum", "StrEnum", "IntEnum", "Protocol", "TypedDict"}:
        return True
    return any("frozen=True" in ast.unparse(decorator) for decorator in node.decorator_list)


def called(value: ast.expr) -> str:
    """The class or function that is called; empty for calls through a module, such as `threading.Lock()`."""
    plain = isinstance(value, ast.Call) and not isinstance(value.func, ast.Attribute)
    return last_name(value) if plain else ""


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def edit_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, letter_of_other in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != letter_of_other))
    return row[-1]


# ---- the files executed for a page


def path_of_a_page(checkout: Path, found: list[Module], kind: str) -> list[str]:
    """The files whose functions run while a page is crawled; empty, with a message on stderr, if the crawl fails."""
    homes = {
        "GeneratedWeb": home_of(found, r"^class GeneratedWeb\b"),
        "serving": home_of(found, r"^def serving\("),
        "generate": home_of(found, r"^def generate\(\n    folder"),
        "experiment": home_of(found, r"^class Experiment\b"),
    }
    source = str(checkout / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", PROBE, kind, f"{source}/{PACKAGE}", json.dumps(homes)],
            cwd=scratch, env=environment, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    if done.returncode:
        print(f"{checkout}: no {kind} crawl: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return []
    files: list[str] = json.loads(done.stdout.splitlines()[-1])
    return files


def home_of(found: list[Module], pattern: str) -> str:
    for module in found:
        if re.search(pattern, module.text, re.MULTILINE):
            return f"{PACKAGE}." + module.name.removesuffix(".py").replace("/", ".")
    return ""


# ---- the report


def counted(checkout: Path) -> dict[str, Any]:
    """Every count of a checkout, and under `places` the locations that were counted."""
    found = modules(checkout)
    places = {
        "files executed for one page, live": path_of_a_page(checkout, found, "live"),
        "files executed for one page, lab": path_of_a_page(checkout, found, "lab"),
        "getattr and hasattr calls": list(calls_of(found, {"getattr", "hasattr"})),
        "module-level containers that are changed": list(mutable_globals(found)),
        "module-level objects that are not frozen": list(global_objects(found)),
        "functions with a cache": list(cached_functions(found)),
        "type: ignore": list(type_ignores(found)),
        "functions with more than seven parameters": list(long_signatures(found)),
        "class names used for two things": list(doubled_classes(found)),
        "confusable file names (pairs)": list(confusable_names(found)),
    }
    lines = {module.name: module.text.count("\n") for module in found}
    counts: dict[str, int] = {"files": len(found), "lines": sum(lines.values())}
    counts["lines in the longest file"] = max(lines.values())
    for kind in ("live", "lab"):
        executed = places[f"files executed for one page, {kind}"]
        counts[f"files executed for one page, {kind}"] = len(executed)
        counts[f"lines of those files, {kind}"] = sum(lines[name] for name in executed)
    counts |= {name: len(where) for name, where in places.items()}
    packages: dict[str, dict[str, int]] = defaultdict(lambda: {"files": 0, "lines": 0})
    for module in found:
        packages[module.package]["files"] += 1
        packages[module.package]["lines"] += lines[module.name]
    return {"counts": counts, "packages": dict(sorted(packages.items())), "places": places}


def table(results: dict[str, dict[str, Any]]) -> str:
    names = list(results)
    rows = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for what in next(iter(results.values()))["counts"]:
        rows += [f"| {what} | " + " | ".join(f"{results[name]['counts'][what]:,}" for name in names) + " |"]
    rows += ["", "| package | " + " | ".join(f"{name}: files, lines" for name in names) + " |"]
    rows.append("|---|" + "---:|" * len(names))
    for package in sorted({package for result in results.values() for package in result["packages"]}):
        cells = [result["packages"].get(package) for result in results.values()]
        texts = [f"{cell['files']}, {cell['lines']:,}" if cell else "" for cell in cells]
        rows.append(f"| {package} | " + " | ".join(texts) + " |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT], metavar="FOLDER", help="checkouts to count")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--list", action="store_true", help="also print the locations that were counted")
    options = parser.parse_args()
    results = {}
    for folder in options.folders:
        name = folder.resolve().name
        results[name if name not in results else str(folder)] = counted(folder.resolve())
    if options.json:
        print(json.dumps(results, indent=1))
        return 0
    print(table(results))
    if options.list:
        for name, result in results.items():
            for what, places in result["places"].items():
                print(f"\n## {name}: {what}\n")
                print("\n".join(f"* {place}" for place in places))
    return 0


if __name__ == "__main__":
    sys.exit(main())
