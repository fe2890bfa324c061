"""Makes connections: name lookup, the check of the very address that is connected to next, TLS, proxies."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import re
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from scenthound.errors import BadConfig
from scenthound.web.addresses import Network, forbidden, literal
from scenthound.web.connection import Connection, FetchLimits
from scenthound.web.http_reply import FetchError, ReplyReader

MOST_NAMES = 50_000  # whose addresses are kept in memory
PATIENCE = 2.0  # seconds for one address of several, before the next is tried
_USUAL_PORTS = {"http": 80, "https": 443}
_PROXY = re.compile(
    r"(?:(?P<scheme>[a-z0-9]+)://)?(?:(?P<user>[^@/]*)@)?(?P<host>\[[0-9a-f:.]+\]|[^/:@\[\]]+)(?::(?P<port>[0-9]{1,5}))?/?",
    re.IGNORECASE,
)


class WebServer(NamedTuple):
    """A server of web pages."""

    is_tls: bool
    host: str
    """Without brackets."""
    port: int


class Resolver(Protocol):
    """Looks up the addresses of a name."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Its addresses, the best first. Raises OSError if it has none."""
        ...

    async def close(self) -> None: ...


class ThreadedResolver:
    """The system's resolver in threads of its own, so that slow names delay no other work."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lookup")

    async def resolve(self, host: str) -> Sequence[str]:
        ask = partial(socket.getaddrinfo, host, 0, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except UnicodeError:
            raise OSError("no host name") from None
        return list(dict.fromkeys(str(address[0]) for *_, address in found))

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Proxy(NamedTuple):
    """A proxy that all requests go through."""

    scheme: str
    host: str
    port: int
    user: str = ""
    """As `name:password`."""

    @classmethod
    def parse(cls, text: str) -> Proxy:
        """The proxy at `http://user:password@host:port` or `socks5://host:port`; raises `BadConfig`."""
        way_out = "write http://host:port, http://user:password@host:port or socks5://host:port"
        match = _PROXY.fullmatch(text)
        scheme = (match["scheme"] or "").lower() if match else ""
        port = int((match and match["port"]) or _USUAL_PORTS.get(scheme, 0))
        if match is None or not 0 < port < 65_536:
            raise BadConfig("not a usable proxy address", way_out)  # it may hold a password: not shown
        scheme = scheme or "http"
        if scheme not in ("http", "https", "socks4", "socks4a", "socks5", "socks5h"):
            raise BadConfig(f"no proxy of the kind `{scheme}`", way_out)
        if scheme.startswith("socks") and importlib.util.find_spec("python_socks") is None:
            raise BadConfig("a SOCKS proxy needs the package python-socks", "pip install scenthound[socks]")
        return cls(scheme, match["host"].strip("[]"), port, match["user"] or "")

    @property
    def is_socks(self) -> bool:
        return self.scheme.startswith("socks")

    @property
    def authorization(self) -> str:
        """The line of a request that says who we are; empty if the proxy does not ask."""
        if not self.user:
            return ""
        return f"Proxy-Authorization: Basic {base64.b64encode(unquote(self.user).encode()).decode()}\r\n"


class Connector:
    """Makes connections within the limits, and only to allowed addresses."""

    def __init__(
        self,
        limits: FetchLimits,
        allowed: Sequence[Network],
        proxy: Proxy | None,
        verify_tls: bool,
        resolver: Resolver | None,
    ) -> None:
        self._limits, self._allowed, self._proxy, self._verify_tls = limits, allowed, proxy, verify_tls
        self._resolver = resolver or ThreadedResolver(limits.lookups)
        self._names: dict[str, tuple[float, Sequence[str]]] = {}  # addresses by name, and until when they hold

    async def close(self) -> None:
        await self._resolver.close()

    async def addresses(self, host: str) -> Sequence[str]:
        """The addresses of a host. Raises `FetchError` if it has none."""
        if (address := literal(host)) is not None:
            return (address,)
        now = asyncio.get_running_loop().time()
        until, found = self._names.get(host, (0.0, ()))
        if until <= now:
            try:
                found = await self._resolver.resolve(host)
            except OSError as error:
                again = error.errno == socket.EAI_AGAIN
                raise FetchError("dns", error.strerror or str(error) or "no such name", may_retry=again) from None
            if not found:
                raise FetchError("dns", "no address")
            self._names.pop(host, None)
            self._names[host] = (now + self._limits.names_kept, found)
            if len(self._names) > MOST_NAMES:
                del self._names[next(iter(self._names))]
        return found

    async def connect(self, target: WebServer, ends: float) -> Connection:
        """A new connection to a server, or to the proxy that will ask it, until the moment `ends`.

        Raises `FetchError`.
        """
        _check_name(target)
        try:
            now = asyncio.get_running_loop().time()
            async with asyncio.timeout_at(min(now + self._limits.connect, ends)):
                if self._proxy is None:
                    return await self._direct(target)
                try:
                    return await self._through(self._proxy, target, ends)
                except FetchError as error:  # names and servers are the proxy's business: what failed was reaching it
                    if error.reason in ("dns", "connect"):
                        raise FetchError("proxy", str(error), may_retry=True) from None
                    raise
        except TimeoutError:
            raise FetchError("timeout", f"no connection within {self._limits.connect:g} s", may_retry=True) from None

    async def _direct(self, target: WebServer) -> Connection:
        addresses = await self.addresses(target.host)
        judged = [(address, forbidden(address, self._allowed)) for address in addresses]
        allowed = [address for address, why in judged if why is None]
        if not allowed:
            address, why = judged[0]
            raise FetchError("refused-address", f"address not allowed: {address} is {why}")
        address, connected = await self._first(allowed, target.port)
        return await self._open(connected, target.host if target.is_tls else None, address)

    async def _first(self, addresses: Sequence[str], port: int) -> tuple[str, socket.socket]:
        """The first of some addresses that can be connected to."""
        for number, address in enumerate(addresses, 1):
            try:
                async with asyncio.timeout(PATIENCE if number < len(addresses) else None):
                    return address, await _connected(address, port)
            except (OSError, TimeoutError) as error:
                if number == len(addresses):
                    raise FetchError("connect", f"{address}: {error.strerror or error}", may_retry=True) from None
        raise AssertionError("there is at least one address")

    async def _open(self, connected: socket.socket, tls_name: str | None, address: str) -> Connection:
        """The connection on a socket, with TLS if there is a name to be verified."""
        loop = asyncio.get_running_loop()
        context = None if tls_name is None else self._tls
        try:
            _, connection = await loop.create_connection(
                partial(Connection, self._limits, address), sock=connected, ssl=context, server_hostname=tls_name
            )
        except ssl.SSLError as error:
            raise FetchError("tls", error.reason or str(error)) from None
        except OSError as error:
            raise FetchError("connect", error.strerror or str(error), may_retry=True) from None
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()  # reads all certificates: 25 ms, so only when needed
        context.set_alpn_protocols(["http/1.1"])
        if not self._verify_tls:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    # ---- proxies

    async def _through(self, proxy: Proxy, target: WebServer, ends: float) -> Connection:
        if proxy.is_socks:
            return await self._open(await _socks(proxy, target), target.host if target.is_tls else None, "")
        _, connected = await self._first(await self.addresses(proxy.host), proxy.port)
        connection = await self._open(connected, proxy.host if proxy.scheme == "https" else None, "")
        return await self._tunnel(connection, proxy, target, ends) if target.is_tls else connection

    async def _tunnel(self, connection: Connection, proxy: Proxy, target: WebServer, ends: float) -> Connection:
        """A connection through the proxy to the server itself (RFC 9110, 9.3.6)."""
        host = f"[{target.host}]" if ":" in target.host else target.host
        request = f"CONNECT {host}:{target.port} HTTP/1.1\r\nHost: {host}:{target.port}\r\n{proxy.authorization}\r\n"
        reader = ReplyReader(self._limits.header_bytes, self._limits.header_count, without_body=True)
        try:
            await connection.exchange(request.encode(), reader, 0, ends, asyncio.Semaphore())
        except FetchError as error:
            raise FetchError("proxy", str(error), may_retry=True) from None
        if reader.status // 100 != 2:
            raise FetchError("proxy", f"it replied {reader.status} {reader.reason}", may_retry=reader.status >= 500)
        inside = Connection(self._limits)
        loop = asyncio.get_running_loop()
        try:
            upgraded = await loop.start_tls(connection.transport, inside, self._tls, server_hostname=target.host)
        except ssl.SSLError as error:
            raise FetchError("tls", str(error)) from None
        except OSError as error:
            raise FetchError("proxy", str(error), may_retry=True) from None
        assert upgraded is not None
        inside.connection_made(upgraded)
        return inside


def _check_name(target: WebServer) -> None:
    """Raise for a name that no certificate can have: `ssl` would refuse it when the connection is made already."""
    try:
        target.host.encode("idna" if target.is_tls else "ascii")
    except UnicodeError as error:
        raise FetchError("bad-url", f"{target.host}: {error}") from None


async def _connected(address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made


async def _socks(proxy: Proxy, target: WebServer) -> socket.socket:
    from python_socks.async_.asyncio import Proxy as SocksProxy

    user = f"{proxy.user}@" if proxy.user else ""
    scheme = proxy.scheme.rstrip("ah")
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    try:
        socks = SocksProxy.from_url(f"{scheme}://{user}{host}:{proxy.port}", rdns=True)
        connected: socket.socket = await socks.connect(target.host, target.port)
    except TimeoutError:
        raise
    except Exception as error:
        raise FetchError("proxy", str(error) or type(error).__name__, may_retry=True) from None
    return connected
