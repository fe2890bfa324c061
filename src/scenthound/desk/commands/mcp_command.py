"""`scenthound mcp`: serve crawls as tools for agents, over stdio."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from scenthound.cli.output import emit, option, repeatable
from scenthound.extras import require
from scenthound.loop.settings import Settings, read


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]…")
@click.option(
    "--pages", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="Maximum pages per crawl."
)
@option("--time duration", "TIME", "Maximum time per crawl, e.g. `90 s` or `2 h`.", default="10 min", show_default=True)
@click.option(
    "--crawls", type=click.IntRange(0), default=5, show_default=True, metavar="N", help="Maximum crawls in total."
)
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Maximum crawls at the same time.",
)
@repeatable("--domain domains", "NAME", "Crawl only in this domain and its subdomains; can be repeated.")
@option("--home", "DIR", "Folder for new crawls.  [default: the user data folder]", type=click.Path(path_type=Path))
@repeatable("--set pairs", "KEY=VALUE", "A setting for every crawl started here, e.g. contact=me@example.org.")
@click.option("--json", "as_json", is_flag=True, help="Print the entry for a client's configuration file, and exit.")
def mcp(
    folders: tuple[Path, ...],
    pages: int,
    duration: str,
    crawls: int,
    at_once: int,
    domains: tuple[str, ...],
    home: Path | None,
    pairs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Offer crawls as tools for agents, over the Model Context Protocol on stdin and stdout.

    Agents can start crawls within the limits given here, and search, read and explain the fetched pages. No caller can
    raise a limit. Private addresses are refused. FOLDER is a crawl folder that agents may read, or contains several.

    \b
      $ scenthound mcp
      $ scenthound mcp balloons --crawls 0
      $ scenthound mcp --pages 500 --time '30 min' --domain example.org
      $ scenthound mcp --pages 500 --json
    """
    seconds = read(Settings, {"time": duration}).time
    if as_json:
        arguments = [
            *("--pages", str(pages)),
            *("--time", duration),
            *("--crawls", str(crawls)),
            *("--at-once", str(at_once)),
        ]
        arguments += [] if home is None else ["--home", str(home.absolute())]
        for name, values in (("--domain", domains), ("--set", pairs)):
            arguments += [argument for value in values for argument in (name, value)]
        command = ["-m", "scenthound", "mcp", *arguments, *(str(folder.absolute()) for folder in folders)]
        emit({"mcpServers": {"scenthound": {"command": sys.executable, "args": command}}})
        return
    require("mcp", "`scenthound mcp`")
    from scenthound.desk.agent_tools.agent_limits import ToolLimits
    from scenthound.desk.agent_tools.mcp_server import serve
    from scenthound.desk.agent_tools.tool_methods import Tools

    if home is None:
        from platformdirs import user_data_path

        home = user_data_path("scenthound") / "collections"
    limits = ToolLimits(pages, seconds, crawls, at_once, tuple(name.strip().strip(".").lower() for name in domains))
    serve(Tools(home, folders, limits, [argument for pair in pairs for argument in ("--set", pair)]))
