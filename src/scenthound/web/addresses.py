"""Decide which addresses a crawler of the public web must not connect to, and why.

An address that contains an IPv4 address (mapped, NAT64, 6to4, Teredo) is judged by that IPv4 address, because the
packets end up there. Mapped and NAT64 addresses are refused even if it is public, unless their network is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from scenthound.errors import BadConfig

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

NAMED: dict[str, tuple[str, ...]] = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "cgnat": ("100.64.0.0/10",),
    "all": ("0.0.0.0/0", "::/0"),
}
"""Names that `parse_networks` accepts in addition to networks and addresses."""


def _table(*rows: tuple[str, str]) -> tuple[tuple[Network, str], ...]:
    return tuple((ip_network(network), reason) for network, reason in rows)


# The first row that contains the address decides. From IANA's special-purpose registries (RFC 6890), and the addresses
# at which cloud providers serve credentials, two of which are in public or CGNAT space.
_SPECIAL_4 = _table(
    ("169.254.169.254/32", "metadata"),
    ("169.254.170.2/32", "metadata"),
    ("169.254.170.23/32", "metadata"),
    ("100.100.100.200/32", "metadata"),
    ("168.63.129.16/32", "metadata"),
    ("192.0.0.192/32", "metadata"),
    ("0.0.0.0/8", "unspecified"),
    ("127.0.0.0/8", "loopback"),
    ("10.0.0.0/8", "private"),
    ("172.16.0.0/12", "private"),
    ("192.168.0.0/16", "private"),
    ("169.254.0.0/16", "link-local"),
    ("100.64.0.0/10", "cgnat"),
    ("224.0.0.0/4", "multicast"),
    ("255.255.255.255/32", "broadcast"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "reserved"),
    ("192.88.99.0/24", "reserved"),
    ("198.18.0.0/15", "reserved"),
    ("198.51.100.0/24", "reserved"),
    ("203.0.113.0/24", "reserved"),
    ("240.0.0.0/4", "reserved"),
)
_SPECIAL_6 = _table(
    ("fd00:ec2::254/128", "metadata"),
    ("fd00:ec2::23/128", "metadata"),
    ("fd20:ce::254/128", "metadata"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("fc00::/7", "private"),
    ("fec0::/10", "private"),
    ("fe80::/10", "link-local"),
    ("ff00::/8", "multicast"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "reserved"),
    ("3fff::/20", "reserved"),
)
# RFC 6762 and its appendix G, RFC 8375, and ICANN's `internal`.
_INTERNAL = (
    *(".local", ".internal", ".intranet", ".private", ".corp", ".home", ".lan", ".localdomain", ".home.arpa"),
    *(".in-addr.arpa", ".ip6.arpa"),
)
# Services of the public DNS: a name below the first ones leads to the address written in it, a name below the others to
# the loopback. Anybody can use them; whoever owns a domain needs no such service.
_ADDRESS_IN_NAME = (".nip.io", ".sslip.io", ".xip.io", ".traefik.me", ".local-ip.co", ".local-ip.sh", ".backname.io")
_LOOPBACK_NAMES = ("localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "local.gd", "fuf.me", "localho.st")
_FOUR_LABELS = re.compile(r"(?<![0-9])(?=((?:[0-9]{1,3}\.){3}[0-9]{1,3})\.)")  # a lookahead, to find overlapping ones
_FOUR_PARTS = re.compile(r"(?<![0-9])(?=([0-9]{1,3}(?:-[0-9]{1,3}){3})(?![0-9]))")
_HEXADECIMAL = re.compile(r"(?<![0-9a-z])([0-9a-f]{8})(?![0-9a-z])")
_GLOBAL_6 = IPv6Network("2000::/3")  # all assigned addresses; the rest is reserved
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_NEVER = frozenset(("ipv4-mapped", "nat64"))
_NAT64_PREFIXES = (48, 56, 64, 96)  # where RFC 6052 puts the IPv4 address, by length of the prefix


def forbidden(address: str, allowed: Sequence[Network] = ()) -> str | None:
    """Why a crawler must not connect to `address`; None if it is public or in an allowed network.

    >>> forbidden("::ffff:169.254.169.254")
    'ipv4-mapped metadata'
    """
    try:
        parsed = ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return "not-an-address"
    return _reason_against(parsed, allowed)


def literal(host: str) -> str | None:
    """The address in the host of a URL, without brackets; None if the host is a name."""
    bare = host.strip("[]").partition("%")[0]
    try:
        return str(ip_address(bare))
    except ValueError:
        return None


def forbidden_name(host: str, allowed: Sequence[Network] = ()) -> str | None:
    """Like `forbidden`, for a host that a proxy looks up: literal addresses, `localhost` (RFC 6761), internal names,
    names that spell out an address for a service of the public DNS.

    A name without a dot, or in a domain that does not exist on the public web, means a machine in the proxy's network.
    It is refused unless a network other than loopback is allowed. Any other name may lead anywhere: only the proxy
    knows its address, and only the proxy can refuse it (docs/decisions/0053-folders-from-others.md).

    >>> forbidden_name("printer.local"), forbidden_name("intranet"), forbidden_name("example.org")
    ('internal', 'internal', None)
    >>> forbidden_name("10-0-0-1.sslip.io"), forbidden_name("shop.10.0.0.1.example.org")
    ('private by name', 'private by name')
    """
    address = literal(host)
    if address is not None:
        return forbidden(address, allowed)
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return forbidden("127.0.0.1", allowed)
    if reason := next(filter(None, (forbidden(spelt, allowed) for spelt in _spelt_addresses(name))), None):
        return f"{reason} by name"
    if ("." in name and not name.endswith(_INTERNAL)) or any(not network.is_loopback for network in allowed):
        return None
    return "internal"


def _spelt_addresses(name: str) -> Iterator[str]:
    """The addresses that a name may spell out: four numbers in any domain, other spellings for known services."""
    spelt = [match[1] for match in _FOUR_LABELS.finditer(name)]
    if name.endswith(_ADDRESS_IN_NAME):
        spelt += [match[1].replace("-", ".") for match in _FOUR_PARTS.finditer(name)]
        spelt += [str(IPv4Address(int(match[1], 16))) for match in _HEXADECIMAL.finditer(name)]
        spelt += [label.replace("-", ":") for label in name.split(".") if "-" in label]
    if name.endswith(tuple(f".{domain}" for domain in _LOOPBACK_NAMES)) or name in _LOOPBACK_NAMES:
        spelt.append("127.0.0.1")
    return (address for address in spelt if literal(address) is not None)


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks for texts such as `loopback`, `10.0.0.0/8`, `192.168.1.7`, `all`. Raises `BadConfig`."""
    networks: list[Network] = []
    for text in texts:
        name = text.strip().lower()
        for network in NAMED.get(name, (name,)):
            try:
                networks.append(ip_network(network))
            except ValueError:
                raise BadConfig(f"not a network: `{text}`", _hint(name)) from None
    return tuple(networks)


def _hint(name: str) -> str:
    try:
        return f"did you mean `{ip_network(name, strict=False)}`?"
    except ValueError:
        return f"write 10.0.0.0/8, an address, or one of {', '.join(NAMED)}"


def _reason_against(address: Address, allowed: Sequence[Network]) -> str | None:
    if any(address in network for network in allowed):
        return None
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in _SPECIAL_4 if address in network), None)
    embedded = list(_embedded_addresses(address))
    if embedded:
        if all(any(inner in network for network in allowed) for _, inner in embedded):
            return None
        reasons = [(kind, _reason_against(inner, allowed)) for kind, inner in embedded]
        worse = next((f"{kind} {reason}" for kind, reason in reasons if reason), None)
        return worse or next((kind for kind, _ in reasons if kind in _NEVER), None)
    special = next((reason for network, reason in _SPECIAL_6 if address in network), None)
    return special or (None if address in _GLOBAL_6 else "reserved")


def _embedded_addresses(address: IPv6Address) -> Iterator[tuple[str, IPv4Address]]:
    """The IPv4 addresses that `address` may lead to, each with the kind of translation."""
    if address.ipv4_mapped is not None:
        yield "ipv4-mapped", address.ipv4_mapped
    elif address in _NAT64:
        yield "nat64", IPv4Address(int(address) & 0xFFFFFFFF)
    elif address in _NAT64_LOCAL:
        # Only the translator knows its prefix, so every interpretation must be allowed. Those in 0.0.0.0/8 are the
        # padding of another interpretation.
        readings = {_after_prefix(int(address), length) for length in _NAT64_PREFIXES}
        likely = sorted(reading for reading in readings if reading >> 24)
        yield from (("nat64", IPv4Address(reading)) for reading in likely or [0])
    elif address.sixtofour is not None:
        yield "6to4", address.sixtofour
    elif address.teredo is not None:
        yield from (("teredo", end) for end in reversed(address.teredo))


def _after_prefix(address: int, length: int) -> int:
    """The 32 bits after the prefix, skipping bits 64 to 71 (RFC 6052, section 2.2)."""
    if length == 96:
        return address & 0xFFFFFFFF
    without_skipped = (address >> 64 << 56) | (address & ((1 << 56) - 1))
    return (without_skipped >> (120 - length - 32)) & 0xFFFFFFFF
