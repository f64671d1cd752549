"""Ports for servers that must get the same port again after a restart."""

import secrets
import socket
from contextlib import suppress

# Below the kernel's range for outgoing connections, so that none of those takes it in the meantime.
_PORTS = range(20_000, 30_000)


def free_port() -> int:
    """Return a free port on loopback."""
    for port in secrets.SystemRandom().sample(_PORTS, 50):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("tried fifty ports; all are in use")
