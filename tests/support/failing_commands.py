"""Runs the commands that work on a crawl on a disk whose n-th call fails, for every n; then again on a good disk.

    python -m support.failing_commands SHIM FOLDER ERROR KINDS STEP [COMMAND]…

Runs under `disk_shim.c`, as `failing_disk` does. Prints one JSON line for each attempt. `desk`, `mcp` and `companion`
are asked as a browser, an agent and an extension ask them; their answers count as the output of a command. A command
has at most `MOST` attempts: if it makes many calls, more of them are left out.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mcp import Client

from scenthound.cli.root_command import run
from scenthound.desk.agent_tools.agent_limits import ToolLimits
from scenthound.desk.agent_tools.mcp_server import make_server
from scenthound.desk.agent_tools.tool_methods import Tools
from scenthound.desk.apps.companion import Companion
from scenthound.desk.pairing import Pairings
from scenthound.errors import ScenthoundError
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import generate
from scenthound.ports import Failure
from support.application_webs import CLUB_SEEDS, CLUBS
from support.companion import Extension
from support.desk import WITH_TOKEN, client
from support.failing_disk import WEB, child
from support.html_crawl import html_crawl

SEED = CLUB_SEEDS[0]
EXAMPLE = "http://examples.invalid/1.html"
MOST = 60
LAB = ["--strategies", "breadth-first,best-first", "--topics", "1", "--pages", "5", "--at", "5", "--jobs", "1"]
TOPIC = WEB.topics[0]
ASK = ["ask", TOPIC.keywords, "--seed", TOPIC.seeds[0], "--proxy", "{proxy}", "--pages", "6", "--delay", "0"]
ASK += ["--set", "workers=0"]
COMMANDS: Mapping[str, list[str]] = {
    "index": ["index", "{home}/crawl"],
    "index-again": ["index", "{home}/crawl", "--rebuild"],
    "search": ["search", "{home}/crawl", "balloons"],
    "like": ["search", "{home}/crawl", "--like", SEED],
    "portal": ["portal", "{home}/crawl"],
    "related": ["related", "{home}/crawl", "--csv", "{home}/crawl/related.csv"],
    "map": ["map", "{home}/crawl"],
    "label": ["label", "{home}/crawl", SEED, "--on-topic"],
    "labels": ["label", "{home}/crawl", "--list"],
    "control": ["control", "{home}/crawl", "budget", "7"],
    "orders": ["control", "{home}/crawl", "--list"],
    "show": ["show", "{home}/crawl", SEED],
    "explain": ["explain", "{home}/crawl", SEED],
    "status": ["status", "{home}/crawl"],
    "trail": ["trail", "{home}/crawl"],
    "report": ["report", "{home}/crawl"],
    "seeds": ["seeds", "hot air balloons", "--source", "collections:{home}/crawl"],
    "backlinks": ["backlinks", SEED, "--source", "collections:{home}/crawl"],
    **{
        f"export-{kind}": ["export", "{home}/crawl", "--to", kind, "--force"]
        for kind in ("jsonl", "csv", "parquet", "wacz", "gexf")
    },
    "ask": ASK,
    "ask-and-keep": [*ASK, "--keep", "{home}/kept"],
    "topic-new": [
        "topic",
        "new",
        "{home}/new.toml",
        "--force",
        "--examples",
        "{home}/site",
        "--background",
        "{home}/bed",
        "--yes",
    ],
    "topic-show": ["topic", "show", "{home}/topic.toml"],
    "topic-move": ["topic", "move", "{home}/topic.toml", EXAMPLE, "Animals/Goats"],
    "train": ["train", "bayes", "--topic", "{home}/topic.toml", "--from", "{home}/bed", "--out", "{home}/model"],
    "economy": ["economy", "{home}/economy", "--out", "{home}/agents"],
    "lab-generate": ["lab", "generate", "{home}/web", "--pages", "20", "--topics", "1"],
    "lab-import": ["lab", "import", "crawl", "{home}/crawl", "{home}/imported"],
    "lab-info": ["lab", "info", "{home}/bed", "--jobs", "1"],
    "lab-run": ["lab", "run", "{home}/bed", *LAB, "--out", "{home}/run"],
    "lab-measure": ["lab", "measure", "{home}/done", "--at", "3", "--jobs", "1"],
    "lab-compare": ["lab", "compare", "{home}/done", "best-first", "breadth-first"],
    "lab-report": ["lab", "report", "{home}/done"],
    "lab-pool": ["lab", "pool", "{home}/crawl", "--out", "{home}/pool", "--jobs", "1"],
    "lab-communities": ["lab", "communities", "{home}/graph.txt", "--seed", "a"],
}
MAKE_NEW = ("ask-and-keep", "train", "economy", "lab-generate", "lab-import", "lab-pool")
"""Commands that refuse to make what is there already: not run again if all went well."""
ELSEWHERE: Mapping[str, str] = {
    "crawl": "test_failing_disk.py",
    "resume": "test_failing_disk.py",
    "demo": "two crawls after one another, and a page that compares them",
    "lab serve": "serves until Ctrl-C; reads a bed as `lab run` does",
    **dict.fromkeys(("strategies", "judges", "sources", "doctor", "completion"), "has no folder to work on"),
}
"""Commands that are not tried here, and why."""
PAGES = (
    "/",
    "/c/crawl",
    f"/c/crawl/copy?url={SEED}",
    f"/c/crawl/page?url={SEED}",
    "/c/crawl/portal",
    "/c/crawl/related",
)
READS = ("", "/pages", "/search?q=balloons", f"/explanation?url={SEED}", f"/links?url={SEED}", "/map", "/site-map")
CHANGES = (("labels", {"url": SEED, "on_topic": True}), ("orders", {"action": "budget", "value": "9"}))


class Silent:
    """A web that does not answer."""

    async def fetch(self, url: str, most: int | None = None) -> Failure:
        return Failure("timeout")


def ask_desk(home: Path) -> int:
    """Ask a desk for pages and data, and change something. The code is 5 if a reply says that something failed."""
    with client(home / "new", home / "crawl") as http:
        replies = [http.get(path) for path in PAGES]
        replies += [http.get(f"/api/collections/crawl{path}") for path in READS]
        for path, body in CHANGES:
            replies.append(http.post(f"/api/collections/crawl/{path}", json=body, headers=WITH_TOKEN))
    return _code(replies)


def browse(home: Path) -> int:
    """Open a page before the companion, and pair an extension with it."""
    try:
        companion, pairings = Companion(home / "companion", fetcher=Silent()), Pairings(home / "companion")
    except (ScenthoundError, OSError) as error:  # as the command does
        print(f"error: {error}")
        return 5
    visit = {"url": SEED, "title": "Balloons", "text": "hot air balloons", "links": [], "private": False}
    with client(home / "new", companion=companion, pairings=pairings) as http:
        extension = Extension(http, "chrome-extension://abc", pairings.new_code(time.time()))
        paired = extension.pair()
        opened = http.post("/api/companion/visits", json=visit, headers=WITH_TOKEN)
        return _code([paired, opened, http.get("/api/companion", headers=WITH_TOKEN)])


def _code(replies: Iterable[Any]) -> int:
    failed = [reply for reply in replies if reply.status_code >= 400]
    for reply in failed:
        told = reply.json()["error"] if "json" in reply.headers["content-type"] else reply.text
        words = re.search(r"I/O error[^<]*|is being written[^<]*", told) or [told[:300]]
        print(f"error: {reply.request.url}: {reply.status_code} {words[0]}")
    return 5 if failed else 0


def use_tools(home: Path) -> int:
    """Use the tools of agents. The code is 5 if one says that something failed."""
    calls = {
        "list_collections": {},
        "crawl_status": {"collection": "crawl"},
        "search": {"collection": "crawl", "query": "balloons"},
        "read_page": {"collection": "crawl", "url": SEED},
        "explain": {"collection": "crawl", "url": SEED},
        "related": {"collection": "crawl"},
    }
    code = 0
    try:
        tools = Tools(home / "new", [home / "crawl"], ToolLimits())
    except (ScenthoundError, OSError) as error:
        print(f"error: {error}")
        return 5

    async def use() -> int:
        failed = 0
        async with Client(make_server(tools)) as agent:
            for name, words in calls.items():
                answer = await agent.call_tool(name, words)
                if answer.is_error:
                    print(f"error: {name}: {answer.content[0].text}")
                    failed = 5
        return failed

    code = asyncio.run(use())
    tools.close()
    return code


ASKED = {"desk": ask_desk, "mcp": use_tools, "companion": browse}


def task(name: str, home: Path, proxy: str) -> Callable[[], int]:
    if name in ASKED:
        return partial(ASKED[name], home)
    words = [word.format(home=home, proxy=proxy) for word in COMMANDS[name]]

    def command() -> int:
        tempfile.tempdir = str(home)  # what is thrown away in the end lies on the same disk
        is_begun = (home / "kept" / "crawl.toml").exists()
        return run(["resume", str(home / "kept")] if is_begun else words)

    return command


def make_template(template: Path, names: Iterable[str]) -> None:
    """What the commands work on."""
    html_crawl(template / "crawl", CLUBS, CLUB_SEEDS, "hot air balloons")
    assert run(["index", str(template / "crawl")]) == 0
    wanted = {word for name in names for word in COMMANDS.get(name, ())}
    if "{home}/economy" in wanted:
        html_crawl(template / "economy", CLUBS, CLUB_SEEDS, "hot air balloons", "hayek-estimating")
    if wanted.intersection({"{home}/bed", "{home}/done", "{home}/topic.toml"}):
        generate(template / "bed", pages=60, seed=1, topics=1, page_size=800)
        assert run(["lab", "run", str(template / "bed"), *LAB, "--out", str(template / "done")]) == 0
        (template / "site").mkdir()
        for number in range(4):
            text = f"<title>Goats {number}</title><p>goats climb rocks and give milk, number {number} of goats"
            (template / "site" / f"{number}.html").write_text(text)
        place = ["--examples", str(template / "site"), "--background", str(template / "bed"), "--yes"]
        assert run(["topic", "new", str(template / "topic.toml"), *place]) == 0
    (template / "graph.txt").write_text("a b\nb c\na c\nc d\n")


def main() -> None:
    shim_path, folder, error, kinds, step, *names = sys.argv[1:]
    shim, top = ctypes.CDLL(shim_path), Path(folder)
    template, home = top / "template", top / "home"
    names = names or [*COMMANDS, *ASKED]
    make_template(template, names)
    with serving(BedServer(WEB, ServerOptions())) as proxy:
        for name in names:

            def attempt(number: int, name: str = name) -> int:
                """Let the n-th call fail, then do it again. Prints what happened, and gives the number of calls."""
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(template, home)
                arm = (str(home).encode(), kinds.encode(), number, int(number % 2 == 0), getattr(errno, error))
                code, calls = child(task(name, home, proxy), top / "said", arm, shim)
                said = (top / "said").read_text(errors="replace")
                again, later = 0, ""
                for unfinished in re.findall(r"remove (\S+) if it is there, then run this again", said):
                    shutil.rmtree(unfinished, ignore_errors=True)
                if code or name not in MAKE_NEW:
                    again, _ = child(task(name, home, proxy), top / "said-again", None, shim)
                    later = (top / "said-again").read_text(errors="replace") if again else ""
                line = {"command": name, "n": number, "code": code, "said": said, "again": again, "later": later}
                print(json.dumps({**line, "calls": calls}), flush=True)
                return calls

            calls = attempt(10**9)
            for number in range(1, calls + 1, max(int(step), -(-calls // MOST))):
                attempt(number)


if __name__ == "__main__":
    main()
