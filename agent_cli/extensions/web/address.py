"""Addresses of the web: read strictly, resolved once, and never private by surprise."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Target
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.name_sets import names

MAX_CHARS = 8_000
_PORTS = {"http": 80, "https": 443}
_NOT_IN_ADDRESSES = re.compile(r"[\x00-\x20\x7f\\]")
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# IANA's special-purpose addresses, and site-local ones: older Pythons count some as public.
_SPECIAL_4 = names(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 "
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
_SPECIAL_6 = names(
    "::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 2002::/16 "
    "2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8"
)
_SPECIAL = tuple(map(ipaddress.ip_network, sorted(_SPECIAL_4 | _SPECIAL_6)))

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Address:
    """Where a request goes. Built from its parts only, so nobody can read it otherwise."""

    scheme: str
    host: str
    """Lower case, ASCII, without brackets: what rules match."""
    port: int
    path: str
    """With the query."""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address; raises ValueError with what is wrong in words."""
        if len(text) > MAX_CHARS:
            raise ValueError(f"it is longer than {MAX_CHARS:,} characters")
        if _NOT_IN_ADDRESSES.search(text):
            raise ValueError("it contains whitespace, a backslash or a control character")
        parts = urlsplit(text)
        if parts.scheme not in _PORTS:
            raise ValueError("it must start with http:// or https://")
        if parts.username is not None or parts.password is not None:
            raise ValueError("it contains a user name or password; leave it out")
        path = parts.path or "/"
        return cls(
            scheme=parts.scheme,
            host=_host(parts.hostname or ""),
            port=_PORTS[parts.scheme] if parts.port is None else parts.port,
            path=f"{path}?{parts.query}" if parts.query else path,
        )

    def towards(self, location: str) -> "Address":
        """Where a redirect from here leads."""
        return Address.parse(urljoin(str(self), location.strip()))

    @property
    def host_and_port(self) -> str:
        """The host, with its port where that is not the usual one."""
        return self._host_and_port(self.host)

    def at(self, ip: str) -> str:
        """The address with its host as a number: connecting to it needs no further look-up."""
        return f"{self.scheme}://{self._host_and_port(ip)}{self.path}"

    def _host_and_port(self, host: str) -> str:
        host = f"[{host}]" if ":" in host else host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_and_port}{self.path}"


async def resolve(address: Address, private_hosts: Iterable[str]) -> tuple[str, ...]:
    """The IP addresses to connect to; fails if one is private and that is not allowed."""
    found = tuple(dict.fromkeys(await _look_up(address)))
    if any(_is_meant(address.host, pattern) for pattern in private_hosts):
        return found
    for ip in found:
        if not is_public(ipaddress.ip_address(ip)):
            raise ToolFailure(_not_public(address.host, ip), type=FailureType.PERMISSION)
    return found


def is_public(ip: IpAddress) -> bool:
    """Whether it belongs to the open internet, whatever it is wrapped in."""
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if ip.teredo is not None:
            return False
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _not_public(host: str, ip: str) -> str:
    found = "is" if ip == host else f"resolves to {ip}, which is"
    return (
        f"{host} {found} not a public address, so nothing was sent. The user can allow it with "
        f'private_hosts = ["{host}"] under [web] in the configuration.'
    )


def host_target(params: Any) -> tuple[Target, ...]:
    """What a call touches: the host of its address."""
    return (Target("host", Address.parse(params.url).host),)


async def _look_up(address: Address) -> list[str]:
    def look_up() -> list[str]:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        # A scope (fe80::1%eth0) is no part of the address itself.
        return [str(where[0]).partition("%")[0] for *_, where in found]

    try:
        return await in_own_thread(look_up)
    except (OSError, UnicodeError) as error:
        raise ToolFailure(f"Cannot resolve the host {address.host}: {error}.") from error


def _host(name: str) -> str:
    if ":" in name:
        if "%" in name:
            raise ValueError("its host includes a network interface of this machine")
        try:
            return str(ipaddress.IPv6Address(name))
        except ValueError as error:
            raise ValueError("its host is not a valid address") from error
    try:
        ascii_name = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise ValueError("its host is not a valid name") from error
    ascii_name = ascii_name.lower().removesuffix(".")
    if not _HOST_NAME.fullmatch(ascii_name) or len(ascii_name) > 253:
        raise ValueError("its host is missing or not a valid name")
    return ascii_name


def _is_meant(host: str, pattern: str) -> bool:
    wanted = pattern.lower().strip("[]")
    if wanted.startswith("*."):
        return host.endswith(wanted[1:])
    return host == wanted
