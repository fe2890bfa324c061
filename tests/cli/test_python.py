"""What a script sees: `scenthound.crawl` with a signature and help, one seed as a text, hints without flags."""

from __future__ import annotations

import inspect
import os
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import scenthound
from scenthound import wiring
from scenthound.errors import ScenthoundError
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from support.small_crawl import small_crawl


def test_crawl_has_its_real_signature() -> None:
    ours, real = inspect.signature(scenthound.crawl), inspect.signature(wiring.crawl)
    assert list(ours.parameters.values()) == list(real.parameters.values())
    assert list(ours.parameters) == ["topic", "seeds", "pages", "out", "strategy", "watch", "model", "options"]
    assert ours.return_annotation == real.return_annotation == "CrawlFolder"


def test_help_tells_how_to_crawl() -> None:
    told = pydoc.plain(pydoc.render_doc(scenthound.crawl))
    assert "crawl(topic: 'Topic | StrPath', seeds: 'S" in told
    assert "best pages first" in told


def test_type_checkers_know_it(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "import scenthound\n"
        'folder = scenthound.crawl("bees", seeds="http://a.test/", pages=3, delay="1 s")\n'
        "reveal_type(folder)\n"
        'scenthound.crawl("bees")\n'
    )
    source = str(Path(scenthound.__file__ or "").parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(script)],
        env={**os.environ, "MYPYPATH": source}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 'Revealed type is "scenthound.loop.folder.CrawlFolder"' in done.stdout
    assert 'script.py:4: error: Missing positional argument "seeds"' in done.stdout
    assert "Found 1 error" in done.stdout


def test_one_seed_may_be_a_text(tmp_path: Path) -> None:
    web = GeneratedWeb(100, 3)
    with serving(web) as address:
        folder = scenthound.crawl(
            web.topics[0].keywords, seeds=str(web.topics[0].seeds[0]), pages=3, out=tmp_path / "crawl",
            proxy=f"http://{address}", delay=0,
        )  # fmt: skip
    assert folder.request.seeds == (str(web.topics[0].seeds[0]),)
    assert len(folder.history) == 3
    folder.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"topic": " "},
        {"topic": "the of and"},
        {"seeds": []},
        {"seeds": "bees"},
        {"out": __file__},
        {"pages": 0},
        {"delay": "soon"},
        {"strategy": "best-frist"},
        {"dellay": 1},
    ],
    ids=str,
)
def test_hints_for_scripts_name_no_flags(wrong: dict[str, object], tmp_path: Path) -> None:
    asked = {"topic": "bees", "seeds": ["http://a.test/"], "out": tmp_path / "crawl", **wrong}
    with pytest.raises(ScenthoundError) as caught:
        scenthound.crawl(**asked)  # type: ignore[arg-type]
    assert caught.value.hint
    assert "--" not in caught.value.hint
    assert not (tmp_path / "crawl").exists()


def test_a_folder_is_one_short_line(tmp_path: Path) -> None:
    with CrawlFolder.look(small_crawl(tmp_path / "crawl")) as opened:
        assert repr(opened) == f"<CrawlFolder {tmp_path / 'crawl'}: 4 pages on “hot air balloons”>"


# ---- what a shell offers


def offered(*words: str) -> list[str]:
    environment = {
        **os.environ,
        "_SCENTHOUND_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["scenthound", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "scenthound"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_a_shell_offers_strategies_formats_and_settings() -> None:
    for words in (("crawl", "bees", "--strategy", "best"), ("strategies", "best")):
        found = offered(*words)
        assert {"best-first", "best-n-first"} <= set(found)
        assert all(name.startswith("best") for name in found)
    assert offered("export", "x", "--to", "") == ["csv", "gexf", "jsonl", "parquet", "tar", "wacz"]
    assert offered("crawl", "bees", "--set", "disk") == ["disk_reserve="]
    assert "n=" in offered("crawl", "bees", "--strategy", "best-n-first", "--set", "n")
