"""scripts/structure.py counts correctly, on a small example tree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "structure.py"
FILES = {
    "model.py": "class Page: ...\n",
    "loop/page.py": """\
from functools import lru_cache
from scenthound.model import Page

SEEN = {}
WORDS = {"a": 1}
PAGE = Page()

def see(url):
    SEEN[url] = getattr(url, "host")

def read(WORDS):
    WORDS["local"] = 1  # type: ignore

@lru_cache
def eight(self, b, c, d, e, f, g, h, i): ...
""",
    "web/pages.py": "class Page: ...\nclass Other: ...\n",
}


def counted(folder: Path) -> dict[str, Any]:
    for name, text in FILES.items():
        path = folder / "src" / "scenthound" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, str(SCRIPT), "--json", str(folder)], capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)[folder.name]
    return result


def test_each_count_finds_its_own_example(tmp_path: Path) -> None:
    result = counted(tmp_path)
    assert result["places"] == {
        "files executed for one page, live": [],  # no crawl can be run here
        "files executed for one page, lab": [],
        "getattr and hasattr calls": ["loop/page.py:9 getattr"],
        "module-level containers that are changed": ["loop/page.py:4 SEEN"],
        "module-level objects that are not frozen": ["loop/page.py:6 PAGE = Page()"],
        "functions with a cache": ["loop/page.py:15 eight"],
        "type: ignore": ["loop/page.py:12"],
        "functions with more than seven parameters": ["loop/page.py:15 eight (8)"],
        "class names used for two things": ["Page: model.py, web/pages.py"],
        "confusable file names (pairs)": ["loop/page.py and web/pages.py"],
    }
    assert result["counts"]["files"] == 3
    assert result["packages"]["loop"] == {"files": 1, "lines": 15}
