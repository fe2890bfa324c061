"""`scenthound economy`: a trained economy in words: who is rich, by which features, and where the money is."""

from __future__ import annotations

from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, out, say, table


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
    from scenthound.errors import BadConfig, FolderBroken
    from scenthound.exports.clean import clean
    from scenthound.store.models import load_model
    from scenthound.strategies.hayek.saved_state import describe_model

    model = load_model(folder)
    if not model.strategy.startswith("hayek-"):
        raise BadConfig(
            f"the model in {folder} is of {model.strategy}, which has no economy",
            "show one that hayek-estimating or hayek-epsilon was trained to",
        )
    try:
        told = describe_model(model.state, top)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise FolderBroken(
            f"the model in {folder} can't be used: {str(error)[:300]}", "put the original back, or train it again"
        ) from None
    if as_json:
        emit({"model": str(folder), "strategy": model.strategy, **told})
        return
    head = ["agent", "kind", "features", "wealth", "bid", "wins", "parent", "children"]
    rows = [
        [
            str(one["agent"]),
            one["kind"],
            clean(" ".join(one["features"]), 60),
            f"{one['wealth']:,.2f}",
            "explorer" if one["bid"] is None else f"{one['bid']:,.2f}",
            f"{one['wins']:,}",
            "root" if one["parent"] is None else str(one["parent"]),
            str(one["children"]),
        ]
        for one in told["agents"]
    ]
    out().print(table(head, rows, numbers=(0, 3, 4, 5, 6, 7)))
    money = told["money"]
    say(
        f"{told['population']:,} agents after {told['sequences']:,} sequences at difficulty {told['difficulty']}; "
        f"{told['births']:,} were born."
    )
    say(
        f"Money: {money['wealth']:,.2f} with agents and {money['root']:,.2f} with the root = "
        f"{money['brought_in']:,.2f} brought in + {money['rewards']:,.2f} rewards - {money['taxes']:,.2f} taxes - "
        f"{money['buried']:,.2f} of the dead."
    )
