"""The fixtures live in small plugin modules; this file only names them."""

pytest_plugins = [
    "tests.again",
    "tests.logs",
    "tests.properties",
    "tests.servers.run",
    "tests.servers.databases",
    "tests.testing.kits",
]
