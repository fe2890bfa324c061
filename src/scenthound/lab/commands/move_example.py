"""`scenthound topic move`: move an example of a topic file to another category."""

from __future__ import annotations

from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, say
from scenthound.errors import BadUsage
from scenthound.formats import printable


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.argument("url", metavar="URL")
@click.argument("category", metavar="CATEGORY")
@json_option
def move(file: Path, url: str, category: str, as_json: bool) -> None:
    """Move an example to another category of the taxonomy; the next training uses it there.

    In a good category, or in one that has other examples of the topic, it counts as on topic. Anywhere else it becomes
    an example of what is off topic.

    \b
      $ scenthound topic move reefs.toml https://example.org/aquarium nature/zoos
      $ scenthound train focused-soft --topic reefs.toml --from beds/schools --out model
    """
    from scenthound.lab.topics.example_file import (
        examples_beside,
        list_example,
        move_example,
        read_topic_file,
        write_examples,
    )

    category = "/".join(part.strip() for part in category.split("/") if part.strip())
    if not category:
        raise BadUsage(
            "the category has no name", "for example: nature/reefs; `scenthound topic show` lists the categories in use"
        )
    moved, topic = move_example(read_topic_file(file), url, category)
    if not any(example.on_topic for example in topic.examples):
        raise BadUsage("no example would be left on topic", "move it to a good category, or add examples first")
    write_examples(examples_beside(file), topic.examples)
    file_is_updated = not moved.has_address or list_example(file, moved.url, moved.on_topic)
    if as_json:
        emit({"topic": str(file), "url": moved.url, "category": moved.category, "on_topic": moved.on_topic})
    else:
        side = "on" if moved.on_topic else "off"
        say(f"{printable(moved.url, 200)} is now in {printable(category, 100)}: {side} topic")
    if not file_is_updated:
        say(f"note: please correct `examples` in {file} by hand; it can be updated only if each URL is on its own line")
