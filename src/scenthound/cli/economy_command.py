"""`scenthound economy`: the richest agents of a trained Hayek economy, and its money balance."""

from __future__ import annotations

from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.errors import BadConfig, FolderBroken
from scenthound.formats import printable


@click.command()
@click.argument("folder", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(min=0), default=20, show_default=True, help="How many agents to show.")
@json_option
def economy(folder: Path, top: int, as_json: bool) -> None:
    """Show the richest agents of a trained Hayek economy, and its money balance.

    \b
      $ scenthound economy model
      $ scenthound economy model --top 5 --json
    """
    from scenthound.store.model_folder import load_model
    from scenthound.strategies.hayek.saved_state import describe_model

    model = load_model(folder)
    if not model.strategy.startswith("hayek-"):
        raise BadConfig(
            f"the model in {folder} is of {model.strategy}, which has no economy",
            "name a model that hayek-estimating or hayek-epsilon was trained to",
        )
    try:
        summary = describe_model(model.state, top)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        problem = f"is a model that can't be used: {str(error)[:300]}"
        raise FolderBroken(folder, problem, "put the original back, or train it again") from None
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
        f"{summary['difficulty']}; {summary['births']:,} were born."
    )
    say(
        f"Money: {money['wealth']:,.2f} with agents and {money['root']:,.2f} with the root = "
        f"{money['brought_in']:,.2f} brought in + {money['rewards']:,.2f} rewards - {money['taxes']:,.2f} taxes - "
        f"{money['buried']:,.2f} of the dead."
    )
