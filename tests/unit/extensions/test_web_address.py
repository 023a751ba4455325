"""Addresses are read strictly, and what is private is known in every disguise."""

import ipaddress

import pytest

from agent_cli.core.errors import ToolFailure
from agent_cli.extensions.web.address import Address, is_public
from agent_cli.extensions.web.http_client import _next_hop


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("https://Docs.Python.org", "https://docs.python.org/"),
        ("http://example.org.:80/a?b=c#d", "http://example.org/a?b=c"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("HTTPS://EXAMPLE.ORG/%20", "https://example.org/%20"),
    ],
)
def test_an_address_is_read_into_its_parts(text: str, read: str) -> None:
    assert str(Address.parse(text)) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user@example.org/",
        "http://user:password@example.org/",
        "https://good.example\\@evil.example/",
        "https://good.example\t.evil.example/",
        "https://good.example /",
        "https://good.example\r\nHost: evil/",
        "http://evil%00.good.example/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://-.example/",
        "http://a..b/",
        "https://example.org/" + "a" * 9_000,
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Address.parse(text)


@pytest.mark.parametrize(
    "ip",
    [
        "127.0.0.1",
        "127.9.9.9",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2002:c0a8:101::",
        "2001::1",
        "2001:db8::1",
        "fec0::1",
        "3fff::1",
        "5f00::1",
        "64:ff9b:1::808:808",
        "192.0.0.8",
        "192.88.99.1",
    ],
)
def test_what_is_not_of_the_open_internet_is_known(ip: str) -> None:
    assert not is_public(ipaddress.ip_address(ip))


@pytest.mark.parametrize(
    "ip", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_what_is_of_the_open_internet_is_known(ip: str) -> None:
    assert is_public(ipaddress.ip_address(ip))


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("https://other.example/", "redirects to another host, other.example"),
        ("//other.example/", "redirects to another host, other.example"),
        ("https://sub.good.example/", "redirects to another host, sub.good.example"),
        ("http://good.example/", "is not encrypted"),
        ("file:///etc/passwd", "cannot be used"),
        ("https://user:pw@good.example/", "cannot be used"),
        ("https://good.example\\.evil.example/", "cannot be used"),
    ],
)
def test_a_redirect_that_leads_elsewhere_is_not_followed(location: str, why: str) -> None:
    with pytest.raises(ToolFailure, match=why):
        _next_hop(Address.parse("https://good.example/a/b"), location)


def test_a_redirect_within_the_host_is_followed() -> None:
    start = Address.parse("http://good.example/a/b?c")
    assert str(_next_hop(start, "../d?e")) == "http://good.example/d?e"
    assert str(_next_hop(start, "https://GOOD.example./")) == "https://good.example/"
