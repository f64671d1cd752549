"""Which addresses are public; whatever hides another address is what it hides."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.outbound.addresses import Private, why_not_public, why_refused

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "168.63.129.15", "100.128.0.0", "172.32.0.1", "2606:4700::1111"]
INSIDE = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.1.2.3": "private",
    "100.64.0.1": "private (shared by a carrier)",
    "100.100.100.200": "cloud metadata",
    "127.0.0.1": "loopback",
    "127.8.9.10": "loopback",
    "168.63.129.16": "cloud metadata",
    "169.254.1.1": "link-local",
    "169.254.169.254": "cloud metadata",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.192": "cloud metadata",
    "192.168.0.1": "private",
    "198.18.0.1": "reserved",
    "203.0.113.7": "reserved",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::7f00:1": "reserved",
    "64:ff9b:1::1": "reserved",
    "100::1": "reserved",
    "2001:0:1::1": "reserved",
    "2001:db8::1": "reserved",
    "fd00:ec2::254": "cloud metadata",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fec0::1": "private",
    "ff02::1": "multicast",
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert why_not_public(address) is None


@pytest.mark.parametrize(("address", "kind"), INSIDE.items())
def test_not_public(address: str, kind: str) -> None:
    assert why_not_public(address) == kind


_HIDING = [(IPv6Network("::ffff:0:0/96"), 0), (IPv6Network("64:ff9b::/96"), 0), (IPv6Network("2002::/16"), 80)]


@given(st.ip_addresses(v=4) | st.sampled_from([IPv4Address(each) for each in INSIDE if ":" not in each]))
def test_an_address_inside_another_is_what_is_reached(hidden: IPv4Address) -> None:
    for network, shift in _HIDING:
        found = IPv6Address(int(network.network_address) | int(hidden) << shift)
        assert why_not_public(str(found)) == why_not_public(str(hidden))


@given(st.ip_addresses())
def test_never_laxer_than_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    """It may not be as strict as we are, and has changed; but what it calls private is never public to us."""
    if address.is_private or address.is_multicast or address.is_reserved or address.is_loopback:
        assert why_not_public(str(address)) is not None or any(address in network for network, _ in _HIDING)


@given(st.ip_addresses(v=6))
def test_only_global_unicast_is_public_in_ipv6(address: IPv6Address) -> None:
    if why_not_public(str(address)) is None:
        assert address in IPv6Network("2000::/3") or any(address in network for network, _ in _HIDING)


METADATA = ["169.254.169.254", "169.254.170.2", "fe80::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"]
METADATA += ["192.0.0.192", "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"]


@pytest.mark.parametrize(
    ("allowed", "reached", "refused"),
    [
        (False, ["1.1.1.1"], ["10.1.0.1", "127.0.0.1", *METADATA]),
        (True, ["1.1.1.1", "10.1.0.1", "127.0.0.1", "::1", "fd00::1", "100.64.0.1"], METADATA),
        ("10.1.0.0/16 127.0.0.1/32", ["10.1.255.1", "127.0.0.1", "::ffff:10.1.0.1"], ["10.2.0.1", "127.0.0.2", "::1"]),
        ("10.1.0.0/16", ["10.1.0.1"], METADATA),
        ("169.254.169.254/32", ["169.254.169.254", "::ffff:169.254.169.254"], ["169.254.169.253", "10.0.0.1"]),
        ("true fd00:ec2::254/128", ["10.0.0.1", "::1", "fd00:ec2::254"], ["169.254.169.254", "fe80::1"]),
    ],
)
def test_metadata_is_refused_unless_named(allowed: Private, reached: list[str], refused: list[str]) -> None:
    assert {each: why_refused(each, allowed) for each in reached} == dict.fromkeys(reached)
    assert [each for each in refused if why_refused(each, allowed) is None] == []
