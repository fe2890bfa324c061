"""Shell completion of plug-in and setting names. Nothing is imported until Tab is pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def complete_strategies(ctx: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Names of strategies, each with a one-line description."""
    from scenthound.strategies import STRATEGIES

    return [_item(name, kind.__doc__) for name, kind in STRATEGIES.items() if name.startswith(prefix)]


def complete_judges(ctx: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Names of judges, each with a one-line description."""
    from scenthound.judges import JUDGES

    return [_item(name, kind.__doc__) for name, kind in JUDGES.items() if name.startswith(prefix)]


def complete_sources(ctx: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Names of seed sources, each with a one-line description, as `NAME:`."""
    from scenthound.sources import SOURCES

    return [_item(f"{name}:", kind.__doc__) for name, kind in SOURCES.items() if name.startswith(prefix)]


def complete_exporters(ctx: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Names of export formats, each with a one-line description."""
    from scenthound.exports import EXPORTERS

    return [_item(name, writer.__doc__) for name, writer in EXPORTERS.items() if name.startswith(prefix)]


def complete_settings(ctx: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Names of settings, and of the parameters of the strategy on the command line, as `KEY=`."""
    from dataclasses import fields

    from scenthound.loop.crawl_toml import DEFAULT_STRATEGY
    from scenthound.loop.settings import Settings
    from scenthound.strategies import STRATEGIES

    strategy = ctx.params.get("strategy") or DEFAULT_STRATEGY
    own = fields(STRATEGIES.get(strategy)) if strategy in STRATEGIES.names() else ()
    docs = {f.name: f.metadata.get("doc", "") for f in (*own, *fields(Settings)) if f.init}
    start = prefix.replace("-", "_")
    return [_item(f"{name}=", about) for name, about in sorted(docs.items()) if f"{name}=".startswith(start)]


def _item(value: str, about: str | None) -> CompletionItem:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, help=(about or "").strip().partition("\n")[0])
