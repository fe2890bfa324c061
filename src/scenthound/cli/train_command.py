"""`scenthound train`: train a strategy before it crawls."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, repeatable, say
from scenthound.cli.shell_words import strategies_named
from scenthound.formats import printable


@click.command()
@click.argument("strategy", shell_complete=strategies_named)
@option(
    "--topic",
    "TOPIC.toml",
    "What to learn; `scenthound topic new` makes such a file from examples.",
    required=True,
    type=click.Path(path_type=Path),
)
@option(
    "--from source", "BED_OR_CRAWL", "Known pages: a bed, a crawl folder, or a folder of HTML pages.", required=True
)
@option("--out", "DIR", "The folder of the new model.", required=True, type=click.Path(path_type=Path))
@repeatable("--set pairs", "KEY=VALUE", "A parameter of the strategy.")
@option(
    "--taxonomy",
    "PLACE",
    "Categories: an ODP dump, a bed with topics, or a folder of folders.  [default: what the topic file names]",
    type=click.Path(path_type=Path),
)
@option("--seed-number", "N", "Random seed.", type=int, default=0, show_default=True)
@json_option
def train(strategy: str, topic: Path, source: str, out: Path, as_json: bool, **options: Any) -> None:
    """Train STRATEGY for a topic, and save what it learned in a folder.

    The folder holds plain JSON and arrays, and says what it was trained on. Use it with `scenthound crawl --model`.

    \b
      $ scenthound train context-graph --topic reefs.toml --from beds/reefs --out reefs-model
      $ scenthound crawl reefs.toml --seeds reefs.txt --model reefs-model
    """
    from scenthound.lab.run.train_model import train as learn

    model = learn(
        strategy,
        topic,
        source,
        out,
        parameters=dict(map(key_value, options.pop("pairs"))),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        jobs=2,
        progress=None if as_json else lambda sentence: say(printable(sentence, 200)),
        **options,
    )
    on = model.trained_on
    if as_json:
        emit(
            {
                "model": str(out),
                "strategy": model.strategy,
                "parameters": dict(model.parameters),
                "trained_on": {"kind": on.kind, "name": on.name, "digest": on.digest, "counts": dict(on.counts)},
                "digest": model.digest,
            }
        )
        return
    click.echo(out)
    say(f"Use it with: scenthound crawl {shlex.quote(str(topic))} --seed URL --model {shlex.quote(str(out))}")
