"""Addresses to which a crawler must not connect: address in, reason out."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.url import host, resolve
from scenthound.web.addresses import forbidden, forbidden_name, literal, parse_networks

REASONS = {
    "127.0.0.1": "loopback",
    "127.255.3.4": "loopback",
    "::1": "loopback",
    "[::1]": "loopback",
    "10.1.2.3": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "fc00::1": "private",
    "fd12:3456::1": "private",
    "fec0::1": "private",
    "169.254.1.1": "link-local",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "169.254.169.254": "metadata",
    "fd00:ec2::254": "metadata",
    "100.100.100.200": "metadata",
    "168.63.129.16": "metadata",
    "100.64.0.1": "cgnat",
    "100.127.255.255": "cgnat",
    "224.0.0.1": "multicast",
    "239.255.255.250": "multicast",
    "ff02::1": "multicast",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "::": "unspecified",
    "255.255.255.255": "broadcast",
    "240.0.0.1": "reserved",
    "192.0.2.1": "reserved",
    "198.18.0.1": "reserved",
    "203.0.113.9": "reserved",
    "2001:db8::1": "reserved",
    "::7f00:1": "reserved",
    "4000::1": "reserved",
    "::ffff:127.0.0.1": "ipv4-mapped loopback",
    "::ffff:10.0.0.1": "ipv4-mapped private",
    "::ffff:169.254.169.254": "ipv4-mapped metadata",
    "::ffff:8.8.8.8": "ipv4-mapped",
    "64:ff9b::8.8.8.8": "nat64",
    "64:ff9b:1::8.8.8.8": "nat64",
    "64:ff9b::127.0.0.1": "nat64 loopback",
    "64:ff9b::a00:1": "nat64 private",
    "64:ff9b:1::10.0.0.1": "nat64 private",
    "64:ff9b:1:7f00:0:100::": "nat64 loopback",
    "64:ff9b:1:7f00:0:100:808:808": "nat64 loopback",
    "64:ff9b:1::": "nat64 unspecified",
    "2002:7f00:1::": "6to4 loopback",
    "2002:c0a8:101::1": "6to4 private",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe": "teredo private",
    "2001:0:7f00:1:0:0:f7f7:f7f7": "teredo loopback",
    "": "not-an-address",
    "example.org": "not-an-address",
    "127.1": "not-an-address",
    "0177.0.0.1": "not-an-address",
}
PUBLIC = [
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "2606:2800:220:1::1",
    "2002:808:808::1",
]


@pytest.mark.parametrize(("address", "reason"), REASONS.items())
def test_an_address_that_is_not_public_is_refused_with_its_reason(address: str, reason: str) -> None:
    assert forbidden(address, ()) == reason


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not_refused(address: str) -> None:
    assert forbidden(address, ()) is None


@given(st.ip_addresses())
def test_whatever_python_calls_private_is_refused(address: IPv4Address | IPv6Address) -> None:
    translated = isinstance(address, IPv6Address) and (address.ipv4_mapped or address.sixtofour or address.teredo)
    if not address.is_global and not translated:
        assert forbidden(str(address), ()) is not None


@given(st.ip_addresses(v=4))
def test_an_address_in_disguise_is_refused_and_named_by_what_it_hides(address: IPv4Address) -> None:
    plain = forbidden(str(address))
    for prefix, name in ((0xFFFF << 32, "ipv4-mapped"), (0x64FF9B << 96, "nat64")):
        disguised = str(IPv6Address(prefix | int(address)))
        assert forbidden(disguised) == (f"{name} {plain}" if plain else name)


@given(st.text(max_size=60))
def test_any_text_gets_an_answer_and_no_exception(text: str) -> None:
    try:
        ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        assert forbidden(text) == "not-an-address"


def test_an_allowed_network_is_allowed_and_nothing_beside_it() -> None:
    allowed = parse_networks(["loopback", "10.0.0.0/8", "192.168.1.7"])
    assert forbidden("127.0.0.1", allowed) is None
    assert forbidden("::1", allowed) is None
    assert forbidden("::ffff:127.0.0.1", allowed) is None
    assert forbidden("10.9.9.9", allowed) is None
    assert forbidden("192.168.1.7", allowed) is None
    assert forbidden("192.168.1.8", allowed) == "private"
    assert forbidden("169.254.169.254", allowed) == "metadata"


def test_all_allows_everything() -> None:
    allowed = parse_networks(["all"])
    assert [address for address in REASONS if forbidden(address, allowed) not in (None, "not-an-address")] == []


@pytest.mark.parametrize(
    ("word", "hint"),
    [("10.0.0.1/8", "did you mean `10.0.0.0/8`?"), ("lopback", "loopback"), ("", "loopback"), ("::1/129", "loopback")],
)
def test_a_network_that_is_none_is_bad_configuration_with_a_hint(word: str, hint: str) -> None:
    with pytest.raises(BadConfig) as caught:
        parse_networks([word])
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "raw",
    [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:0:0:1]/",
    ],
)
def test_a_number_that_hides_the_loopback_is_an_address_once_resolved(raw: str) -> None:
    reason = forbidden_name(host(resolve(raw)))
    assert reason is not None
    assert reason.endswith("loopback")


def test_a_host_that_a_proxy_will_look_up_is_judged_by_its_name() -> None:
    assert forbidden_name("example.org") is None
    assert forbidden_name("localhost") == "loopback"
    assert forbidden_name("a.b.LocalHost.") == "loopback"
    assert forbidden_name("localhost", parse_networks(["loopback"])) is None
    assert forbidden_name("[fe80::1]") == "link-local"
    for internal in ("intranet", "Wiki.", "nas.LAN", "a.b.internal", "router.home.arpa"):
        assert forbidden_name(internal) == "internal"
        assert forbidden_name(internal, parse_networks(["loopback"])) == "internal"
        assert forbidden_name(internal, parse_networks(["10.0.0.0/8"])) is None
    assert forbidden_name("www.local.example.org") is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("127.0.0.1.nip.io", "loopback"),
        ("app.127.0.0.1.nip.io", "loopback"),
        ("app-127-0-0-1.nip.io", "loopback"),
        ("7f000001.nip.io", "loopback"),
        ("customer-app-0A000001.nip.io.", "private"),
        ("10-0-0-1.sslip.io", "private"),
        ("www.192-168-0-1.sslip.io", "private"),
        ("--1.sslip.io", "loopback"),
        ("fe80--1.sslip.io", "link-local"),
        ("169.254.169.254.nip.io", "metadata"),
        ("8.8.8.8.10.0.0.1.nip.io", "private"),
        ("10.0.0.1.8.8.8.8.nip.io", "private"),
        ("8.10.0.0.1.example.org", "private"),
        ("localtest.me", "loopback"),
        ("any.lvh.me", "loopback"),
    ],
)
def test_a_name_that_spells_out_a_private_address_is_not_given_to_a_proxy(name: str, reason: str) -> None:
    assert forbidden_name(name) == f"{reason} by name"
    assert forbidden_name(name, parse_networks(["all"])) is None


@pytest.mark.parametrize(
    "name",
    [
        *("8.8.8.8.nip.io", "8-8-8-8.sslip.io", "08080808.nip.io", "nip.io", "www.nip.io"),
        *("release-10-0-0-1.example.org", "7f000001.example.org", "10.0.0.example.org", "10.0.0.1x.example.org"),
        *("300.0.0.1.example.org", "localtest.me.example.org", "mylvh.me", "10.example.org", "v10.0.0.1a.org"),
    ],
)
def test_a_name_with_numbers_of_another_kind_is_given_to_a_proxy(name: str) -> None:
    assert forbidden_name(name) is None


def test_an_address_literal_is_distinguished_from_a_name() -> None:
    assert literal("[::1]") == "::1"
    assert literal("8.8.8.8") == "8.8.8.8"
    assert literal("example.org") is None
