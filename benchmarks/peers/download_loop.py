"""No crawler: every page once, by aiohttp, 64 at a time, nothing parsed, nothing kept. The ceiling of a Python loop.

python download_loop.py PAGES OUT LIST, where LIST is a file with a URL a line.
"""

import asyncio
import sys
from pathlib import Path

import aiohttp

PAGES, OUT, URLS = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).read_text().split()


async def main() -> None:
    waiting = iter(URLS[:PAGES])
    sizes: list[int] = []

    async def work(session: aiohttp.ClientSession) -> None:
        for url in waiting:
            async with session.get(url) as reply:
                sizes.append(len(await reply.read()))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work(session) for _ in range(64)))
    Path(OUT).write_text("".join(f"{size}\n" for size in sizes))


asyncio.run(main())
