"""`scenthound train`: let a strategy learn before it crawls."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, say
from scenthound.cli.shell_words import strategies_named


@click.command()
@click.argument("strategy", shell_complete=strategies_named)
@click.option(
    "--topic",
    required=True,
    type=click.Path(path_type=Path),
    metavar="TOPIC.toml",
    help="What to learn; `scenthound topic new` makes such a file from examples.",
)
@click.option(
    "--from",
    "source",
    required=True,
    metavar="BED_OR_CRAWL",
    help="The web that is known already: a bed, a crawl folder, or a folder of HTML pages.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="The new model's folder.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A parameter of the strategy.")
@click.option(
    "--taxonomy",
    type=click.Path(path_type=Path),
    metavar="PLACE",
    help="Categories: an ODP dump, a bed with topics, or a folder of folders.  [default: what the topic file names]",
)
@click.option("--seed-number", type=int, default=0, show_default=True, help="Number that all chance is drawn from.")
@json_option
def train(
    strategy: str,
    topic: Path,
    source: str,
    out: Path,
    pairs: tuple[str, ...],
    taxonomy: Path | None,
    seed_number: int,
    as_json: bool,
) -> None:
    """Let STRATEGY learn what a topic looks like, and keep what it learned in a folder.

    The folder holds plain JSON and arrays, and says what it was trained on. Use it with `scenthound crawl --model`.

    \b
      $ scenthound train context-graph --topic reefs.toml --from beds/reefs --out reefs-model
      $ scenthound crawl reefs.toml --seeds reefs.txt --model reefs-model
    """
    from scenthound.cli.lab_beds import pair
    from scenthound.exports.clean import clean
    from scenthound.lab.run.train_model import train as learn

    model = learn(
        strategy,
        topic,
        source,
        out,
        parameters=dict(map(pair, pairs)),
        taxonomy=taxonomy,
        seed_number=seed_number,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        jobs=2,
        progress=None if as_json else lambda sentence: say(clean(sentence, 200)),
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
    say(f"Use it with: scenthound crawl {topic} --seed URL --model {out}")
