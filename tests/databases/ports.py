"""Ports for servers that must get theirs again after they were away."""

import secrets
import socket
from contextlib import suppress

# Below those that the kernel gives to outgoing connections, so that none of these takes it meanwhile.
_PORTS = range(20_000, 30_000)


def free_port() -> int:
    """One on loopback that nobody listens at."""
    for port in secrets.SystemRandom().sample(_PORTS, 50):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("fifty ports were tried, and all are in use")
