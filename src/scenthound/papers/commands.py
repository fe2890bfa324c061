"""The commands that show what a strategy of the literature has learned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenthound.cli.output import emit, json_option, option, out, say, table
from scenthound.errors import BadConfig, FolderBroken
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.store.model_folder import TrainedModel


COMMANDS: Mapping[str, tuple[str, str]] = {
    "economy": (__name__, "Show the richest agents of a trained Hayek economy, and its money balance."),
}
"""For each command, its module and its summary: how the crawler's command line finds them (entry points of the group
`scenthound.commands`)."""


@click.command()
@click.argument("folder", metavar="MODEL_OR_CRAWL", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(min=0), default=20, show_default=True, help="How many agents to show.")
@option(
    "--out target", "DIR", "Save the agents of a crawl as a model for other crawls.", type=click.Path(path_type=Path)
)
@json_option
def economy(folder: Path, top: int, target: Path | None, as_json: bool) -> None:
    """Show the richest agents of a Hayek economy, trained or in a crawl, and its money balance.

    \b
      $ scenthound economy model
      $ scenthound economy model --top 5 --json
      $ scenthound economy crawls/honey --out honey-agents
      $ scenthound crawl honey.toml --seed https://example.org/ --model honey-agents
    """
    from scenthound.papers.hayek.saved_state import describe_model
    from scenthound.store.model_folder import save_model

    model = _model_in(folder)
    if not model.strategy.startswith("hayek-"):
        raise BadConfig(
            f"the model in {folder} belongs to {model.strategy}, which has no economy",
            "choose a model trained with hayek-estimating or hayek-epsilon",
        )
    try:
        summary = describe_model(model.state, top)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        problem = f"contains a model that can't be used: {str(error)[:300]}"
        raise FolderBroken(folder, problem, "restore the original, or train it again") from None
    if target is not None:
        save_model(target, model)
    if as_json:
        emit({"model": str(folder), "strategy": model.strategy, **summary})
        return
    head = ["agent", "kind", "features", "wealth", "bid", "wins", "parent", "children"]
    rows = [
        [
            str(agent["agent"]),
            agent["kind"],
            printable(" ".join(agent["features"]), 60),
            f"{agent['wealth']:,.2f}",
            "explorer" if agent["bid"] is None else f"{agent['bid']:,.2f}",
            f"{agent['wins']:,}",
            "root" if agent["parent"] is None else str(agent["parent"]),
            str(agent["children"]),
        ]
        for agent in summary["agents"]
    ]
    out().print(table(head, rows, numbers=(0, 3, 4, 5, 6, 7)))
    money = summary["money"]
    say(
        f"{summary['population']:,} agents after {summary['sequences']:,} sequences at difficulty "
        f"{summary['difficulty']}; {summary['births']:,} births."
    )
    say(
        f"Money: {money['wealth']:,.2f} held by agents and {money['root']:,.2f} by the root = "
        f"{money['brought_in']:,.2f} brought in + {money['rewards']:,.2f} rewards - {money['taxes']:,.2f} taxes - "
        f"{money['buried']:,.2f} lost with dead agents."
    )
    if target is not None:
        say(f"Saved in {target}; use it with: scenthound crawl TOPIC --seed URL --model {target}")


def _model_in(folder: Path) -> TrainedModel:
    """The model in a model folder, or the learned state of the strategy in a crawl folder."""
    from scenthound.loop.folder import CrawlFolder
    from scenthound.papers.saved_agents import model_of_crawl
    from scenthound.store.model_folder import load_model

    if not (folder / "crawl.toml").is_file():
        return load_model(folder)
    with CrawlFolder.look(folder) as crawl:
        return model_of_crawl(crawl, datetime.now(UTC).isoformat(timespec="seconds"))
