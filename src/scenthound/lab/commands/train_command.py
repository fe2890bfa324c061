"""`scenthound train`: train a strategy before it crawls."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, repeatable, say
from scenthound.cli.shell_words import complete_sources, complete_strategies
from scenthound.cli.sources_command import private_option, source_settings
from scenthound.errors import BadConfig, BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.lab.run.lesson_sources import Source


@click.command()
@click.argument("strategy", shell_complete=complete_strategies)
@option(
    "--topic",
    "TOPIC.toml",
    "The topic to learn; `scenthound topic new` makes such a file from examples.",
    required=True,
    type=click.Path(path_type=Path),
)
@option("--from source", "BED_OR_CRAWL", "Pages to learn from: a bed, a crawl folder, or a folder of HTML pages.")
@repeatable(
    "--source sources",
    "NAME:ADDRESS",
    "Instead of --from: fetch the pages around the topic's examples; this source finds pages that link to them.",
    shell_complete=complete_sources,
)
@click.option(
    "--layers",
    type=click.IntRange(1, 10),
    default=3,
    show_default=True,
    help="With --source: how many links to go back from the examples.",
)
@option("--contact", "MAIL", "With --source: address for site owners, sent in the User-Agent.")
@option("--proxy", "URL", "With --source: fetch through this proxy (http://, socks5://).", default="")
@private_option
@option("--out", "DIR", "Folder of the new model.", required=True, type=click.Path(path_type=Path))
@repeatable("--set pairs", "KEY=VALUE", "A parameter of the strategy.")
@option(
    "--taxonomy",
    "PLACE",
    "Categories: an ODP dump, a bed with topics, or a folder of folders of text.  [default: from the topic file]",
    type=click.Path(path_type=Path),
)
@option(
    "--judge",
    "NAME",
    "Judge to use, for strategies that need one (goal=judge); see `scenthound judges`.",
    default="topic",
    show_default=True,
)
@option("--seed-number", "N", "Random seed.", type=int, default=0, show_default=True)
@json_option
def train(strategy: str, topic: Path, source: str | None, out: Path, as_json: bool, **options: Any) -> None:
    """Train STRATEGY for a topic, and save the model in a folder.

    The folder contains plain JSON and arrays, and records the training data. Use it with `scenthound crawl --model`.

    \b
      $ scenthound train context-graph --topic reefs.toml --from beds/reefs --out reefs-model
      $ scenthound crawl reefs.toml --seeds reefs.txt --model reefs-model
      $ scenthound train reinforcement --topic reefs.toml --source searxng:https://search.example.org/ --out model
    """
    from scenthound.lab.run.train_model import train as learn

    live = {key: options.pop(key) for key in ("sources", "layers", "contact", "allow_private", "proxy")}
    if (source is None) == (not live["sources"]):
        raise BadUsage(
            "choose one source of training pages", "give either --from BED_OR_CRAWL, or --source NAME:ADDRESS"
        )
    if live["proxy"] and not live["sources"]:
        raise BadUsage("--proxy needs --source", "pages of --from are read from disk")
    progress = (lambda sentence: None) if as_json else (lambda sentence: say(printable(sentence, 200)))
    model = learn(
        strategy,
        topic,
        source if source is not None else partial(_gather_live, topic, live, options["seed_number"], progress),
        out,
        parameters=dict(map(key_value, options.pop("pairs"))),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        jobs=2,
        progress=progress,
        **options,
    )
    trained_on = model.trained_on
    if as_json:
        emit(
            {
                "model": str(out),
                "strategy": model.strategy,
                "parameters": dict(model.parameters),
                "trained_on": {
                    "kind": trained_on.kind,
                    "name": trained_on.name,
                    "digest": trained_on.digest,
                    "counts": dict(trained_on.counts),
                },
                "digest": model.digest,
            }
        )
        return
    click.echo(out)
    say(f"Use it with: scenthound crawl {shlex.quote(str(topic))} --seed URL --model {shlex.quote(str(out))}")


def _gather_live(topic: Path, live: dict[str, Any], seed_number: int, progress: Callable[[str], None]) -> Source:
    """Fetch the web around the examples of a topic file."""
    from scenthound.lab.topics.example_file import read_topic_file
    from scenthound.lab.topics.example_sources import AroundSamples, gather_around

    topic_file = read_topic_file(topic)
    samples = list(dict.fromkeys([*(example.url for example in topic_file.examples), *topic_file.topic.examples]))
    if not samples:
        raise BadConfig(f"{topic} has no example pages", 'add a line: examples = ["https://example.org/page"]')
    rules = AroundSamples(layers=live.pop("layers"), seed_number=seed_number)
    return gather_around(samples, source_settings(live), rules, say=progress)
