"""No command runs code from the folder in which it is called."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenthound.lab.generate.simple_web import generate
from scenthound.lab.process_pool import ProcessPool
from scenthound.page.read import PageLimits
from scenthound.page.record import EVERYTHING
from scenthound.page.wire import ReadOptions
from scenthound.processes import SAFE_PATH, module_command
from support.pdf_files import paper
from support.small_crawl import small_crawl

COMMAND = Path(sys.executable).with_name("scenthound")
MARKER = "IMPORTED"


def plant_modules(folder: Path) -> None:
    """Fill a folder with a module of every name that our processes could import; each leaves a mark when it runs."""
    third_party = {name.partition(".")[0] for name in importlib.metadata.packages_distributions()}
    for name in (third_party | set(sys.stdlib_module_names)) - {"__main__"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(
                f"open({str(folder / MARKER)!r}, 'a').write({name!r} + '\\n')\n"
                "raise SystemExit('a module from the working directory was imported')\n"
            )


def run_in(folder: Path, command: Sequence[str | Path]) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != SAFE_PATH}
    environment["SCENTHOUND_CACHE"] = str(folder.parent / "cache")
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=240, check=False
    )


def test_planted_modules_do_run_where_nothing_prevents_it(tmp_path: Path) -> None:
    plant_modules(tmp_path)
    run_in(tmp_path, [sys.executable, "-c", "import ada_url"])
    assert (tmp_path / MARKER).read_text().splitlines() == ["ada_url"]


def test_a_reading_process_imports_nothing_from_the_working_directory(tmp_path: Path) -> None:
    plant_modules(tmp_path)
    options = ReadOptions(PageLimits(), "x", EVERYTHING).to_json()
    asked = {"options": options, "seconds": 5, "memory": 1 << 31}
    done = run_in(tmp_path, module_command("scenthound.page.worker", json.dumps(asked)))
    assert b"ready" in done.stdout, done.stderr
    assert not (tmp_path / MARKER).exists()


def test_resume_inside_a_strangers_folder_runs_nothing_of_it(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "gift", pages=2)
    plant_modules(folder)
    done = run_in(folder, [COMMAND, "resume", ".", "--pages", "3"])
    assert b"Traceback" not in done.stderr
    assert not (folder / MARKER).exists()


def test_crawls_and_indexers_of_the_desk_run_nothing_of_the_working_directory(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "gift", pages=2)
    plant_modules(folder)
    script = (
        "from pathlib import Path; from scenthound.desk.start_processes import Processes; started = Processes();"
        "started.follow(Path.cwd()); started.resume(Path.cwd()); started.close()"
    )
    run_in(folder, [sys.executable, "-P", "-c", script])
    assert not (folder / MARKER).exists()


NEWER = (
    "from scenthound.desk.start_processes import Processes; started = Processes();"
    "started.jobs.start(here, ['portal', '--json', '--', str(here)]);"
    "started.jobs.state(here);"
    "print(started.run_command(['seeds', 'balloons', '--json', '--source', f'collections:{here}'])['topic']);"
    "import time; began = time.monotonic();"
    "\nwhile started.jobs.state(here)['state'] == 'working' and time.monotonic() - began < 120: time.sleep(0.05)\n"
    "print(started.jobs.state(here)); started.close()"
)
PDF = (
    "from scenthound.page.pdf import as_html; from scenthound.page.read import PageLimits;"
    "from scenthound.model import Response;"
    "print(as_html(Response('http://a.test/p.pdf', 200, 'OK', (('Content-Type', 'application/pdf'),),"
    " open('p.pdf', 'rb').read()), PageLimits(pdf=True)))"
)


@pytest.mark.parametrize(("script", "says"), [(NEWER, b"'state': 'done'"), (PDF, b"lighter")], ids=["desk", "pdf"])
def test_portals_questions_and_pdf_files_run_nothing_of_the_working_directory(
    script: str, says: bytes, tmp_path: Path
) -> None:
    folder = small_crawl(tmp_path / "gift", pages=4)
    (folder / "p.pdf").write_bytes(paper("Why balloons rise", "A. Author"))
    plant_modules(folder)
    done = run_in(folder, [sys.executable, "-P", "-c", f"from pathlib import Path; here = Path.cwd(); {script}"])
    assert says in done.stdout, done.stderr
    assert not (folder / MARKER).exists()


@pytest.mark.parametrize("words", [["mcp", ".", "--home", "new"], ["ask", "balloons", "--seed", "http://127.0.0.1:9/"]])
def test_commands_for_agents_and_questions_run_nothing_of_the_working_directory(
    words: list[str], tmp_path: Path
) -> None:
    folder = small_crawl(tmp_path / "gift", pages=2)
    plant_modules(folder)
    done = run_in(folder, [COMMAND, *words])
    assert b"Traceback" not in done.stderr
    assert not (folder / MARKER).exists()


def test_a_companion_runs_nothing_of_the_working_directory(tmp_path: Path) -> None:
    folder = tmp_path / "gift"
    folder.mkdir()
    plant_modules(folder)
    environment = {name: value for name, value in os.environ.items() if name != SAFE_PATH}
    words = ["companion", "kept", "--port", "0", "--home", "new", "--no-browser", "--json"]
    with subprocess.Popen([COMMAND, *words], cwd=folder, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.readline() + process.stdout.readline()
        process.terminate()
    assert b"address" in output
    assert not (folder / MARKER).exists()


def test_parallel_lab_commands_run_nothing_of_the_working_directory(tmp_path: Path) -> None:
    folder = tmp_path / "gift"
    generate(folder / "bed", pages=120, seed=1, topics=3, page_size=1500)
    plant_modules(folder)
    words = ["--strategies", "breadth-first", "--pages", "20", "--jobs", "2", "--out", "run"]
    done = run_in(folder, [COMMAND, "lab", "run", "bed", *words])
    assert done.returncode == 0, done.stderr
    assert run_in(folder, [COMMAND, "lab", "measure", "run", "--jobs", "2"]).returncode == 0
    assert not (folder / MARKER).exists()


def test_a_pool_leaves_the_environment_of_its_owner_alone() -> None:
    before = os.environ.get(SAFE_PATH)
    with ProcessPool(1) as pool:
        assert pool.submit(os.getenv, SAFE_PATH).result() == "1"
    assert os.environ.get(SAFE_PATH) == before
