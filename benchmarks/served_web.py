"""A web of real-sized pages on fifty loopback addresses, and two servers for it: nginx, and one that can be slow.

Every host has its own address (127.0.1.1, 127.0.1.2, …), so that no crawler needs a proxy or a resolver and all of
them see the same hosts. Every link leads to an existing page: a crawler that follows links never gets a 404.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.store.warc_repository import read_responses
from scenthound.web.content_type import to_text
from scenthound.web.decode import decompress

HREF = re.compile(r"""(<a\b[^>]*?\bhref\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /*.cgi$\nDisallow: /search?\nAllow: /\n"
BAR = 90  # links in the side bar of a generated page, as in documentation; without it a page has some 30 links


class Served(NamedTuple):
    """A web on disk, ready to be served."""

    folder: Path
    hosts: list[str]
    urls: list[str]
    """All pages, cycling through the hosts."""
    seeds: list[str]
    topic: str


class Source(NamedTuple):
    """A page before it gets its new address."""

    host: str
    url: str
    text: str


def address(number: int) -> str:
    return f"127.0.{1 + number // 250}.{1 + number % 250}"


def generated(pages: int, hosts: int, seed: int, size: int) -> Iterator[Source]:
    """Pages of the laboratory's generator, with a side bar of further links."""
    web = GeneratedWeb(pages=pages, seed=seed, page_size=size)
    for number in range(pages):
        host = f"h{number % hosts}.test"
        text = web.html(number)
        if size >= 20_000:
            rng = random.Random(
                f"{seed}:{number % hosts}:{number // hosts // 8}"
            )  # pages of a section share a side bar
            others = [rng.randrange(pages) for _ in range(BAR)]
            names = [html.escape(web.plan.names[web.plan.host_of(other)]) for other in others]
            items = "".join(
                f'<li class="toc"><a class="ref" href="/bar/{other}.html">{name} {other}</a></li>\n'
                for other, name in zip(others, names, strict=True)
            )
            text = text.replace("<footer>", f'<div class="side"><ul>\n{items}</ul></div>\n<footer>', 1)
        yield Source(host, f"http://{host}/{number}.html", text)


def recorded(bed: Path, pages: int, hosts: int) -> Iterator[Source]:
    """Real pages from the `hosts` largest hosts of a bed, taken from each host in turn."""
    pages_by_host: dict[str, list[Source]] = defaultdict(list)
    for file in sorted(bed.glob("*.warc.gz")):
        for _, _, reply in read_responses(file):
            kind = reply.header("content-type")
            if reply.status == 200 and "html" in kind:
                body = decompress(reply.body, reply.header("content-encoding"), limit=1 << 24, ratio=1000).data
                host = urlsplit(reply.url).netloc
                pages_by_host[host].append(Source(host, reply.url, to_text(body, kind)))
    largest = sorted(pages_by_host, key=lambda name: (-len(pages_by_host[name]), name))[:hosts]
    if len(largest) < hosts:  # too few hosts: spread the pages over made-up ones
        all_pages = [page for name in sorted(pages_by_host) for page in pages_by_host[name]]
        for number, page in enumerate(all_pages[:pages]):
            yield page._replace(host=f"h{number % hosts}.test")
        return
    for index in range(max(len(pages_by_host[name]) for name in largest)):
        for name in largest:
            if index < len(pages_by_host[name]) and pages > 0:
                pages -= 1
                yield pages_by_host[name][index]


def write_web(folder: Path, sources: Iterator[Source], port: int, topic: str) -> Served:
    """Write pages for nginx, plain and compressed. Links keep their number and position, and lead to pages here."""
    pages = list(sources)
    hosts: dict[str, int] = {}
    paths: dict[str, str] = {}
    host_paths: dict[str, list[str]] = defaultdict(list)
    all_urls: list[str] = []
    for number, page in enumerate(pages):
        host_number = hosts.setdefault(page.host, len(hosts))
        name = re.sub(r"[^a-z]+", "-", urlsplit(page.url).path.lower()).strip("-")[-40:] or "home"
        path = paths[page.url] = f"/docs/{name}-{number}.html"
        host_paths[page.host].append(path)
        all_urls.append(f"http://{address(host_number)}:{port}{path}")
    new_url = {page.url: all_urls[number] for number, page in enumerate(pages)}
    for page in pages:
        own = host_paths[page.host]
        following = own[(own.index(paths[page.url]) + 1) % len(own)]  # a ring: every page of a host can be reached

        def new_link(match: re.Match[str], page: Source = page, own: list[str] = own) -> str:
            raw = html.unescape(match[2].strip("\"'"))
            target = urljoin(page.url, raw).partition("#")[0]
            draw = zlib.crc32(target.encode("utf-8", "replace"))
            if target in new_url:
                new = new_url[target]
            elif raw.startswith("#"):
                new = raw
            elif urlsplit(target).netloc == urlsplit(page.url).netloc:
                new = own[draw % len(own)]
            else:
                new = all_urls[draw % len(all_urls)]
            return f'{match[1]}"{html.escape(new)}"'

        text = HREF.sub(new_link, page.text) + f'<p><a href="{following}">next</a></p>\n'
        _write(folder / address(hosts[page.host]), paths[page.url], text.encode("utf-8", "replace"))
    names = [address(host_number) for host_number in hosts.values()]
    for name in names:
        _write(folder / name, "/robots.txt", ROBOTS.encode())
    os.sync()  # otherwise the disk is still busy with this web while crawlers write theirs
    seeds = [f"http://{name}:{port}{host_paths[host][0]}" for host, name in zip(hosts, names, strict=True)]
    return Served(folder, names, all_urls, seeds, topic)


def _write(folder: Path, path: str, body: bytes) -> None:
    file = folder / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(body, 6, mtime=0))


NGINX = """
daemon off; worker_processes 1; pid {work}/pid; error_log {work}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_timeout 75; keepalive_requests 1000000;
  open_file_cache max=50000 inactive=10m; gzip_static on; charset utf-8; server_tokens off;
  types {{ text/html html; text/plain txt; }}
  client_body_temp_path {work}/a; proxy_temp_path {work}/b; fastcgi_temp_path {work}/c;
  uwsgi_temp_path {work}/d; scgi_temp_path {work}/e;
  server {{ {listen} root {root}/$server_addr; }}
}}
"""


@contextmanager
def nginx(served: Served, port: int, work: Path) -> Iterator[None]:
    """Serve the folder with nginx until the block ends."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise SystemExit("nginx is not installed: `scripts/system_tools.sh nginx` installs it or says how")
    work.mkdir(parents=True)
    work.chmod(0o755)
    listen = " ".join(f"listen {name}:{port};" for name in served.hosts)
    config = work / "nginx.conf"
    user = "user root;\n" if _is_root() else ""
    config.write_text(user + NGINX.format(work=work, listen=listen, root=served.folder))
    server = subprocess.Popen([program, "-c", str(config), "-p", str(work)], stderr=subprocess.DEVNULL)
    try:
        wait_for(served.hosts[0], port, server, work / "error.log")
        yield
    finally:
        server.terminate()
        server.wait()


@contextmanager
def slow_server(served: Served, port: int, latency: float) -> Iterator[None]:
    """Serve the folder from memory in a separate process; every answer comes `latency` seconds after its request."""
    command = [sys.executable, __file__, str(served.folder), str(port), str(latency), *served.hosts]
    server = subprocess.Popen(command)
    try:
        wait_for(served.hosts[-1], port, server)
        yield
    finally:
        server.terminate()
        server.wait()


def wait_for(name: str, port: int, server: subprocess.Popen[bytes], log: Path | None = None) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex((name, port)) == 0:
                return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    output = log.read_text()[-500:] if log is not None and log.exists() else ""
    raise SystemExit(f"the server did not start: {output}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_root() -> bool:
    return os.geteuid() == 0


class _Answers(asyncio.Protocol):
    """One connection of the slow server: answers each GET with the page at that address and path, after the latency."""

    def __init__(self, pages: dict[bytes, bytes], latency: float) -> None:
        self.pages, self.latency, self.rest = pages, latency, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.name = transport.get_extra_info("sockname")[0].encode()

    def data_received(self, data: bytes) -> None:
        self.rest += data
        while (end := self.rest.find(b"\r\n\r\n")) >= 0:
            head, self.rest = self.rest[:end], self.rest[end + 4 :]
            path = head.split(b" ", 2)[1]
            reply = self.pages.get(self.name + path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            asyncio.get_running_loop().call_later(self.latency, self.send, reply)

    def send(self, reply: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(reply)


async def _serve(folder: Path, port: int, latency: float, names: list[str]) -> None:
    pages: dict[bytes, bytes] = {}
    for file in folder.rglob("*.gz"):
        body = file.read_bytes()
        name = file.relative_to(folder).as_posix().removesuffix(".gz")
        kind = "text/plain" if name.endswith(".txt") else "text/html; charset=utf-8"
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        pages[name.encode()] = head.encode() + body
    loop = asyncio.get_running_loop()
    for name in names:
        await loop.create_server(lambda: _Answers(pages, latency), name, port, backlog=4096)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]))
